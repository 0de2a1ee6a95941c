"""Which nodes are compared: for each node the 2 log2(n) whose degrees are nearest to its own (struc2vec's second
optimization), or every pair.

Nodes of one degree have the same others to be compared with: nodes that are equal in structure stay so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine._internal.compiled import compiled


def pairs_per_node(num_nodes: int) -> int:
    """How many each node chooses: floor(2 log2 n) + 1, as in struc2vec's own code."""
    return min(num_nodes - 1, int(2 * np.log2(num_nodes)) + 1)


def similar_pairs(degrees: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pairs (u, v) with u < v where one chose the other: (num_pairs, 2), in ascending order."""
    count = len(degrees)
    chosen = np.empty((count, pairs_per_node(count)), np.int64)
    order = np.argsort(degrees, kind="stable")
    kinds, start = np.unique(degrees[order], return_index=True)
    _choose(order, kinds, np.append(start, count), chosen)
    own = np.repeat(np.arange(count), chosen.shape[1])
    low, high = np.minimum(own, chosen.ravel()), np.maximum(own, chosen.ravel())
    return np.stack(np.divmod(np.unique(low * count + high), count), axis=1)


def all_pairs(num_nodes: int) -> NDArray[np.int64]:
    """Every pair (u, v) with u < v."""
    return np.stack(np.triu_indices(num_nodes, 1), axis=1)


@compiled
def _choose(order: NDArray[Any], kinds: NDArray[Any], start: NDArray[Any], chosen: NDArray[Any]) -> None:
    """Fill the row of each node: those of its own degree, then of the next nearest (the larger of two), and so on."""
    wanted = chosen.shape[1]
    for kind in range(len(kinds)):
        for node in order[start[kind] : start[kind + 1]]:
            below, above, now, taken = kind - 1, kind + 1, kind, 0
            while taken < wanted:
                for other in order[start[now] : start[now + 1]]:
                    if other != node and taken < wanted:
                        chosen[node, taken] = other
                        taken += 1
                if above == len(kinds) or (below >= 0 and kinds[kind] - kinds[below] < kinds[above] - kinds[kind]):
                    now = below
                    below -= 1
                else:
                    now = above
                    above += 1
