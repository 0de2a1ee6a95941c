"""The systems that PINE is compared with, behind the same interface."""

from pine.baselines.label_propagation import LabelPropagation

__all__ = ["LabelPropagation"]
