"""PINE: a vector for every node of a graph, learned from its neighbors alone."""

from importlib import import_module as _import_module
from typing import Any as _Any

from pine import datasets
from pine._version import __version__
from pine.errors import InputError
from pine.graph import Graph
from pine.methods import METHODS
from pine.model import PINE

__all__ = ["METHODS", "PINE", "Graph", "InputError", "NodeClassifier", "__version__", "datasets", "nn"]


def __getattr__(name: str) -> _Any:
    # torch and scikit-learn take longer to import than all the rest: they come when they are asked for.
    if name == "nn":
        return _import_module("pine.nn")
    if name == "NodeClassifier":
        return _import_module("pine.node_classifier").NodeClassifier
    raise AttributeError(f"module 'pine' has no attribute {name!r}")
