"""The systems that PINE is compared with, behind the same interface."""

from pine.baselines.deepwalk import DeepWalk
from pine.baselines.gcn import GCN
from pine.baselines.label_propagation import LabelPropagation

__all__ = ["GCN", "DeepWalk", "LabelPropagation"]
