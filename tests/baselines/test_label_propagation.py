"""Label propagation equals the closed form it iterates towards."""

from __future__ import annotations

import numpy as np
import pytest

from pine import Graph, InputError
from pine.baselines import LabelPropagation

PATH = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4)], nodes=range(6))


def closed_form(graph: Graph, seeds: np.ndarray, alpha: float = 0.9) -> np.ndarray:
    adjacency = graph.to_scipy().toarray().astype(float)
    scale = 1 / np.sqrt(np.maximum(adjacency.sum(axis=1), 1))
    normalized = scale[:, None] * adjacency * scale[None, :]
    return (1 - alpha) * np.linalg.solve(np.eye(len(seeds)) - alpha * normalized, seeds)


def test_scores_are_the_normalized_closed_form():
    seeds = np.zeros((6, 2))
    seeds[0, 0] = seeds[4, 1] = 1
    arrived = closed_form(PATH, seeds)[:5]  # nothing arrives at the last node
    scores = LabelPropagation().fit(PATH, {0: "left", 4: "right"}).predict_proba()
    np.testing.assert_allclose(scores[:5], arrived / arrived.sum(axis=1, keepdims=True), atol=1e-4)


def test_a_node_that_nothing_reaches_gets_the_average_of_all_known_labels():
    scores = LabelPropagation().fit(PATH, {0: "x", 1: "x", 2: "y"}).predict_proba([5])
    np.testing.assert_allclose(scores, [[2 / 3, 1 / 3]], atol=1e-6)


def test_weights_draw_labels_along_heavy_edges():
    graph = Graph.from_edges([(0, 1), (1, 2)], weights=[1.0, 10.0])
    assert LabelPropagation().fit(graph, {0: "x", 2: "y"}).predict([1]).tolist() == ["y"]


def test_numbers_are_predicted_between_those_that_are_known():
    predicted = LabelPropagation().fit(PATH, {0: 1.0, 4: 3.0}).predict()
    assert 1.0 < predicted[1] < predicted[2] < predicted[3] < 3.0
    assert predicted[2] == pytest.approx(2.0, abs=1e-4)
    assert predicted[5] == pytest.approx(2.0)


def test_labels_travel_against_the_direction_of_edges_too():
    graph = Graph.from_edges([(0, 1), (1, 2)], directed=True)
    assert LabelPropagation().fit(graph, {2: "x", 0: "y"}).predict_proba([1])[0].min() > 0.3


def test_settings_out_of_range_are_refused_in_fit():
    with pytest.raises(InputError, match=r"alpha must be a number above 0 and below 1, got 1\.0"):
        LabelPropagation(alpha=1.0).fit(PATH, {0: 1, 1: 2})


# a and b are coauthors, b and c share a term, c and d are coauthors.
USES = {("author", "uses", "term"): [("b", "t"), ("c", "t")]}
NODES = {"author": list("abcde"), "term": ["t"]}
TYPED = Graph.from_relations({("author", "coauthor", "author"): [("a", "b"), ("c", "d")], **USES}, nodes=NODES)


@pytest.mark.parametrize(("relation", "reached"), [("coauthor", "ab"), ("uses", "bc"), (None, "abcd")])
def test_labels_travel_along_one_relation_there_and_back_and_along_all_without_one(relation, reached):
    labels = {"author": {"b": "x", "e": "y"}}
    scores = LabelPropagation(relation=relation).fit(TYPED, labels).predict_proba(list("abcd"))
    for author, score in zip("abcd", scores[:, 0], strict=True):
        assert score == pytest.approx(1.0 if author in reached else 0.5), author


def test_along_one_relation_is_what_the_graph_of_that_relation_gives():
    labels = {"author": {"a": 1.0, "b": 2.0, "d": 4.0}}
    alone = LabelPropagation().fit(Graph.from_relations(USES, nodes=NODES), labels).predict()
    np.testing.assert_array_equal(LabelPropagation(relation="uses").fit(TYPED, labels).predict(), alone)


def test_a_relation_that_labels_cannot_travel_along_is_refused_with_those_there_are():
    with pytest.raises(InputError, match=r"relation 'use' does not exist .* there are 'coauthor', 'uses'$"):
        LabelPropagation(relation="use").fit(TYPED, {"author": {"a": 1.0}})
    with pytest.raises(InputError, match=r"for nodes of type 'term', where labels are; there are 'uses'$"):
        LabelPropagation(relation="coauthor").fit(TYPED, {"term": {"t": 1.0}})
