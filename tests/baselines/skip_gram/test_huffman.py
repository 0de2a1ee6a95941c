"""Huffman paths are as short as a code of these counts can be, and give every word a probability."""

from __future__ import annotations

import heapq
from itertools import pairwise

import numpy as np
import pytest

from pine.baselines.skip_gram.huffman import huffman_paths


def cheapest(counts: np.ndarray) -> int:
    """The cost of a Huffman code, by the textbook: the sum of all joined counts."""
    heap, cost = list(map(int, counts)), 0
    heapq.heapify(heap)
    while len(heap) > 1:
        joined = heapq.heappop(heap) + heapq.heappop(heap)
        cost += joined
        heapq.heappush(heap, joined)
    return cost


@pytest.mark.parametrize("counts", [[5], [3, 3], [1, 1, 1, 1], [1, 2, 4, 8, 16], [0, 0, 7]])
def test_paths_have_the_lengths_of_a_huffman_code(counts):
    lengths = np.diff(huffman_paths(np.array(counts)).indptr)
    assert (lengths * counts).sum() == cheapest(counts)
    assert sum(0.5**length for length in lengths) == 1


def test_paths_of_a_large_vocabulary_are_as_short_as_can_be():
    counts = np.random.default_rng(0).zipf(1.5, 1000).clip(max=10**6)
    lengths = np.diff(huffman_paths(counts).indptr)
    assert (lengths * counts).sum() == cheapest(counts)
    assert all(rare >= common for rare, common in pairwise(lengths[np.argsort(counts, kind="stable")]))


def test_the_probabilities_of_all_words_add_up_to_one():
    rng = np.random.default_rng(1)
    paths, scores = huffman_paths(rng.integers(1, 50, 30)), rng.normal(size=29)
    total = 0.0
    for lo, hi in pairwise(paths.indptr):
        p = 1 / (1 + np.exp(-scores[paths.nodes[lo:hi]]))
        total += np.prod(np.where(paths.left[lo:hi] == 1, p, 1 - p))
    assert total == pytest.approx(1)
