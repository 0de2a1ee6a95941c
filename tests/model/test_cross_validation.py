"""The choice of lambda, epochs and the share of propagated labels sees training labels alone, and keeps the best."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.models import pine_with

from pine import PINE, Graph
from pine.labels import read_labels
from pine.metrics import held_out_score
from pine.model.cross_validation import LABEL_SHARES, LAMBDAS, best, folds, lambdas
from pine.model.settings import Choice

GRAPH = Graph.from_relations({("a", "r", "b"): [(0, 0), (1, 0), (1, 1), (2, 1)], ("a", "s", "a"): [(0, 1), (1, 2)]})


def test_with_few_labels_agreement_weighs_more_but_a_users_lambda_is_the_papers():
    assert [lam for (lam,) in lambdas(None, 0.1)] == pytest.approx([each / 10 for each in LAMBDAS])
    assert lambdas(None, 0.001) == lambdas(None, 0.01)
    assert lambdas(2, 0.1) == [(2.0,)]
    assert lambdas((1.0, 2.0)) == [(1.0, 2.0)]


def choice(lam: float, epochs: int, score: Any, share: float = 0.0) -> Choice:
    return Choice((lam,), epochs, score, share)


def test_the_best_choice_is_that_of_the_best_smoothed_score():
    scores = {100: [[0.7], [0.6]], 200: [[0.8], [0.62]], 300: [[0.6], [0.9]]}
    assert best([(1.0,), (2.0,)], [0.0], scores) == choice(2.0, 300, pytest.approx(0.76))
    assert best([(1.0,)], [0.2], {epoch: line[:1] for epoch, line in scores.items()}) == Choice((1.0,), 100, 0.75, 0.2)


def test_the_share_of_labels_is_the_best_with_the_lambda_and_epochs_that_are_best_without():
    scores = {100: [[0.7, 0.95], [0.6, 0.6]], 200: [[0.6, 0.6], [0.9, 0.85]]}
    options, shares = [(1.0,), (2.0,)], [0.0, 0.5]
    assert best(options, shares, scores) == Choice((2.0,), 100, 0.75, 0.0)
    scores[200][1][1] = 0.95
    assert best(options, shares, scores) == choice(2.0, 100, pytest.approx(0.775), 0.5)
    scores[200][1][1] = 0.9  # level: the first
    assert best(options, shares, scores).label_share == 0.0


def test_folds_are_equal_and_scores_are_those_of_held_out_nodes():
    labels = read_labels(GRAPH, {"a": np.array([0, 1, 1])})
    assert sorted(folds(labels, 3, np.random.default_rng(0)).tolist()) == [0, 1, 2]
    predicted = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]], np.float32)
    assert held_out_score(labels, np.array([False, True, True]), predicted) == 0.5


def test_a_choice_is_saved_and_read_back():
    for choice in (Choice((1.0,), 5, 0.5, 0.35), Choice((1.0, 2.0), 7, 0.25)):
        assert Choice.from_json(choice.as_json()) == choice


GROUP = np.arange(60) // 5
RNG = np.random.default_rng(0)
CLIQUES = np.argwhere(np.triu((GROUP[:, None] == GROUP) & (RNG.random((60, 60)) < 0.7), 1))


@pytest.mark.parametrize("batches", [{}, {"batch_size": 30}])
def test_labels_get_a_share_where_they_say_more_than_vectors_and_it_is_kept_in_a_saved_run(tmp_path, batches):
    graph = Graph.from_edges(CLIQUES, nodes=range(60))
    seen = np.where(np.arange(60) % 2, GROUP % 3, -1)
    # After one epoch from a random start vectors know nothing; the nodes of a clique have one label.
    model = pine_with(epochs=1, start="random", dim=8, **batches).fit(graph, seen)
    assert model.learned_.choice.label_share in LABEL_SHARES[1:]
    model.save(tmp_path / "run")
    loaded = PINE.load(tmp_path / "run")
    assert loaded.learned_.choice == model.learned_.choice
    np.testing.assert_array_equal(loaded.predict_proba(graph=graph), model.predict_proba(graph=graph))
    np.testing.assert_array_equal(loaded.predict_proba(), model.predict_proba())


def test_labels_get_no_share_where_they_mislead():
    side = np.arange(60) % 2
    edges = np.argwhere(np.triu((side[:, None] != side) & (RNG.random((60, 60)) < 0.3), 1))  # neighbors are unlike
    model = pine_with(epochs=60, dim=8).fit(Graph.from_edges(edges, nodes=range(60)), side)
    assert model.learned_.choice.label_share == 0
    assert model.learned_.choice.score > 0.9


def test_held_out_labels_reach_neither_the_models_nor_the_propagated_labels_that_they_score():
    """Of random labels nothing can be predicted: a label that leaked, in any fold, would be predicted by itself."""
    graph = Graph.from_edges(RNG.integers(0, 10, (20, 2)), nodes=range(90))  # most have no neighbor to learn from
    model = pine_with(epochs=30, dim=16).fit(graph, RNG.integers(0, 3, 90))
    assert model.learned_.choice.score < 0.5
