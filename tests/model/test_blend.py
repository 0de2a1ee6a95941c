"""Predictions by structure, carried features and own features as one."""

from __future__ import annotations

import numpy as np

from pine import Graph
from pine.labels import read_labels
from pine.model.blend import GRID, STRUCTURE, blend, log_likelihoods, node_weights

# c is alone; the features of d are not known; e is alone and has none.
KNOWN = np.array([True, True, True, False, False])
GRAPH = Graph.from_edges([("a", "b"), ("b", "d")], nodes=list("abcde"), features=np.ones((5, 2)), feature_mask=KNOWN)


def test_weights_sum_to_one_and_cover_structure_and_features_alone():
    np.testing.assert_allclose(np.sum(GRID, axis=1), 1)
    assert len(set(GRID)) == len(GRID) == 15
    assert {STRUCTURE, (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)} <= set(GRID)


def test_a_node_without_edges_is_left_to_its_own_features_and_one_without_features_to_the_others():
    made = node_weights((0.5, 0.0, 0.5), GRAPH, "node")
    expected: list[list[float]] = [
        [0.5, 0.0, 0.5],
        [0.5, 0.0, 0.5],
        [0.0, 0.0, 1.0],
        [0.25, 0.75, 0.0],
        [0.25, 0.75, 0.0],
    ]
    np.testing.assert_allclose(made, expected)
    np.testing.assert_allclose(node_weights(STRUCTURE, GRAPH, "node"), np.tile([1, 0, 0], (5, 1)))


def test_where_structure_says_nothing_features_share_its_weight():
    made = node_weights((0.5, 0.125, 0.375), GRAPH, "node", has_structure=False)
    expected: list[list[float]] = [[0.0, 0.25, 0.75], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    np.testing.assert_allclose(made[[0, 2, 3]], expected)


def test_features_without_a_say_stand_in_where_structure_says_nothing():
    made = node_weights(STRUCTURE, GRAPH, "node", stand_in=(0.0, 0.5, 0.5))
    np.testing.assert_allclose(made, [[0, 0, 1] if node == 2 else [1, 0, 0] for node in range(5)])
    made = node_weights(STRUCTURE, GRAPH, "node", stand_in=(0.0, 0.5, 0.5), has_structure=False)
    np.testing.assert_allclose(made[[0, 2, 3]], np.array([[0.0, 0.5, 0.5], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))


def test_a_type_without_features_keeps_the_weights_that_were_chosen_for_it():
    graph = Graph.from_relations({("author", "writes", "paper"): [("x", "p")]}, features={"paper": np.ones((1, 2))})
    np.testing.assert_allclose(node_weights((0.25, 0.25, 0.5), graph, "author"), [[0.5, 0.5, 0.0]])
    np.testing.assert_allclose(node_weights((0.0, 0.0, 1.0), graph, "author"), [[0.0, 1.0, 0.0]])


def test_a_blend_is_the_weighted_mean_node_by_node():
    predictions = [np.full((2, 3), value, np.float32) for value in (1.0, 2.0, 4.0)]
    made = blend(predictions, np.array([[0.5, 0.5, 0], [0, 0, 1]], np.float32))
    np.testing.assert_allclose(made, [[1.5] * 3, [4.0] * 3])


def test_likelihoods_are_those_of_the_truth_and_no_node_alone_decides():
    graph = Graph.from_edges([(0, 1), (1, 2)])
    held = np.array([True, False, True])
    classes = read_labels(graph, np.array([0, 1, 1]))
    sure = np.array([[0.8, 0.2], [0.5, 0.5], [1.0, 0.0]], np.float32)
    np.testing.assert_allclose(log_likelihoods(classes.some(held), sure[held]), np.log([0.8, 1e-3]), rtol=1e-5)
    sets = read_labels(graph, np.array([[1, 0], [0, 0], [1, 1]]))
    np.testing.assert_allclose(
        log_likelihoods(sets.some(held), sure[held]), [np.log(0.8), np.log([1.0, 1e-3]).mean()], rtol=1e-5
    )
    numbers = read_labels(graph, np.array([0.0, 1.0, 3.0]))
    np.testing.assert_allclose(log_likelihoods(numbers.some(held), sure[held, :1]), [-0.64, -4.0], rtol=1e-5)
