"""The settings that give what PINE learns its form: parameters carry over between models that are alike in these."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from pine.graph import Graph, NeighborGroup
from pine.graph.groups import By

if TYPE_CHECKING:
    from pine.model.pine import PINE


@dataclass(frozen=True)
class Form:
    """As in PINE, at the time of its fit."""

    dim: int
    hidden: int
    projections: int
    scales: int
    activation: str
    heads: str
    conditioned: bool
    scaling: str
    groups: By
    functions: str
    attributes: bool

    @classmethod
    def of(cls, model: PINE) -> Form:
        """The form that a model's settings ask for."""
        return cls(**{field.name: getattr(model, field.name) for field in fields(cls)})

    def neighbor_groups(self, graph: Graph) -> dict[str, NeighborGroup]:
        """The K groups that f sums over; in a directed graph those who point here and those pointed at are apart."""
        return {group.name: group for group in graph.groups(self.groups, "split" if graph.directed else None)}
