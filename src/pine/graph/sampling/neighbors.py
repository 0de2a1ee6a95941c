"""Some neighbors of every node, drawn without replacement; all of them where there are no more than asked for.

The draw at a node is a function of the key and the node alone: the same for any number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine._internal.parallel import compiled, over_parts
from pine.graph.csr import CSR
from pine.graph.sampling.streams import advanced, below, mixed, stream

NODES_PER_TASK = 4096  # nodes that a thread takes at a time; the draws do not depend on it


@dataclass(frozen=True, eq=False)
class NeighborSampler:
    """Up to `size` neighbors a node; those of node v are pairs indptr[v] to indptr[v + 1] of a draw."""

    neighbors: CSR
    indptr: NDArray[np.int64]

    @classmethod
    def of(cls, neighbors: CSR, size: int) -> NeighborSampler:
        return cls(neighbors, np.append(0, np.cumsum(np.minimum(neighbors.degrees(), size))))

    def draw(self, key: int, threads: int | None = None) -> NDArray[np.int64]:
        """Pairs (2, num_pairs): a neighbor and the node that it was drawn for, in the order of nodes."""
        csr, count = self.neighbors, self.neighbors.num_rows
        pairs = np.empty((2, int(self.indptr[-1])), np.int64)
        over_parts(_draw, count, NODES_PER_TASK, threads, np.uint64(key), csr.indptr, csr.indices, self.indptr, pairs)
        return pairs


@compiled
def _draw(
    lo: int,
    hi: int,
    key: Any,
    indptr: NDArray[Any],
    indices: NDArray[Any],
    starts: NDArray[Any],
    pairs: NDArray[Any],
) -> None:
    for node in range(lo, hi):
        first, degree = indptr[node], indptr[node + 1] - indptr[node]
        start, end = starts[node], starts[node + 1]
        _choose(stream(key, node), degree, pairs[0, start:end])
        for at in range(start, end):
            pairs[0, at] = indices[first + pairs[0, at]]
            pairs[1, at] = node


@compiled
def _choose(state: Any, count: int, out: NDArray[Any]) -> None:
    """len(out) different numbers under count, every set of them as likely (Floyd's algorithm)."""
    if len(out) == count:
        for k in range(count):
            out[k] = k
        return
    for k in range(len(out)):
        highest = count - len(out) + k
        state = advanced(state)
        number = below(mixed(state), highest + 1)
        for earlier in range(k):
            if out[earlier] == number:
                number = highest  # nothing before could be as high
                break
        out[k] = number
