"""The walks of node2vec step with the probabilities of their formula, without a table of pairs of edges."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from pine import Graph, InputError
from pine.graph.sampling.node2vec_walks import Node2VecWalker
from pine.graph.sampling.walks import Walker

# A triangle with tails: node 0 has a neighbor that it came from, one that both know, and some that only it knows.
EDGES = [(0, 1), (0, 2), (1, 2), (0, 3), (0, 4), (3, 4), (2, 5), (5, 6)]
WEIGHTS = [1.0, 2.0, 0.5, 3.0, 1.5, 1.0, 4.0, 1.0]


def random_graph(count: int = 60, edges: int = 150, **options) -> Graph:
    pairs = np.random.default_rng(0).integers(0, count - 5, (edges, 2))
    return Graph.from_edges(pairs, nodes=range(count), **options)


def exact(matrix: np.ndarray, p: float, q: float) -> np.ndarray:
    """P[t, v, x] of the step from v to x after t, by the formula."""
    count = len(matrix)
    bias = np.where(matrix > 0, 1.0, 1 / q)
    bias[np.arange(count), np.arange(count)] = 1 / p
    mass = matrix[None, :, :] * bias[:, None, :]
    return mass / np.maximum(mass.sum(axis=2, keepdims=True), 1e-300)


def counted(walks: np.ndarray, count: int) -> np.ndarray:
    """How often each (t, v, x) is in the walks."""
    seen = np.zeros((count, count, count))
    np.add.at(seen, (walks[:, :-2], walks[:, 1:-1], walks[:, 2:]), 1)
    return seen


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize(("p", "q"), [(1, 1), (0.25, 4), (4, 0.25), (2, 3), (1e5, 5e4), (1e-4, 1e4), (1e6, 1)])
def test_steps_have_the_probabilities_of_the_formula(p, q, weights):
    graph = Graph.from_edges(EDGES, weights=weights)
    walks = Node2VecWalker.of(graph.links(), p, q).walks(np.repeat(np.arange(7), 3000), 6, key=1)
    seen, wanted = counted(walks, 7), exact(graph.links().to_scipy().toarray(), p, q)
    expected = wanted * seen.sum(axis=2, keepdims=True)
    assert seen[expected == 0].sum() == 0
    enough = expected >= 5
    freedom = enough.sum() - enough.any(axis=2).sum()
    assert ((seen - expected) ** 2 / np.maximum(expected, 1e-300))[enough].sum() < chi2.isf(1e-4, max(freedom, 1))
    assert (seen[~enough] < 30).all()  # expected: less than 5


@pytest.mark.parametrize("weighted", [False, True])
def test_without_a_bias_they_are_first_order_walks_number_for_number(weighted):
    weights = np.random.default_rng(1).uniform(1, 2, 150) if weighted else None
    links = random_graph(weights=weights).links()
    starts = np.arange(60)
    np.testing.assert_array_equal(
        Node2VecWalker.of(links, 1, 1).walks(starts, 40, key=3), Walker.of(links).walks(starts, 40, key=3)
    )


def test_every_step_goes_along_an_edge_and_isolated_nodes_stay_put():
    graph = random_graph()
    walks = Node2VecWalker.of(graph.links(), 0.5, 2).walks(np.arange(60), 30, key=1)
    np.testing.assert_array_equal(walks[:, 0], np.arange(60))
    linked = graph.to_scipy().toarray() > 0
    alone = ~linked.any(axis=1)
    assert alone[55:].all()
    assert linked[walks[~alone, :-1], walks[~alone, 1:]].all()
    assert (walks[alone] == walks[alone, :1]).all()


def test_large_p_avoids_turning_back_wherever_there_is_another_way():
    circle = Graph.from_edges([(i, (i + 1) % 50) for i in range(50)])
    walks = Node2VecWalker.of(circle.links(), 1e9, 1).walks(np.arange(50), 51, key=0)
    np.testing.assert_array_equal(np.sort(walks[:, :50], axis=1), np.tile(np.arange(50), (50, 1)))


def test_a_dead_end_is_left_at_once_however_large_p_is():
    # One try in 10^12 would be kept here.
    walks = Node2VecWalker.of(Graph.from_edges([(0, 1)]).links(), 1e12, 1).walks(np.zeros(1000, int), 50, key=0)
    np.testing.assert_array_equal(walks, np.tile([0, 1], (1000, 25)))


def test_edges_without_weight_are_not_walked_and_make_no_neighbors():
    # From 0 by 1: 2 would be a neighbor of 0, but for its weight of zero, and is therefore as likely as 3.
    graph = Graph.from_edges([(0, 1), (1, 2), (1, 3), (0, 2)], weights=[1.0, 1.0, 1.0, 0.0])
    walks = Node2VecWalker.of(graph.links(), 1, 100).walks(np.zeros(20_000, int), 3, key=0)
    assert (walks[:, 1] == 1).all()
    third = np.bincount(walks[:, 2], minlength=4)
    assert abs(third[2] - third[3]) < 4 * np.sqrt(third[2] + third[3])
    assert third[0] > 0.97 * 20_000


@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_key_gives_the_same_walks_for_any_number_of_threads(weighted):
    weights = np.random.default_rng(1).uniform(1, 2, 150) if weighted else None
    walker = Node2VecWalker.of(random_graph(weights=weights).links(), 0.25, 4)
    starts = np.random.default_rng(2).integers(0, 60, 5000)
    one = walker.walks(starts, 20, key=9, threads=1)
    for threads in (2, 3):
        np.testing.assert_array_equal(walker.walks(starts, 20, key=9, threads=threads), one)
    assert (walker.walks(starts, 20, key=10, threads=2) != one).mean() > 0.3
    np.testing.assert_array_equal(walker.walks(starts[:70], 12, key=9), one[:70, :12])


def test_memory_is_linear_in_edges():
    # A star of 2,000 has 4 million pairs of edges.
    links = Graph.from_edges([(0, i) for i in range(1, 2001)], weights=np.arange(1, 2001.0)).links()
    walker = Node2VecWalker.of(links, 0.5, 2).walker
    assert walker.neighbors.nbytes + walker.keep.nbytes + walker.alias.nbytes < 30 * links.nnz


def test_a_number_of_threads_that_cannot_be_is_explained():
    with pytest.raises(InputError, match="threads must be at least 1"):
        Node2VecWalker.of(random_graph().links(), 1, 1).walks(np.arange(3), 5, key=0, threads=0)
