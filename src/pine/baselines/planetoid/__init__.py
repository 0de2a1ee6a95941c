"""Planetoid-G."""

from pine.baselines.planetoid.method import Planetoid

__all__ = ["Planetoid"]
