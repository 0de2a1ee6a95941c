"""Walks go along edges, by weight, and are the same for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from pine import Graph, InputError
from pine.graph.sampling.walks import Walker


def random_graph(count: int = 60, edges: int = 150, **options) -> Graph:
    pairs = np.random.default_rng(0).integers(0, count - 5, (edges, 2))
    return Graph.from_edges(pairs, nodes=range(count), **options)


def steps(walks: np.ndarray) -> np.ndarray:
    return np.stack([walks[:, :-1].ravel(), walks[:, 1:].ravel()])


def test_every_step_goes_along_an_edge_and_isolated_nodes_stay_put():
    graph = random_graph()
    walks = Walker.of(graph.adjacency()).walks(np.arange(60), 30, key=1)
    assert walks.shape == (60, 30)
    np.testing.assert_array_equal(walks[:, 0], np.arange(60))
    source, target = steps(walks)
    alone = graph.adjacency().degrees() == 0
    assert alone[55:].all()
    assert (source == target)[alone[source]].all()
    linked = graph.to_scipy().toarray() > 0
    assert linked[source, target][~alone[source]].all()


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 3.0, 4.0]])
def test_neighbors_are_visited_in_proportion_to_the_weights(weights):
    graph = Graph.from_edges([(0, 1), (0, 2), (0, 3), (0, 4)], weights=weights)
    walks = Walker.of(graph.adjacency()).walks(np.zeros(20_000, int), 2, key=5)
    expected = 20_000 * np.array(weights or [1.0] * 4) / np.sum(weights or [1.0] * 4)
    assert ((np.bincount(walks[:, 1], minlength=5)[1:] - expected) ** 2 / expected).sum() < 16.3  # 1 in 1,000


def test_long_walks_visit_nodes_in_proportion_to_their_degrees():
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2)])
    walks = Walker.of(graph.adjacency()).walks(np.repeat(np.arange(5), 200), 400, key=2)
    visited = np.bincount(walks[:, 50:].ravel()) / walks[:, 50:].size
    np.testing.assert_allclose(visited, graph.adjacency().degrees() / 12, atol=0.005)


def test_edges_without_weight_are_never_walked():
    graph = Graph.from_edges([(0, 1), (0, 2), (3, 4)], weights=[1.0, 0.0, 0.0])
    walks = Walker.of(graph.adjacency()).walks(np.arange(5), 50, key=0)
    assert set(walks[0].tolist()) == {0, 1}
    assert [set(walk.tolist()) for walk in walks[2:]] == [{2}, {3}, {4}]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_key_gives_the_same_walks_for_any_number_of_threads(weighted):
    weights = np.random.default_rng(1).uniform(1, 2, 150) if weighted else None
    walker = Walker.of(random_graph(weights=weights).adjacency())
    starts = np.random.default_rng(2).integers(0, 60, 5000)
    one = walker.walks(starts, 20, key=9, threads=1)
    np.testing.assert_array_equal(walker.walks(starts, 20, key=9, threads=3), one)
    assert (walker.walks(starts, 20, key=10, threads=3) != one).mean() > 0.3


def test_a_walk_is_the_beginning_of_a_longer_one_and_does_not_depend_on_those_after_it():
    walker = Walker.of(random_graph().adjacency())
    long = walker.walks(np.arange(60), 30, key=4)
    np.testing.assert_array_equal(walker.walks(np.arange(25), 12, key=4), long[:25, :12])


def test_walks_that_start_together_part():
    walks = Walker.of(random_graph().adjacency()).walks(np.full(100, 3), 20, key=4)
    assert len(np.unique(walks, axis=0)) > 90


def test_a_number_of_threads_that_cannot_be_is_explained():
    with pytest.raises(InputError, match="threads must be at least 1"):
        Walker.of(random_graph().adjacency()).walks(np.arange(3), 5, key=0, threads=0)
