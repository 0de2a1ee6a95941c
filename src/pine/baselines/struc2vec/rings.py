"""Rings around a node: the sorted degrees of the nodes at distance 0, 1, 2, ..., run-length encoded (degree, count).

Encoded so (struc2vec's first optimization), a ring has as many entries as distinct degrees, not as nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine._internal.parallel import compiled, over_parts
from pine.graph.csr import CSR

SOURCES_PER_RANGE = 256  # of breadth-first searches that a thread takes at a time
RING_ENTRY_BYTES = 8  # a degree and a count


@dataclass(frozen=True, eq=False)
class Rings:
    """Node v has the rings first[v] to first[v + 1]; ring r has the entries start[r] to start[r + 1]."""

    first: NDArray[np.int64]
    start: NDArray[np.int64]
    degree: NDArray[np.int32]
    count: NDArray[np.int32]

    def counts(self) -> NDArray[np.int64]:
        """How many rings each node has: (num_nodes,)."""
        return np.diff(self.first)

    def ring(self, node: int, distance: int) -> list[tuple[int, int]]:
        """The (degree, count) at a distance from a node."""
        number = self.first[node] + distance
        entries = slice(self.start[number], self.start[number + 1])
        return list(zip(self.degree[entries].tolist(), self.count[entries].tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class RingSizes:
    """How many rings each node has, and entries in all of them: what the first search finds."""

    rings: NDArray[np.int64]
    entries: NDArray[np.int64]

    @classmethod
    def of(cls, neighbors: CSR, farthest: int, threads: int | None) -> RingSizes:
        """Search distances up to the farthest, or all for -1."""
        sizes = cls(np.zeros(neighbors.num_rows, np.int64), np.zeros(neighbors.num_rows, np.int64))
        nothing = np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int32)
        _search(neighbors, farthest, threads, sizes.rings, sizes.entries, *nothing)
        return sizes

    @property
    def nbytes(self) -> int:
        """Size in memory of the rings themselves."""
        return int(RING_ENTRY_BYTES * self.entries.sum() + 8 * self.rings.sum())


def find_rings(neighbors: CSR, sizes: RingSizes, farthest: int, threads: int | None) -> Rings:
    """All rings, by a second search now that the place of each is known."""
    first, entry = (np.concatenate([[0], np.cumsum(each)]) for each in (sizes.rings, sizes.entries))
    start = np.zeros(first[-1] + 1, np.int64)
    rings = Rings(first, start, np.empty(entry[-1], np.int32), np.empty(entry[-1], np.int32))
    _search(neighbors, farthest, threads, first, entry, start[1:], rings.degree, rings.count)
    return rings


def _search(neighbors: CSR, farthest: int, threads: int | None, *arrays: NDArray[Any]) -> None:
    degrees, rank = np.unique(neighbors.degrees(), return_inverse=True)
    given = (neighbors.indptr, neighbors.indices, degrees, rank, farthest, *arrays)
    over_parts(_search_from, neighbors.num_rows, SOURCES_PER_RANGE, threads, *given)


@compiled
def _search_from(
    lo: int,
    hi: int,
    indptr: NDArray[Any],
    indices: NDArray[Any],
    degrees: NDArray[Any],
    rank: NDArray[Any],
    farthest: int,
    rings: NDArray[Any],
    entries: NDArray[Any],
    ends: NDArray[Any],
    degree: NDArray[Any],
    count: NDArray[Any],
) -> None:
    """Breadth first from each node; counts rings and entries where ends is empty, and writes them otherwise."""
    writes = len(ends) > 0
    queue, seen = np.empty(len(rank), np.int64), np.full(len(rank), -1, np.int64)
    tally, met = np.zeros(len(degrees), np.int32), np.empty(len(degrees), np.int64)
    for node in range(lo, hi):
        queue[0], seen[node] = node, node
        near, far, distance = 0, 1, 0
        at = entries[node] if writes else 0
        while near < far and (farthest < 0 or distance <= farthest):
            kinds, end = 0, far
            for place in range(near, far):
                other = queue[place]
                if tally[rank[other]] == 0:
                    met[kinds] = rank[other]
                    kinds += 1
                tally[rank[other]] += 1
                for link in range(indptr[other], indptr[other + 1]):
                    next_one = indices[link]
                    if seen[next_one] != node:
                        seen[next_one] = node
                        queue[end] = next_one
                        end += 1
            met[:kinds].sort()
            for kind in met[:kinds]:
                if writes:
                    degree[at], count[at] = degrees[kind], tally[kind]
                tally[kind] = 0
                at += 1
            if writes:
                ends[rings[node] + distance] = at
            near, far, distance = far, end, distance + 1
        if not writes:
            rings[node], entries[node] = distance, at
