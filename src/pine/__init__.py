"""PINE: a vector for every node of a graph, learned from its neighbors alone."""

from pine import datasets
from pine._version import __version__
from pine.errors import InputError
from pine.graph import Graph
from pine.methods import METHODS
from pine.model import PINE

__all__ = ["METHODS", "PINE", "Graph", "InputError", "__version__", "datasets"]
