"""The nodes of a graph that a process has: all of them (Whole), or those of its rank (RankPart).

A rank has the rows of its own nodes, types in the order of the graph and nodes in theirs. A sum over neighbors needs
rows of other ranks' nodes too, its halo. These come before the sum, and in the backward pass their gradients go back:

    out = A [x; halo rows of x]          dx = own rows of A' dout  +  what the others send back
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pine.distributed.partition import partition
from pine.distributed.ranks import ALONE, Ranks
from pine.graph import CSR, Graph
from pine.graph.nodes import Nodes
from pine.nn.neighbor_sum import Neighbors
from pine.nn.sliced_rows import SlicedRows

DRAWN_ROWS = 1 << 16  # at a time, of which a rank keeps its own

logger = logging.getLogger("pine")


class Whole:
    """All nodes of a graph, in one process."""

    ranks: Ranks = ALONE

    def __init__(self, num_nodes: int, nodes: Nodes | None = None) -> None:
        self.num_nodes, self.nodes = num_nodes, nodes

    def place(self, type: str | None) -> slice:
        """Where the nodes of a type, or of all, stand here."""
        return slice(0, self.num_nodes) if type is None else self._place_among_all(type)

    def _place_among_all(self, type: str | None) -> slice:
        assert self.nodes is not None
        return slice(0, len(self.nodes)) if type is None else self.nodes.slice(type)

    def numbers(self, type: str | None) -> NDArray[np.int64] | None:
        """The numbers of these nodes among all of the type; None: 0, 1, 2, ..."""
        return None

    def rows(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Of rows of all nodes those of the nodes here."""
        return rows

    def drawn(self, draw: Callable[[int], NDArray[Any]]) -> NDArray[Any]:
        """Rows for the nodes here, the same ones however many ranks there are; draw(n) draws n more."""
        return draw(self.num_nodes)

    def noise(self, rng: np.random.Generator, width: int, device: torch.device) -> Tensor | SlicedRows:
        """Standard normal rows, as sums over neighbors take them."""
        return self.for_sums(self.drawn(lambda count: rng.standard_normal((count, width), np.float32)), device)

    def array(self, *shape: int) -> NDArray[np.float32]:
        """Room for rows of the nodes here."""
        return np.empty(shape, np.float32)

    def column_slices(self, width: int) -> list[slice]:
        """Columns of all rows that may be in memory at once."""
        return [slice(0, width)]

    def for_sums(self, rows: NDArray[Any], device: torch.device) -> Tensor | SlicedRows:
        """Rows as sums over neighbors take them."""
        return torch.from_numpy(rows).to(device)

    def sums(self, neighbors: Neighbors, rows: Tensor | SlicedRows) -> Tensor | SlicedRows:
        """The sums over the neighbors, of what for_sums gave; they may take its place."""
        assert isinstance(rows, Tensor)
        return neighbors.total(rows, transposed=False)

    def after_sums(self, rows: Tensor | SlicedRows) -> Tensor:
        """Room for the last of what is made of them, row by row: it may be theirs."""
        assert isinstance(rows, Tensor)
        return rows

    def here(self, positions: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Of positions among all nodes, which are here, and where these stand."""
        return np.ones(len(positions), bool), positions

    def at(self, positions: NDArray[np.int64], rows: Tensor) -> Tensor:
        """Of rows of the nodes here, one for each of some positions among all nodes; on every rank."""
        return rows[torch.as_tensor(positions, device=rows.device)]

    def gathered(self, rows: Tensor, type: str | None = None) -> Tensor:
        """Of rows of the nodes of a type, or of all, that are here, those of all ranks; none but on the first."""
        return rows

    def neighbors(
        self, matrix: CSR, type: str | None, scaling: str, device: torch.device, threads: int | None
    ) -> Neighbors:
        """The neighbors, of a type, of the nodes here; matrix: of all nodes."""
        place = self.place(type)
        cut = matrix if place == self.place(None) else matrix.some_columns(place)
        return Neighbors.of(cut, scaling, device, threads=threads)


class RankPart(Whole):
    """The nodes of one rank."""

    def __init__(self, graph: Graph, ranks: Ranks) -> None:
        super().__init__(graph.num_nodes, graph.nodes)
        self.ranks = ranks
        self.owner: NDArray[np.int32] = ranks.from_first(lambda: partition(graph, ranks.size))
        self.own = np.flatnonzero(self.owner == ranks.rank)
        self.num_nodes = len(self.own)

    def place(self, type: str | None) -> slice:
        if type is None:
            return slice(0, self.num_nodes)
        place = self._place_among_all(type)
        first, last = np.searchsorted(self.own, [place.start, place.stop]).tolist()
        return slice(first, last)

    def numbers(self, type: str | None) -> NDArray[np.int64] | None:
        numbers: NDArray[np.int64] = self.own[self.place(type)] - self._place_among_all(type).start
        return numbers

    def rows(self, rows: NDArray[Any]) -> NDArray[Any]:
        return rows[self.own]

    def drawn(self, draw: Callable[[int], NDArray[Any]]) -> NDArray[Any]:
        kept, count = [], len(self.owner)
        for lo in range(0, count, DRAWN_ROWS):
            hi = min(lo + DRAWN_ROWS, count)
            kept.append(draw(hi - lo)[self.owner[lo:hi] == self.ranks.rank])
        return np.concatenate(kept)

    def here(self, positions: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        mine = self.owner[positions] == self.ranks.rank
        return mine, np.searchsorted(self.own, positions[mine])

    def at(self, positions: NDArray[np.int64], rows: Tensor) -> Tensor:
        mine, here = self.here(positions)
        found = rows.new_zeros(len(positions), *rows.shape[1:])
        found[torch.as_tensor(mine, device=rows.device)] = rows[torch.as_tensor(here, device=rows.device)]
        return self.ranks.total(found)

    def gathered(self, rows: Tensor, type: str | None = None) -> Tensor:
        ranks, owner = self.ranks, self.owner[self._place_among_all(type)]
        sizes = np.bincount(owner, minlength=ranks.size).tolist()
        to_first = [len(rows) if rank == 0 else 0 for rank in range(ranks.size)]
        got = ranks.exchange(rows, to_first, sizes if ranks.rank == 0 else [0] * ranks.size)
        order = torch.as_tensor(np.argsort(owner, kind="stable"), device=rows.device)[: len(got)]
        return torch.empty_like(got).index_copy_(0, order, got)

    def to_even(self, rows: Tensor) -> Tensor:
        """Rows of the nodes here to a range of all nodes for each rank, in the order of the graph."""
        got = self.ranks.exchange(rows, self._of_ranges, self._in_range)
        return torch.empty_like(got).index_copy_(0, self._range_order(rows), got)

    def from_even(self, rows: Tensor) -> Tensor:
        """The opposite."""
        return self.ranks.exchange(rows.index_select(0, self._range_order(rows)), self._in_range, self._of_ranges)

    @property
    def _range(self) -> slice:
        size = -(-len(self.owner) // self.ranks.size)
        return slice(self.ranks.rank * size, (self.ranks.rank + 1) * size)

    @property
    def _of_ranges(self) -> list[int]:
        """How many of the nodes here are in the range of each rank."""
        size = self._range.stop - self._range.start
        counts: list[int] = np.bincount(self.own // size, minlength=self.ranks.size).tolist()
        return counts

    @property
    def _in_range(self) -> list[int]:
        """How many nodes of this rank's range each rank has."""
        counts: list[int] = np.bincount(self.owner[self._range], minlength=self.ranks.size).tolist()
        return counts

    def _range_order(self, rows: Tensor) -> Tensor:
        """Where the nodes of this rank's range stand in it, those of the first rank first."""
        return torch.as_tensor(np.argsort(self.owner[self._range], kind="stable"), device=rows.device)

    def neighbors(
        self, matrix: CSR, type: str | None, scaling: str, device: torch.device, threads: int | None
    ) -> Neighbors:
        place = self._place_among_all(type)
        mine = matrix.take_rows(self.own)
        needed = np.unique(mine.indices[self.owner[mine.indices] != self.ranks.rank]).astype(np.int64)
        needed = needed[np.argsort(self.owner[needed], kind="stable")]
        own = self.own[self.place(type)]
        local = np.empty(place.stop - place.start, mine.indices.dtype)
        local[own - place.start] = np.arange(len(own))
        local[needed - place.start] = len(own) + np.arange(len(needed))
        columns = CSR(mine.indptr, local[mine.indices - place.start], mine.weights, len(own) + len(needed))
        made = Neighbors.of(columns, scaling, device, threads=threads)
        halo = self._halo(needed, own, made.device)
        count = int(self.ranks.total(torch.tensor(mine.nnz, device=made.device)))
        return NeighborsOfRank(made.csr, scaling, made.device, threads, halo=halo, own=len(own), count=count)

    def _halo(self, needed: NDArray[np.int64], own: NDArray[np.int64], device: torch.device) -> Halo:
        """needed: nodes of other ranks, those of the first one first; own: the nodes of this rank, in their order."""
        ranks = self.ranks
        received = np.bincount(self.owner[needed], minlength=ranks.size)
        each = [1] * ranks.size
        sent = ranks.exchange(torch.as_tensor(received, device=device)[:, None], each, each)[:, 0].tolist()
        wanted = ranks.exchange(torch.as_tensor(needed, device=device)[:, None], received.tolist(), sent)[:, 0]
        rows = torch.as_tensor(np.searchsorted(own, wanted.cpu().numpy()), device=device)
        return Halo(ranks, rows, sent, received.tolist())


@dataclass(frozen=True, eq=False)
class Halo:
    """rows: that others need, one after the other, so many as sent says; received: how many come from each."""

    ranks: Ranks
    rows: Tensor
    sent: list[int]
    received: list[int]

    def extended(self, x: Tensor) -> Tensor:
        """Own rows (n, width), and below them those of the halo."""
        return torch.cat([x, self.ranks.exchange(x.index_select(0, self.rows), self.sent, self.received)])

    def returned(self, extended: Tensor, count: int) -> Tensor:
        """Own rows, so many, with what the others have for them; what is below goes to whom it belongs."""
        back = self.ranks.exchange(extended[count:], self.received, self.sent)
        return extended[:count].index_add(0, self.rows, back)


@dataclass(frozen=True, eq=False, kw_only=True)
class NeighborsOfRank(Neighbors):
    """A rank's share of a matrix: the rows of its nodes, whose columns are its own, so many, and those of its halo.

    count: entries of the matrix on all ranks.
    """

    halo: Halo
    own: int
    count: int

    @property
    def num_columns(self) -> int:
        return self.own

    @property
    def num_entries(self) -> int:
        return self.count

    def total(self, x: Tensor, transposed: bool) -> Tensor:
        if transposed:
            return self.halo.returned(super().total(x, transposed=True), self.own)
        return super().total(self.halo.extended(x), transposed=False)


def part_of(graph: Graph, ranks: Ranks) -> Whole:
    """The nodes of a graph that this process has."""
    return Whole(graph.num_nodes, graph.nodes) if ranks is ALONE else RankPart(graph, ranks)
