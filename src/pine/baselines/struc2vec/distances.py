"""How unlike two nodes are within k steps: f_k(u, v) = f_k-1(u, v) + g_k(u, v), g_k the distance of their rings at k.

g is dynamic time warping: both rings are gone through in order, one or both moving on at a step, at the least total
cost. A step at a nodes of degree d and b of degree e costs ((max(d, e) + .5) / (min(d, e) + .5) - 1) max(a, b). The .5
is of struc2vec's own code and lets a degree be 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine._internal.compiled import compiled
from pine._internal.parallel import over_parts
from pine.baselines.struc2vec.rings import Rings

PART = 1024  # pairs that a thread takes at a time
GUARD = 0.5


def distances(rings: Rings, pairs: NDArray[np.int64], num_layers: int, threads: int | None) -> NDArray[np.float32]:
    """f_k of pairs (num_pairs, 2): (num_pairs, num_layers), infinite where one of the two has no ring at k."""
    out = np.full((len(pairs), num_layers), np.inf, np.float32)
    longest = int(np.diff(rings.start).max(initial=0))
    given = (pairs, rings.first, rings.start, rings.degree, rings.count, longest, out)
    over_parts(_compare, len(pairs), PART, threads, *given)
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
        together, total = min(first[u + 1] - first[u], first[v + 1] - first[v], out.shape[1]), 0.0
        for k in range(together):
            a, b = first[u] + k, first[v] + k
            one, other = slice(start[a], start[a + 1]), slice(start[b], start[b + 1])
            total += warped(degree[one], count[one], degree[other], count[other], costs)
            out[pair, k] = total


@compiled
def warped(
    degree: NDArray[Any],
    count: NDArray[Any],
    other_degree: NDArray[Any],
    other_count: NDArray[Any],
    costs: NDArray[Any],
) -> Any:
    """The distance of two rings; costs is room for one entry more than the other ring has.

    costs[j + 1] is the least cost of having gone through both up to the present entry and j.
    """
    costs[0], costs[1 : len(other_degree) + 1] = 0.0, np.inf
    for i in range(len(degree)):
        both = costs[0]
        costs[0] = np.inf
        for j in range(len(other_degree)):
            least = min(both, costs[j], costs[j + 1])
            both = costs[j + 1]
            large, small = max(degree[i], other_degree[j]), min(degree[i], other_degree[j])
            step = ((large + GUARD) / (small + GUARD) - 1.0) * max(count[i], other_count[j])
            costs[j + 1] = least + step
    return costs[len(other_degree)]
