"""Walks along metapaths: a cycle of node types a, b, c, a, ... says of which type the next node is, drawn by weight.

Nodes are numbered type after type and rows are sorted, so that the neighbors of one type lie side by side: row
(node, type) of a finer matrix. A walk goes through the positions of its cycle and through these rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine._internal.parallel import compiled, over_parts
from pine.graph.csr import CSR
from pine.graph.sampling.streams import advanced, below, chosen, mixed, stream
from pine.graph.sampling.walks import WALKS_PER_TASK, Walker


@dataclass(frozen=True, eq=False)
class MetapathWalker:
    """Walks along cycles of node types; a position counts over all cycles laid end to end."""

    walker: Walker  # over rows (node, type)
    bounds: NDArray[np.int64]
    wanted: NDArray[np.int64]  # the type at each position
    following: NDArray[np.int64]  # the position after it, within its cycle
    indptr: NDArray[np.int64]  # rows of `beginnings`, one a type
    beginnings: NDArray[np.int64]  # the positions at which walks from nodes of a type begin

    @classmethod
    def of(cls, neighbors: CSR, bounds: NDArray[np.int64], cycles: Sequence[Sequence[int]]) -> MetapathWalker:
        """Prepare rows of neighbors; bounds (num_types + 1,) say where the nodes of a type start and end.

        A cycle is a sequence of type numbers without its return to the first. A walk begins at a position that has its
        start's type: each cycle with this type is equally likely, and in it each such position.
        """
        num_types = len(bounds) - 1
        wanted = np.array([type for cycle in cycles for type in cycle], np.int64)
        firsts = np.cumsum([0, *map(len, cycles)])
        following = np.arange(1, len(wanted) + 1)
        following[firsts[1:] - 1] = firsts[:-1]
        begin = [_beginnings(type, cycles, firsts) for type in range(num_types)]
        indptr = np.cumsum([0, *map(len, begin)])
        rows = Walker.of(_rows_by_type(neighbors, bounds))
        return cls(
            rows, bounds, wanted, following, indptr, np.array([position for own in begin for position in own], np.int64)
        )

    def walks(
        self, starts: NDArray[Any], length: int, key: int, threads: int | None = None
    ) -> NDArray[np.integer[Any]]:
        """A walk from each start: (len(starts), length) node numbers, the start first.

        A walk ends, and is followed by -1, where there is no neighbor of the wanted type. The same key gives the same
        walks for any number of threads.
        """
        starts, csr = np.asarray(starts, np.int64), self.walker.neighbors
        out = np.full((len(starts), length), -1, csr.indices.dtype)
        types = np.searchsorted(self.bounds[1:], starts, side="right")
        plan = (len(self.bounds) - 1, self.wanted, self.following, self.indptr, self.beginnings)
        tables = (csr.indptr, csr.indices, self.walker.keep, self.walker.alias)
        over_parts(_walk, len(starts), WALKS_PER_TASK, threads, np.uint64(key), starts, types, *plan, *tables, out)
        return out


def _beginnings(type: int, cycles: Sequence[Sequence[int]], firsts: NDArray[np.int64]) -> list[int]:
    """The positions of a type, repeated where that is needed to make all cycles that have it equally likely."""
    positions = [
        [int(first) + k for k, each in enumerate(cycle) if each == type]
        for cycle, first in zip(cycles, firsts[:-1], strict=True)
        if type in cycle
    ]
    rounds = math.lcm(*map(len, positions))
    return [own[turn % len(own)] for turn in range(rounds) for own in positions]


def _rows_by_type(neighbors: CSR, bounds: NDArray[np.int64]) -> CSR:
    """Each row cut by the types of its neighbors: row (node, type) is node * num_types + type."""
    num_types = len(bounds) - 1
    types = np.searchsorted(bounds[1:], neighbors.indices, side="right")
    counts = np.bincount(neighbors.rows() * np.int64(num_types) + types, minlength=neighbors.num_rows * num_types)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return CSR(indptr, neighbors.indices, neighbors.weights, neighbors.num_columns)


@compiled
def _walk(
    lo: int,
    hi: int,
    key: Any,
    starts: NDArray[Any],
    types: NDArray[Any],
    num_types: int,
    wanted: NDArray[Any],
    following: NDArray[Any],
    begin: NDArray[Any],
    beginnings: NDArray[Any],
    indptr: NDArray[Any],
    indices: NDArray[Any],
    keep: NDArray[Any],
    alias: NDArray[Any],
    out: NDArray[Any],
) -> None:
    for number in range(lo, hi):
        state, node = stream(key, number), starts[number]
        out[number, 0] = node
        at, choices = begin[types[number]], begin[types[number] + 1] - begin[types[number]]
        if choices == 0:  # no cycle has this type
            continue
        if choices > 1:
            state = advanced(state)
            at += below(mixed(state), choices)
        position = beginnings[at]
        for step in range(1, out.shape[1]):
            position = following[position]
            row = node * num_types + wanted[position]
            first, degree = indptr[row], indptr[row + 1] - indptr[row]
            if degree == 0:
                break
            state = advanced(state)
            node = np.int64(indices[chosen(mixed(state), first, degree, keep, alias)])
            out[number, step] = node
