"""f as a graph meets it: one set function for the nodes of every type, or one for the nodes of each type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from pine.graph import Graph, NeighborGroup
from pine.model.form import Form
from pine.nn import Neighbors, SetFunction


@dataclass(frozen=True, eq=False)
class Neighborhoods:
    """The neighbors of some nodes, rows, in K groups: where each group's nodes stand, and who is whose neighbor.

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


def neighborhoods(
    form: Form,
    graph: Graph,
    groups: Sequence[NeighborGroup],
    device: torch.device,
    threads: int | None,
) -> list[Neighborhoods]:
    """The neighborhoods that each function of a form reads."""
    # By name, so that a function finds its type in a graph whose types come in another order.
    types = sorted(graph.node_types) if form.functions == "per-type" else [None]
    return [Neighborhoods.of(graph, groups, form.scaling, device, threads, type, k) for k, type in enumerate(types)]


class NeighborFunction(nn.Module):
    """f of every node's neighbors: x (num_nodes, dim) to (num_nodes, dim), both with a first dimension of batch.

    around: neighborhoods that hold every node once.
    """

    def __init__(
        self,
        form: Form,
        around: Sequence[Neighborhoods],
        generator: torch.Generator,
        *,
        dropout: float = 0.0,
        node_dropout: float = 0.0,
        batch: int | None = None,
    ) -> None:
        super().__init__()
        self.around = around
        self.each = nn.ModuleList(
            SetFunction(
                [form.dim] * len(around[0].columns),
                form.dim,
                L=form.hidden,
                T=form.projections,
                Q=form.scales,
                sigma=form.activation,
                heads=form.heads,
                scaling=form.scaling,
                conditioned=form.conditioned,
                centered=form.conditioned,
                dropout=dropout,
                node_dropout=node_dropout,
                batch=batch,
                generator=generator,
            )
            for _ in range(1 + max(part.function for part in around))
        )
        for k, f in enumerate(self.each):
            if form.conditioned:
                _begin_alike(f)
            _silence(f, [part for part in around if part.function == k])

    def forward(
        self,
        x: Tensor,
        generator: torch.Generator | None = None,
        around: Sequence[Neighborhoods] | None = None,
    ) -> Tensor:
        """Of all nodes, or of those of some neighborhoods, in the order of nodes."""
        parts: list[tuple[slice, Tensor]] = []
        for part in self.around if around is None else around:
            f = self.each[part.function]
            parts.append((part.rows, f([x[..., place, :] for place in part.columns], part.neighbors, generator)))
        if len(parts) == 1:
            return parts[0][1]
        parts.sort(key=lambda part: (part[0].start, part[0].stop))
        return torch.cat([f for _, f in parts], dim=-2)


@torch.no_grad()
def _begin_alike(f: nn.Module) -> None:
    """All groups begin with the parameters of the first: f tells types apart as far as the labels ask for it."""
    assert isinstance(f, SetFunction)
    first, *others = torch.split(f.W, f.z_sizes, dim=-1)
    for k, W_k in enumerate(others, start=1):
        for parameters in (f.a, f.u, f.v):
            parameters[k].copy_(parameters[0])
        W_k.copy_(first)


@torch.no_grad()
def _silence(f: nn.Module, parts: Sequence[Neighborhoods]) -> None:
    """Groups without neighbors teach f nothing: W is zero there, should a later graph have neighbors in them."""
    assert isinstance(f, SetFunction)
    for k, W_k in enumerate(torch.split(f.W, f.z_sizes, dim=-1)):
        if not any(part.neighbors[k].csr.nnz for part in parts):
            W_k.zero_()
