"""The mathematics of PINE in torch: the sum over neighbors, the function of sets of neighbors, the losses.

PINEConv and PINEAggregation are layers for PyTorch Geometric, which is needed for them alone.
"""

from importlib.util import find_spec
from typing import Any

from pine.nn import losses
from pine.nn.neighbor_sum import Neighbors, neighbor_sum, neighbor_sum_reference
from pine.nn.set_function import SetFunction, set_function_reference

__all__ = [
    "Neighbors",
    "PINEAggregation",
    "PINEConv",
    "SetFunction",
    "losses",
    "neighbor_sum",
    "neighbor_sum_reference",
    "set_function_reference",
]


def __getattr__(name: str) -> Any:
    if name not in ("PINEAggregation", "PINEConv"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if find_spec("torch_geometric") is None:
        raise ImportError(f"pine.nn.{name} needs PyTorch Geometric: pip install 'pine-embedding[pyg]'")
    from pine.nn import pyg_layers

    return getattr(pyg_layers, name)
