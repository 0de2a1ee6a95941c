"""Second-order walks: from t by v, P(v -> x) ~ w_vx b(t, x), b = 1/p for x = t, 1 for neighbors of t, 1/q for the rest.

A candidate x is drawn by weight alone, from the tables of a first-order walk, and kept with probability b / max b: no
table of pairs of edges, memory is linear in edges. Where TRIES candidates in a row are turned down (a dead end, a bias
far from 1), the row is weighed entry by entry; tries are independent, so that the probabilities stay exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine._internal.compiled import compiled
from pine._internal.parallel import over_parts
from pine.graph.csr import CSR
from pine.graph.sampling.streams import advanced, chosen, mixed, stream, unit
from pine.graph.sampling.walks import PART, Walker

TRIES = 32  # enough for p and q of 1/4 to 4, the range that its authors search


@dataclass(frozen=True, eq=False)
class SecondOrderWalker:
    """Neighbors prepared for second-order walks: make it once, walk many times."""

    walker: Walker
    p: float
    q: float

    @classmethod
    def of(cls, neighbors: CSR, p: float, q: float) -> SecondOrderWalker:
        """Prepare compressed rows; what has a weight of zero is never walked along and makes no neighbor."""
        return cls(Walker.of(neighbors), p, q)

    def walks(
        self, starts: NDArray[Any], length: int, key: int, threads: int | None = None
    ) -> NDArray[np.integer[Any]]:
        """A walk from each start, as Walker.walks makes them; for p = q = 1 they are the same, number for number."""
        csr = self.walker.neighbors
        out = np.empty((len(starts), length), csr.indices.dtype)
        bias = np.array([1 / self.p, 1.0, 1 / self.q])
        weights = np.empty(0, np.float32) if csr.weights is None else csr.weights
        tables = (csr.indptr, csr.indices, weights, self.walker.keep, self.walker.other)
        given = (np.uint64(key), np.asarray(starts, np.int64), bias / bias.max(), *tables, out)
        over_parts(_walk, len(starts), PART, threads, *given)
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
    other: NDArray[Any],
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
                    place = chosen(mixed(state), first, degree, keep, other)
                    if before < 0 or least == 1.0:  # nothing to be turned down for
                        break
                    state = advanced(state)
                    share = unit(mixed(state))
                    if share < least or share < _bias(before, indices[place], bias, indptr, indices):
                        break
                else:
                    state = advanced(state)
                    place = _weighed(unit(mixed(state)), before, first, degree, bias, indptr, indices, weights)
                before, node = node, int(indices[place])
            out[number, step] = node


@compiled
def _bias(before: int, node: int, bias: NDArray[Any], indptr: NDArray[Any], indices: NDArray[Any]) -> Any:
    """What the node before makes of a candidate: bias is that of itself, of its neighbors, and of the rest."""
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
def _weighed(
    share: float,
    before: int,
    first: int,
    degree: int,
    bias: NDArray[Any],
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[Any],
) -> Any:
    """The place where a share of the sum of w b over a row is reached."""
    sums, total = np.empty(degree), 0.0
    for k in range(degree):
        weight = np.float64(weights[first + k]) if len(weights) > 0 else 1.0
        total += weight * _bias(before, indices[first + k], bias, indptr, indices)
        sums[k] = total
    reached = int(np.searchsorted(sums, share * total, side="right"))
    return first + min(reached, degree - 1)
