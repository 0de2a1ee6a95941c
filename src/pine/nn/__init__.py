"""The mathematics of PINE in torch: the sum over neighbors, the function of sets of neighbors, the losses."""

from pine.nn import losses
from pine.nn.neighbor_sum import Neighbors, neighbor_sum, neighbor_sum_reference
from pine.nn.set_function import SetFunction, set_function_reference

__all__ = ["Neighbors", "SetFunction", "losses", "neighbor_sum", "neighbor_sum_reference", "set_function_reference"]
