"""Structural distance of two nodes within k steps: f_k(u, v) = f_k-1(u, v) + g_k(u, v), g_k between their rings at k.

g is dynamic time warping of the two degree sequences. Aligning a nodes of degree d with b nodes of degree e costs
((max(d, e) + .5) / (min(d, e) + .5) - 1) max(a, b). The .5 is of struc2vec's own code and lets a degree be 0.

Distances are computed for all pairs, or for each node and the 2 log2(n) whose degrees are nearest to its own
(struc2vec's second optimization). Nodes of the same degree are compared with the same others, so that structurally
equal nodes stay equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine._internal.parallel import compiled, over_parts
from pine.baselines.struc2vec.rings import Rings

PAIRS_PER_RANGE = 1024  # that a thread takes at a time
DEGREE_OFFSET = 0.5


# ---- which pairs ----


def pairs_per_node(num_nodes: int) -> int:
    """How many others a node is compared with: floor(2 log2 n) + 1, as in struc2vec's own code."""
    return min(num_nodes - 1, int(2 * np.log2(num_nodes)) + 1)


def similar_pairs(degrees: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pairs (u, v) with u < v, one among those nearest in degree to the other: (num_pairs, 2), in ascending order."""
    count = len(degrees)
    chosen = np.empty((count, pairs_per_node(count)), np.int64)
    order = np.argsort(degrees, kind="stable")
    distinct, start = np.unique(degrees[order], return_index=True)
    _choose(order, distinct, np.append(start, count), chosen)
    own = np.repeat(np.arange(count), chosen.shape[1])
    low, high = np.minimum(own, chosen.ravel()), np.maximum(own, chosen.ravel())
    return np.stack(np.divmod(np.unique(low * count + high), count), axis=1)


def all_pairs(num_nodes: int) -> NDArray[np.int64]:
    """Every pair (u, v) with u < v."""
    return np.stack(np.triu_indices(num_nodes, 1), axis=1)


@compiled
def _choose(order: NDArray[Any], distinct: NDArray[Any], start: NDArray[Any], chosen: NDArray[Any]) -> None:
    """Fill the row of each node: those of its own degree, then of the next nearest (the larger of two), and so on."""
    wanted = chosen.shape[1]
    for own in range(len(distinct)):
        for node in order[start[own] : start[own + 1]]:
            below, above, now, taken = own - 1, own + 1, own, 0
            while taken < wanted:
                for other in order[start[now] : start[now + 1]]:
                    if other != node and taken < wanted:
                        chosen[node, taken] = other
                        taken += 1
                degree = distinct[own]
                if above == len(distinct) or (below >= 0 and degree - distinct[below] < distinct[above] - degree):
                    now = below
                    below -= 1
                else:
                    now = above
                    above += 1


# ---- their distances ----


def structural_distances(
    rings: Rings, pairs: NDArray[np.int64], num_layers: int, threads: int | None
) -> NDArray[np.float32]:
    """f_k of pairs (num_pairs, 2): (num_pairs, num_layers), infinite where one of the two has no ring at k."""
    out = np.full((len(pairs), num_layers), np.inf, np.float32)
    longest = int(np.diff(rings.start).max(initial=0))
    given = (pairs, rings.first, rings.start, rings.degree, rings.count, longest, out)
    over_parts(_compare, len(pairs), PAIRS_PER_RANGE, threads, *given)
    return out


@compiled
def _compare(
    lo: int,
    hi: int,
    pairs: NDArray[Any],
    first: NDArray[Any],
    start: NDArray[Any],
    degree: NDArray[Any],
    count: NDArray[Any],
    longest: int,
    out: NDArray[Any],
) -> None:
    costs = np.empty(longest + 1)
    for pair in range(lo, hi):
        u, v = pairs[pair]
        shared, total = min(first[u + 1] - first[u], first[v + 1] - first[v], out.shape[1]), 0.0
        for k in range(shared):
            a, b = first[u] + k, first[v] + k
            one, other = slice(start[a], start[a + 1]), slice(start[b], start[b + 1])
            total += warping_distance(degree[one], count[one], degree[other], count[other], costs)
            out[pair, k] = total


@compiled
def warping_distance(
    degree: NDArray[Any],
    count: NDArray[Any],
    other_degree: NDArray[Any],
    other_count: NDArray[Any],
    costs: NDArray[Any],
) -> Any:
    """g of two rings; costs is a buffer for one entry more than the other ring has.

    costs[j + 1] is the least cost of an alignment up to the present entry of the first ring and entry j of the other.
    """
    costs[0], costs[1 : len(other_degree) + 1] = 0.0, np.inf
    for i in range(len(degree)):
        diagonal = costs[0]
        costs[0] = np.inf
        for j in range(len(other_degree)):
            least = min(diagonal, costs[j], costs[j + 1])
            diagonal = costs[j + 1]
            large, small = max(degree[i], other_degree[j]), min(degree[i], other_degree[j])
            step = ((large + DEGREE_OFFSET) / (small + DEGREE_OFFSET) - 1.0) * max(count[i], other_count[j])
            costs[j + 1] = least + step
    return costs[len(other_degree)]
