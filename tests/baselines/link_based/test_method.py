"""Link-based classification learns who the neighbors are, and from the labels near a node."""

from __future__ import annotations

import numpy as np
import pytest
from support.graphs import two_groups

from pine import Graph, InputError
from pine.baselines import LinkBased


def test_neighbors_decide_where_labels_near_a_node_do_not():
    # Every author uses one of two terms and one that all use; coauthors are of the other class.
    uses = [(i, f"t{i % 2}") for i in range(20)] + [(i, "all") for i in range(20)]
    graph = Graph.from_relations(
        {("author", "uses", "term"): uses, ("author", "coauthor", "author"): [(i, i + 1) for i in range(19)]}
    )
    model = LinkBased().fit(graph, {"author": {i: i % 2 for i in range(0, 20, 3)}})
    assert model.predict().tolist() == [i % 2 for i in range(20)]
    by_term = dict(zip(graph.ids("term").tolist(), model.embedding_["term"], strict=True))
    assert by_term["t0"][0] > by_term["all"][0] > by_term["t1"][0], "vectors of terms are what they add to scores"


def test_labels_near_a_node_decide_where_its_neighbors_have_not_been_seen():
    # Friends in pairs are of one class; nobody has two friends.
    graph = Graph.from_edges([(f"{i}-left", f"{i}-right") for i in range(20)])
    known = {f"{i}-left": i % 2 for i in range(20)} | {f"{i}-right": i % 2 for i in range(10)}
    predicted = LinkBased().fit(graph, known).predict([f"{i}-right" for i in range(10, 20)])
    assert predicted.tolist() == [0, 1] * 5


def test_numbers_are_predicted_in_their_own_units():
    graph, label = two_groups()
    known = {int(node): 1000.0 + 10 * label[node] for node in range(1, 40, 2)}
    np.testing.assert_allclose(LinkBased().fit(graph, known).predict()[::2], 1000 + 10 * label[::2], atol=5)


def test_a_type_without_relations_gets_the_average_of_its_known_labels():
    graph = Graph.from_relations({("a", "to", "b"): [(0, 0)]}, nodes={"a": [0], "b": [0], "c": range(4)})
    scores = LinkBased().fit(graph, {"c": {0: "x", 1: "x", 2: "y"}}).predict_proba()
    np.testing.assert_allclose(scores, [[2 / 3, 1 / 3]] * 4, atol=1e-4)


def test_the_penalty_shrinks_weights_and_must_be_above_zero():
    graph, label = two_groups()
    weak, strong = (np.ptp(LinkBased(l2=l2).fit(graph, label).embedding_) for l2 in (0.1, 100.0))
    assert strong < 0.2 * weak
    with pytest.raises(InputError, match="l2 must be a number above 0 and finite, got 0"):
        LinkBased(l2=0).fit(graph, label)
