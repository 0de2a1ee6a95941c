"""The walks of node2vec: from t by v, P(v -> x) ~ w_vx b(t, x), b = 1/p for x = t, 1 for neighbors of t, 1/q elsewhere.

Rejection sampling: a candidate x is drawn by weight alone, from the tables of a first-order walk, and accepted with
probability b / max b, so memory is linear in edges, without a table of pairs of edges. After TRIES rejections in a row
(a dead end, a bias far from 1), x is drawn by the sums of w b over the row; tries are independent, so the probabilities
stay exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine._internal.parallel import compiled, over_parts
from pine.graph.csr import CSR
from pine.graph.sampling.streams import advanced, chosen, mixed, stream, unit
from pine.graph.sampling.walks import WALKS_PER_TASK, Walker

TRIES = 32  # enough for p and q of 1/4 to 4, the range that its authors search


@dataclass(frozen=True, eq=False)
class Node2VecWalker:
    """Walks biased by the node before: p against returning to it, q against leaving its neighbors."""

    walker: Walker
    p: float
    q: float

    @classmethod
    def of(cls, neighbors: CSR, p: float, q: float) -> Node2VecWalker:
        """Prepare rows of neighbors; edges of weight zero are never walked along and make no neighbors."""
        return cls(Walker.of(neighbors), p, q)

    def walks(
        self, starts: NDArray[Any], length: int, key: int, threads: int | None = None
    ) -> NDArray[np.integer[Any]]:
        """A walk from each start, as Walker.walks makes them; for p = q = 1 they are the same, number for number."""
        csr = self.walker.neighbors
        out = np.empty((len(starts), length), csr.indices.dtype)
        bias = np.array([1 / self.p, 1.0, 1 / self.q])
        weights = np.empty(0, np.float32) if csr.weights is None else csr.weights
        tables = (csr.indptr, csr.indices, weights, self.walker.keep, self.walker.alias)
        given = (np.uint64(key), np.asarray(starts, np.int64), bias / bias.max(), *tables, out)
        over_parts(_walk, len(starts), WALKS_PER_TASK, threads, *given)
        return out


@compiled
def _walk(
    lo: int,
    hi: int,
    key: Any,
    starts: NDArray[Any],
    bias: NDArray[Any],
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[Any],
    keep: NDArray[Any],
    alias: NDArray[Any],
    out: NDArray[Any],
) -> None:
    least = bias.min()
    for number in range(lo, hi):
        state, node, before = stream(key, number), starts[number], -1
        out[number, 0] = node
        for step in range(1, out.shape[1]):
            first, degree = indptr[node], indptr[node + 1] - indptr[node]
            if degree > 0:
                for _ in range(TRIES):
                    state = advanced(state)
                    position = chosen(mixed(state), first, degree, keep, alias)
                    if before < 0 or least == 1.0:  # nothing to be rejected for
                        break
                    state = advanced(state)
                    share = unit(mixed(state))
                    if share < least or share < _bias(before, indices[position], bias, indptr, indices):
                        break
                else:
                    state = advanced(state)
                    position = _by_sums(unit(mixed(state)), before, first, degree, bias, indptr, indices, weights)
                before, node = node, int(indices[position])
            out[number, step] = node


@compiled
def _bias(before: int, node: int, bias: NDArray[Any], indptr: NDArray[Any], indices: NDArray[Any]) -> Any:
    """b(before, node); bias holds the values for before itself, for its neighbors, and for the rest."""
    if node == before:
        return bias[0]
    lo, hi = indptr[before], indptr[before + 1]
    while lo < hi:
        middle = (lo + hi) // 2
        if indices[middle] < node:
            lo = middle + 1
        else:
            hi = middle
    return bias[1] if lo < indptr[before + 1] and indices[lo] == node else bias[2]


@compiled
def _by_sums(
    share: float,
    before: int,
    first: int,
    degree: int,
    bias: NDArray[Any],
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[Any],
) -> Any:
    """The position where the cumulative sum of w b over a row reaches a share of its total."""
    sums, total = np.empty(degree), 0.0
    for k in range(degree):
        weight = np.float64(weights[first + k]) if len(weights) > 0 else 1.0
        total += weight * _bias(before, indices[first + k], bias, indptr, indices)
        sums[k] = total
    reached = int(np.searchsorted(sums, share * total, side="right"))
    return first + min(reached, degree - 1)
