"""PINE: a vector for every node of a graph, learned from its neighbors alone."""

from pine._version import __version__
from pine.graph import Graph

__all__ = ["Graph", "__version__"]
