"""The Huffman tree of a vocabulary: the path to a word has about -log2 of its share of all occurrences steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine._internal.parallel import compiled


@dataclass(frozen=True, eq=False)
class HuffmanPaths:
    """The path from the root to each word: inner nodes (indptr, nodes), and 1 where it turns left there, else 0.

    n words have n - 1 inner nodes; the root is the last of them.
    """

    indptr: NDArray[np.int64]
    nodes: NDArray[np.int32]
    left: NDArray[np.float32]


def huffman_paths(counts: NDArray[Any]) -> HuffmanPaths:
    """Paths for words that occur so many times: counts (n,)."""
    n = len(counts)
    rising = np.argsort(counts, kind="stable")
    parent, is_left = _join(rising, np.asarray(counts, np.int64))
    indptr = np.zeros(n + 1, np.int64)
    np.cumsum(_depths(parent, n), out=indptr[1:])
    nodes, left = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
    _descend(parent, is_left, indptr, nodes, left)
    return HuffmanPaths(indptr, nodes, left)


@compiled
def _join(rising: NDArray[Any], counts: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Join the two rarest until one is left: the parent of each of 2n - 1 tree nodes, and whether it is a left child.

    Inner nodes are made in the order of their counts, so the rarest is at the head of one of two queues.
    """
    n = len(counts)
    total = np.empty(2 * n - 1, np.int64)
    total[:n] = counts
    parent, is_left = np.zeros(2 * n - 1, np.int64), np.zeros(2 * n - 1, np.float32)
    word, inner = 0, n
    for made in range(n, 2 * n - 1):
        total[made] = 0
        for side in range(2):
            if word < n and (inner >= made or counts[rising[word]] <= total[inner]):
                child = rising[word]
                word += 1
            else:
                child = inner
                inner += 1
            total[made] += total[child]
            parent[child], is_left[child] = made, side
    return parent, is_left


@compiled
def _depths(parent: NDArray[Any], n: int) -> NDArray[Any]:
    depth = np.zeros(2 * n - 1, np.int64)
    # Parents come after their children.
    for node in range(2 * n - 3, -1, -1):
        depth[node] = depth[parent[node]] + 1
    return depth[:n]


@compiled
def _descend(
    parent: NDArray[Any], is_left: NDArray[Any], indptr: NDArray[Any], nodes: NDArray[Any], left: NDArray[Any]
) -> None:
    n = len(indptr) - 1
    for word in range(n):
        child = word
        for at in range(indptr[word + 1] - 1, indptr[word] - 1, -1):
            nodes[at], left[at] = parent[child] - n, is_left[child]
            child = parent[child]
