"""PINE itself: start, objective, one training loop, choice of settings, vectors for unseen nodes."""

from pine.model.pine import PINE
from pine.model.structural import StructuralStart

__all__ = ["PINE", "StructuralStart"]
