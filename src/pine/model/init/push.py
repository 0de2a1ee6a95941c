"""The largest entries of every row of M = log max(1, vol W D^-1), by pushing a walk's mass along a budget of edges.

Personalized PageRank by push: of the walk from i, some mass has ended (estimate) and some moves on (residual). Pushing
node u ends (1 - a) of its residual there and spreads the share a over its neighbors. Nodes are pushed while residual /
degree is above a threshold, which halves until the budget is spent. Where the mass that still moves will end is not
known: taken to end in nodes drawn by degree, it adds its amount to every ratio vol W_ij / d_j. The ratio of a node not
reached is then below 1, and its entry zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine._internal.parallel import compiled
from pine.graph.csr import CSR
from pine.model.init.rows import in_parts, weighted_sums

MATRIX_ENTRIES, MOST_IN_ROW, LEAST_IN_ROW = (
    2**25,
    256,
    64,
)  # entries of the whole matrix, and the most and fewest of a row
PUSH_BUDGET = 16  # edges to push along for each entry of a row: 8 lost a little on held-out labels, 32 gained nothing


@dataclass(frozen=True, eq=False)
class TopEntries:
    """A sparse matrix with the same room for each row: columns and values (num_rows, room), counts (num_rows,)."""

    columns: NDArray[np.int32]
    values: NDArray[np.float32]
    counts: NDArray[np.int64]


def pushed_log_window(
    walked: CSR, degree: NDArray[np.float64], continue_prob: float, threads: int | None
) -> TopEntries:
    """The largest entries of M, for walks by weight that go on with probability continue_prob."""
    n = walked.num_rows
    room = max(LEAST_IN_ROW, min(MOST_IN_ROW, MATRIX_ENTRIES // n))
    top = TopEntries(np.empty((n, room), np.int32), np.empty((n, room), np.float32), np.zeros(n, np.int64))
    weights = np.ones(walked.nnz, np.float32) if walked.weights is None else walked.weights
    graph = (walked.indptr, walked.indices, weights, degree, float(degree.sum()))
    in_parts(_push_rows, n, threads, *graph, continue_prob, PUSH_BUDGET * room, top.columns, top.values, top.counts)
    return top


def product(matrix: TopEntries, threads: int | None) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """The operator x -> M x on (num_rows, k) arrays."""
    room = matrix.columns.shape[1]
    begins = room * np.arange(len(matrix.counts))
    rows = (begins, begins + matrix.counts, matrix.columns.reshape(-1), matrix.values.reshape(-1))
    return lambda x: weighted_sums(*rows, x, threads)


@compiled
def _push_rows(
    lo: int,
    hi: int,
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[Any],
    degree: NDArray[Any],
    volume: float,
    continue_prob: float,
    budget: int,
    columns: NDArray[Any],
    values: NDArray[Any],
    counts: NDArray[Any],
) -> None:
    n, room, stop = len(degree), columns.shape[1], 1.0 - continue_prob
    residual, estimate, ratio = np.zeros(n), np.zeros(n), np.empty(n)
    reached = np.empty(n, np.int64)
    for i in range(lo, hi):
        if degree[i] <= 0.0:
            continue
        residual[i], reached[0], num = 1.0, i, 1
        threshold, spent, rest = 0.5 / degree[i], 0, 1.0
        while spent < budget and threshold * volume > 0.01:
            pushed, at = 0, 0
            while at < num and spent < budget:
                u = reached[at]
                at += 1
                mass = residual[u]
                if mass < threshold * degree[u]:
                    continue
                pushed += 1
                residual[u] = 0.0
                estimate[u] += stop * mass
                rest -= stop * mass
                share = continue_prob * mass / degree[u]
                for e in range(indptr[u], indptr[u + 1]):
                    v, come, there = indices[e], share * weights[e], residual[indices[e]]
                    residual[v] = there + come
                    if there == 0.0 and come > 0.0 and estimate[v] == 0.0:
                        reached[num] = v
                        num += 1
                spent += indptr[u + 1] - indptr[u]
            # While most nodes are still pushed, as in a small component, the threshold has not done its work.
            if 4 * pushed < num:
                threshold *= 0.5

        estimate[i] -= stop  # the window begins with the first step
        for k in range(num):
            v = reached[k]
            ratio[k] = (estimate[v] + stop * residual[v]) * volume / (continue_prob * degree[v]) + rest
            residual[v], estimate[v] = 0.0, 0.0
        least = 1.0
        if num > room:
            least = max(least, np.partition(ratio[:num], num - room)[num - room])
        found = 0
        for k in range(num):
            if ratio[k] >= least and found < room:
                columns[i, found], values[i, found] = reached[k], np.log(ratio[k])
                found += 1
        counts[i] = found
