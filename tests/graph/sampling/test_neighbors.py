"""Sampled neighbors are different ones, every set of them equally likely, the same for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from pine import Graph
from pine.graph.sampling.neighbors import NeighborSampler

STAR = Graph.from_edges([(0, leaf) for leaf in range(1, 9)], nodes=range(10))  # and a node of its own


def drawn(graph: Graph, size: int, key: int, threads: int = 1) -> list[list[int]]:
    """The neighbors drawn for each node."""
    source, target = NeighborSampler.of(graph.links(), size).draw(key, threads)
    return [source[target == node].tolist() for node in range(graph.num_nodes)]


def test_small_neighborhoods_are_taken_whole_and_large_ones_by_different_neighbors():
    sample = drawn(STAR, 3, key=5)
    assert sample[1:] == [[0]] * 8 + [[]]
    assert len(set(sample[0])) == 3
    assert set(sample[0]) <= set(range(1, 9))
    assert [len(set(drawn(STAR, size, 0)[0])) for size in (1, 7, 8, 9)] == [1, 7, 8, 8]


@pytest.mark.parametrize("size", [1, 3, 7])
def test_every_set_of_neighbors_is_as_likely(size):
    draws = [tuple(sorted(drawn(STAR, size, key)[0])) for key in range(4000)]
    sets, counts = np.unique(draws, axis=0, return_counts=True)
    number = {1: 8, 3: 56, 7: 8}[size]
    assert len(sets) == number
    assert ((counts - 4000 / number) ** 2 / (4000 / number)).sum() < number + 4 * np.sqrt(2 * number)


def test_samples_depend_on_key_and_node_and_on_no_thread():
    graph = Graph.from_edges(np.random.default_rng(0).integers(0, 9000, (90000, 2)), nodes=range(9000))
    sampler = NeighborSampler.of(graph.links(), 5)
    one = sampler.draw(7, threads=1)
    np.testing.assert_array_equal(sampler.draw(7, threads=2), one)
    assert not np.array_equal(sampler.draw(8), one)
    assert (graph.links().to_scipy()[one[1], one[0]] == 1).all(), "they are neighbors"
    np.testing.assert_array_equal(np.bincount(one[1], minlength=9000), np.minimum(graph.links().degrees(), 5))
