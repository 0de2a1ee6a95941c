"""Scores of pairs from the links around them: common neighbors, Adamic-Adar, personalized PageRank.

All are over graph.links(): whatever the types, and both ways. Cost is linear: neighbors' lists are merged pair by pair,
and PageRank is pushed from one end of each pair to the nodes where enough of it arrives (Andersen et al., 2006).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine._internal.parallel import compiled, over_parts
from pine.graph.csr import CSR
from pine.links.pairs import Pairs, ordered

CONTINUE = 0.85  # of PageRank: the chance that a walk goes on
PUSH_TOLERANCE = 1e-5  # PageRank that may be missing at a node, for each of its links
PAIRS_AT_ONCE = 256  # pairs, or sources, at a time


def common_neighbors(links: CSR, pairs: Pairs, threads: int | None = None) -> NDArray[np.float64]:
    """How many neighbors two nodes have in common."""
    return _shared(links, np.ones(links.num_rows), pairs, threads)


def adamic_adar(links: CSR, pairs: Pairs, threads: int | None = None) -> NDArray[np.float64]:
    """Common neighbors, each weighing 1 / log(degree) (Adamic and Adar, 2003)."""
    degrees = np.maximum(links.distinct(drop_loops=True).degrees(), 2)  # a common neighbor has two
    return _shared(links, 1 / np.log(degrees), pairs, threads)


def personalized_pagerank(
    links: CSR, pairs: Pairs, threads: int | None = None, alpha: float = CONTINUE, tolerance: float = PUSH_TOLERANCE
) -> NDArray[np.float64]:
    """sqrt(PageRank of v from u times that of u from v): alike from both ends.

    With P = D^-1 A the PageRank of v from u is (1 - alpha) sum of alpha^t (P^t)_uv, and that of u from v is the same
    times d_u / d_v: one end is enough, the one with fewer links.
    """
    weights = np.ones(links.nnz, np.float32) if links.weights is None else links.weights
    degrees = np.bincount(links.rows(), weights, links.num_rows)
    chosen = _by_source(links, pairs)
    order = np.argsort(chosen[:, 0], kind="stable")
    sources, starts = np.unique(chosen[order, 0], return_index=True)
    bounds = np.append(starts, len(pairs))
    sorted_found, targets = np.empty(len(pairs)), chosen[order, 1]
    over_parts(
        _push, len(sources), PAIRS_AT_ONCE, threads, links.indptr, links.indices, weights.astype(np.float64), degrees,
        sources, bounds, targets, alpha, tolerance, sorted_found,
    )  # fmt: skip
    found = np.empty(len(pairs))
    found[order] = sorted_found
    degree_of = np.where(degrees > 0, degrees, 1)
    return found * np.sqrt(degree_of[chosen[:, 0]] / degree_of[chosen[:, 1]])


Heuristic = Callable[[CSR, Pairs], NDArray[np.float64]]
HEURISTICS: dict[str, Heuristic] = {
    "common-neighbors": common_neighbors,
    "adamic-adar": adamic_adar,
    "pagerank": personalized_pagerank,
}


def _shared(links: CSR, weights: NDArray[Any], pairs: Pairs, threads: int | None) -> NDArray[np.float64]:
    plain, found = links.distinct(drop_loops=True), np.empty(len(pairs))
    over_parts(
        _merge,
        len(pairs),
        PAIRS_AT_ONCE,
        threads,
        plain.indptr,
        plain.indices,
        weights.astype(np.float64),
        ordered(pairs),
        found,
    )
    return found


def _by_source(links: CSR, pairs: Pairs) -> Pairs:
    """The end with fewer links first; of equals, the lower number."""
    low = ordered(pairs)
    degrees = links.degrees()
    swapped = degrees[low[:, 1]] < degrees[low[:, 0]]
    return np.where(swapped[:, None], low[:, ::-1], low)


@compiled
def _merge(
    lo: int,
    hi: int,
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[Any],
    pairs: Pairs,
    found: NDArray[Any],
) -> None:
    for i in range(lo, hi):
        a, b = indptr[pairs[i, 0]], indptr[pairs[i, 1]]
        last_a, last_b = indptr[pairs[i, 0] + 1], indptr[pairs[i, 1] + 1]
        total = 0.0
        while a < last_a and b < last_b:
            if indices[a] == indices[b]:
                total += weights[indices[a]]
                a += 1
                b += 1
            elif indices[a] < indices[b]:
                a += 1
            else:
                b += 1
        found[i] = total


@compiled
def _push(
    lo: int,
    hi: int,
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[Any],
    degrees: NDArray[Any],
    sources: NDArray[Any],
    bounds: NDArray[Any],
    targets: NDArray[Any],
    alpha: float,
    tolerance: float,
    found: NDArray[Any],
) -> None:
    """From each source, what arrived is settled node by node, first in first out, until little is left anywhere."""
    count = len(degrees)
    settled, left = np.zeros(count), np.zeros(count)
    waiting, touched = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    queue, seen = np.empty(count, np.int64), np.empty(count, np.int64)
    for s in range(lo, hi):
        source = sources[s]
        left[source], touched[source], seen[0] = 1.0, True, source
        num_seen, first, length = 1, 0, 0
        if degrees[source] > 0:
            queue[0], waiting[source], length = source, True, 1
        else:
            settled[source] = 1.0
        while length > 0:
            node = queue[first]
            first = first + 1 if first + 1 < count else 0
            length -= 1
            waiting[node] = False
            amount = left[node]
            left[node] = 0.0
            settled[node] += (1 - alpha) * amount
            share = alpha * amount / degrees[node]
            for e in range(indptr[node], indptr[node + 1]):
                other = indices[e]
                left[other] += share * weights[e]
                if not touched[other]:
                    touched[other] = True
                    seen[num_seen] = other
                    num_seen += 1
                if not waiting[other] and left[other] > tolerance * degrees[other]:
                    end = first + length
                    queue[end if end < count else end - count] = other
                    waiting[other] = True
                    length += 1
        for i in range(bounds[s], bounds[s + 1]):
            found[i] = settled[targets[i]]
        for i in range(num_seen):
            settled[seen[i]] = left[seen[i]] = 0.0
            touched[seen[i]] = waiting[seen[i]] = False
