"""Random walks by weight: P(u -> v) = w_uv / (sum of w_u), each walk on a stream of random numbers of its own.

A walk is a function of its start, the key and its number alone. Walks can therefore be made in any order, by any number
of threads, and again instead of being kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pine._internal.parallel import compiled, over_parts
from pine.graph.csr import CSR
from pine.graph.sampling.streams import advanced, alias_rows, chosen, mixed, stream

WALKS_PER_TASK = 1024  # walks that a thread takes at a time; the walks do not depend on it


@dataclass(frozen=True, eq=False)
class Walker:
    """First-order walks: rows of neighbors and their alias tables (nnz,), empty without weights."""

    neighbors: CSR
    keep: NDArray[np.float32]
    alias: NDArray[np.int32]

    @classmethod
    def of(cls, neighbors: CSR) -> Walker:
        """Prepare rows of neighbors; edges of weight zero are never walked along."""
        if neighbors.weights is None:
            return cls(neighbors, np.empty(0, np.float32), np.empty(0, np.int32))
        walked, weights = _without_zeros(neighbors, neighbors.weights)
        return cls(walked, *alias_rows(walked.indptr, weights))

    def walks(
        self, starts: NDArray[Any], length: int, key: int, threads: int | None = None
    ) -> NDArray[np.integer[Any]]:
        """A walk from each start: (len(starts), length) node numbers, the start first.

        A node without neighbors is not left. The same key gives the same walks for any number of threads.
        """
        csr = self.neighbors
        out = np.empty((len(starts), length), csr.indices.dtype)
        given = (np.uint64(key), np.asarray(starts, np.int64), csr.indptr, csr.indices, self.keep, self.alias, out)
        over_parts(_walk, len(starts), WALKS_PER_TASK, threads, *given)
        return out


def step_matrix(neighbors: CSR) -> sp.csr_array:
    """P(u -> v) as a sparse matrix of doubles; a node without neighbors has a row of zeros."""
    weights = neighbors.to_scipy().astype(np.float64)
    total = weights.sum(axis=1)
    return sp.csr_array(sp.diags_array(1 / np.where(total > 0, total, 1)) @ weights)


def _without_zeros(neighbors: CSR, weights: NDArray[np.float32]) -> tuple[CSR, NDArray[np.float32]]:
    kept = weights > 0
    if kept.all():
        return neighbors, weights
    indptr = np.concatenate([[0], np.cumsum(kept)])[neighbors.indptr]
    return CSR(indptr, neighbors.indices[kept], weights[kept], neighbors.num_columns), weights[kept]


@compiled
def _walk(
    lo: int,
    hi: int,
    key: Any,
    starts: NDArray[Any],
    indptr: NDArray[Any],
    indices: NDArray[Any],
    keep: NDArray[Any],
    alias: NDArray[Any],
    out: NDArray[Any],
) -> None:
    for number in range(lo, hi):
        state, node = stream(key, number), starts[number]
        out[number, 0] = node
        for step in range(1, out.shape[1]):
            first, degree = indptr[node], indptr[node + 1] - indptr[node]
            if degree > 0:
                state = advanced(state)
                node = np.int64(indices[chosen(mixed(state), first, degree, keep, alias)])
            out[number, step] = node
