"""f as a graph meets it: one set function for the nodes of every type, or one for the nodes of each type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from pine.graph import Graph, NeighborGroup
from pine.model.settings import Form
from pine.nn import Neighbors, SetFunction

OUTPUT_RIDGE = 0.01  # of the regression that f begins with; its inputs are at most 1


@dataclass(frozen=True, eq=False)
class Neighborhoods:
    """The neighbors of a block of nodes, rows, in K groups: where each group's nodes stand, and who is whose neighbor.

    function: the number of the function that reads them, where there are several.
    """

    rows: slice
    columns: tuple[slice | Tensor, ...]
    neighbors: tuple[Neighbors, ...]
    function: int = 0

    @classmethod
    def of(
        cls,
        graph: Graph,
        groups: Sequence[NeighborGroup],
        scaling: str,
        device: torch.device,
        threads: int | None,
        type: str | None = None,
        function: int = 0,
    ) -> Neighborhoods:
        """Of all nodes, or of those of a type.

        Each group's matrix is cut to the columns of its own type, so that g runs once per node of that type, and on
        none where the nodes of a type have no neighbors in the group.
        """
        all_nodes = slice(0, graph.num_nodes)
        rows = all_nodes if type is None else graph.nodes.slice(type)
        columns, neighbors = [], []
        for group in groups:
            matrix = group.matrix if rows == all_nodes else group.matrix.some_rows(rows)
            place = all_nodes if group.type is None else graph.nodes.slice(group.type)
            if type is not None and matrix.nnz == 0:
                place = slice(0, 0)
            columns.append(place)
            cut = matrix if place == all_nodes else matrix.some_columns(place)
            neighbors.append(Neighbors.of(cut, scaling, device, threads=threads))
        return cls(rows, tuple(columns), tuple(neighbors), function)


def graph_neighborhoods(
    form: Form,
    graph: Graph,
    groups: Sequence[NeighborGroup],
    device: torch.device,
    threads: int | None,
) -> list[Neighborhoods]:
    """The neighborhoods that each function of a form reads."""
    # By name, so that a function finds its type in a graph whose types come in another order.
    types = sorted(graph.node_types) if form.function.functions == "per-type" else [None]
    scaling = form.function.scaling
    return [Neighborhoods.of(graph, groups, scaling, device, threads, type, k) for k, type in enumerate(types)]


class NeighborFunction(nn.Module):
    """f of every node's neighbors: x (num_nodes, dim) to (num_nodes, dim).

    neighborhoods: blocks that hold every node once.
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
        self.each = nn.ModuleList(
            SetFunction(
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
            )
            for _ in range(1 + max(block.function for block in neighborhoods))
        )
        for k, f in enumerate(self.each):
            if settings.conditioned:
                _tie_groups(f)
            _zero_empty_groups(f, [block for block in neighborhoods if block.function == k])

    @torch.no_grad()
    def reproduce(self, x: Tensor) -> None:
        """Let every f be the one that reproduces x (num_nodes, dim) best, of those that differ in c alone.

        f = c sigma(...) is linear in c: ridge regression of x on the hidden units.
        """
        for k, each in enumerate(self.each):
            assert isinstance(each, SetFunction)
            blocks = [block for block in self.neighborhoods if block.function == k]
            hidden = [each.hidden([x[place] for place in block.columns], block.neighbors) for block in blocks]
            each.fit_c(torch.cat(hidden, -2), torch.cat([x[block.rows] for block in blocks]), OUTPUT_RIDGE)

    def forward(
        self,
        x: Tensor,
        generator: torch.Generator | None = None,
        neighborhoods: Sequence[Neighborhoods] | None = None,
    ) -> Tensor:
        """Of all nodes, or of those of some neighborhoods, in the order of nodes."""
        made: list[tuple[slice, Tensor]] = []
        for block in self.neighborhoods if neighborhoods is None else neighborhoods:
            f = self.each[block.function]
            made.append((block.rows, f([x[place] for place in block.columns], block.neighbors, generator)))
        if len(made) == 1:
            return made[0][1]
        made.sort(key=lambda each: (each[0].start, each[0].stop))
        return torch.cat([f for _, f in made])


@torch.no_grad()
def _tie_groups(f: nn.Module) -> None:
    """All groups begin with the parameters of the first: f tells types apart as far as the labels ask for it."""
    assert isinstance(f, SetFunction)
    first, *others = torch.split(f.W, f.z_sizes, dim=-1)
    for k, W_k in enumerate(others, start=1):
        for parameters in (f.a, f.u, f.v):
            parameters[k].copy_(parameters[0])
        W_k.copy_(first)


@torch.no_grad()
def _zero_empty_groups(f: nn.Module, neighborhoods: Sequence[Neighborhoods]) -> None:
    """Groups without neighbors teach f nothing: W is zero there, should a later graph have neighbors in them."""
    assert isinstance(f, SetFunction)
    for k, W_k in enumerate(torch.split(f.W, f.z_sizes, dim=-1)):
        if not any(block.neighbors[k].csr.nnz for block in neighborhoods):
            W_k.zero_()
