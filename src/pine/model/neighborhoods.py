"""f as a graph meets it: one function of the neighbors for the nodes of every type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pine.distributed.part import Whole
from pine.distributed.ranks import ALONE, Ranks
from pine.graph import Graph, NeighborGroup
from pine.model.settings import Form
from pine.nn import Neighbors, SetFunction

OUTPUT_RIDGE = 0.01  # of the regression that f begins with; its inputs are at most 1


@dataclass(frozen=True, eq=False)
class Neighborhoods:
    """The neighbors of some nodes, rows, in K groups: where each group's nodes stand, and who is whose neighbor.

    numbers: of each group's nodes, by which they draw; None: 0, 1, 2, ...
    """

    rows: slice
    columns: tuple[slice | Tensor, ...]
    neighbors: tuple[Neighbors, ...]
    numbers: tuple[NDArray[np.int64] | None, ...] | None = None

    @classmethod
    def of(
        cls,
        graph: Graph,
        groups: Sequence[NeighborGroup],
        scaling: str,
        device: torch.device,
        threads: int | None,
        part: Whole | None = None,
    ) -> Neighborhoods:
        """Of all nodes, or of a part. A group's matrix is cut to the columns of its type: g runs once for each node."""
        part = part or Whole(graph.num_nodes, graph.nodes)
        return cls(
            part.place(None),
            tuple(part.place(group.type) for group in groups),
            tuple(part.neighbors(group.matrix, group.type, scaling, device, threads) for group in groups),
            tuple(part.numbers(group.type) for group in groups),
        )


class NeighborFunction(nn.Module):
    """f of every node's neighbors: x (num_nodes, dim) to (num_nodes, dim).

    neighborhoods: blocks that hold every node once, in their order.
    """

    def __init__(
        self,
        form: Form,
        neighborhoods: Sequence[Neighborhoods],
        generator: torch.Generator,
        *,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.dim, self.neighborhoods = form.dim, neighborhoods
        settings = form.function
        self.of_sets = SetFunction(
            [form.dim] * len(neighborhoods[0].columns),
            form.dim,
            L=settings.hidden,
            T=settings.projections,
            Q=settings.scales,
            sigma=settings.activation,
            heads=settings.heads,
            scaling=settings.scaling,
            conditioned=settings.conditioned,
            centered=settings.conditioned,
            dropout=dropout,
            generator=generator,
            dtype=torch.float32,  # whatever torch's default is
        )
        if settings.conditioned:
            self._tie_groups()
        self._zero_empty_groups()

    @torch.no_grad()
    def reproduce(self, x: Tensor, ranks: Ranks = ALONE) -> None:
        """Let f be the one that reproduces x (num_nodes, dim) best, of those that differ in c alone.

        f = c sigma(...) is linear in c: ridge regression of x on the hidden units. ranks: that share the nodes.
        """
        hidden = [
            self.of_sets.hidden([x[place] for place in block.columns], block.neighbors) for block in self.neighborhoods
        ]
        self.of_sets.fit_c(torch.cat(hidden, -2), x, OUTPUT_RIDGE, ranks.total)

    def forward(
        self,
        x: Tensor,
        generator: torch.Generator | None = None,
        neighborhoods: Sequence[Neighborhoods] | None = None,
    ) -> Tensor:
        """Of all nodes, or of those of some neighborhoods."""
        blocks = self.neighborhoods if neighborhoods is None else neighborhoods
        made = [
            self.of_sets([x[place] for place in block.columns], block.neighbors, generator, block.numbers)
            for block in blocks
        ]
        return made[0] if len(made) == 1 else torch.cat(made)

    @torch.no_grad()
    def _tie_groups(self) -> None:
        """All groups begin with the parameters of the first: f tells types apart as far as the labels ask for it."""
        f = self.of_sets
        first, *others = torch.split(f.W, f.z_sizes, dim=-1)
        for k, W_k in enumerate(others, start=1):
            for parameters in (f.a, f.u, f.v):
                parameters[k].copy_(parameters[0])
            W_k.copy_(first)

    @torch.no_grad()
    def _zero_empty_groups(self) -> None:
        """Groups without neighbors teach f nothing: W is zero there, should a later graph have neighbors in them."""
        for k, W_k in enumerate(torch.split(self.of_sets.W, self.of_sets.z_sizes, dim=-1)):
            if not any(block.neighbors[k].num_entries for block in self.neighborhoods):
                W_k.zero_()
