"""PINE: a vector for every node of a graph, learned from its neighbors alone."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from pine._version import __version__
from pine.errors import InputError

if _TYPE_CHECKING:
    from pine import baselines as baselines
    from pine import datasets as datasets
    from pine import distributed as distributed
    from pine import evaluation as evaluation
    from pine import explore as explore
    from pine import io as io
    from pine import labels as labels
    from pine import links as links
    from pine import methods as methods
    from pine import model as model
    from pine import nn as nn
    from pine import plots as plots
    from pine import reproduce as reproduce
    from pine.graph import Graph as Graph
    from pine.methods import METHODS as METHODS
    from pine.model import PINE as PINE
    from pine.node_classifier import NodeClassifier as NodeClassifier

__all__ = [
    "METHODS",
    "PINE",
    "Graph",
    "InputError",
    "NodeClassifier",
    "__version__",
    "datasets",
    "evaluation",
    "io",
    "model",
    "nn",
]

# torch, scikit-learn, numba and Arrow take seconds to import: what needs them is loaded when it is first used, so that
# `import pine` and `pine --help` are quick. This is the only place for that; all other imports stand at module top.
_MODULES = (
    "baselines",
    "datasets",
    "distributed",
    "evaluation",
    "explore",
    "io",
    "labels",
    "links",
    "methods",
    "model",
    "nn",
    "plots",
    "reproduce",
)
_NAMES = {"Graph": "graph", "METHODS": "methods", "NodeClassifier": "node_classifier", "PINE": "model"}


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        return _import_module(f"pine.{name}")
    if name in _NAMES:
        value = getattr(_import_module(f"pine.{_NAMES[name]}"), name)
        globals()[name] = value  # so that it is looked up here once
        return value
    raise AttributeError(f"module 'pine' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
