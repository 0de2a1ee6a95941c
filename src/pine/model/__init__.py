"""PINE itself: start, objective, one training loop, choice of settings, vectors for unseen nodes."""

from pine.model.init.structural import StructuralStart
from pine.model.pine import PINE

__all__ = ["PINE", "StructuralStart"]
