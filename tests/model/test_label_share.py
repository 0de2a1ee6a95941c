"""The share of known labels in predictions: what is heard is label propagation, and the share is chosen or given."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from pine import PINE, Graph, InputError, propagation
from pine.baselines import LabelPropagation
from pine.labels import read_labels
from pine.model.cross_validation import SHARES
from pine.model.selection import Choice
from pine.propagation import SHARE_ALPHA, SHARE_ROUNDS, LabelPropagator, PropagatedLabels

RNG = np.random.default_rng(0)
SMALL = {"epochs": 50, "dim": 8, "hidden": 16, "lam": 10.0}


GROUP = np.arange(60) // 5
NEAR = np.triu((GROUP[:, None] == GROUP) & (RNG.random((60, 60)) < 0.5), 1)
EDGES = np.concatenate([np.argwhere(NEAR), RNG.integers(60, size=(6, 2))])  # groups of five, a few edges between them
GRAPH = Graph.from_edges(EDGES, nodes=range(60))


def listening(graph: Graph, type: str = "node") -> LabelPropagator:
    return LabelPropagator(graph, type, torch.device("cpu"), 1)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_what_is_heard_is_label_propagation_and_where_nothing_is_theta_speaks_alone(weighted, directed):
    edges = RNG.integers(40, size=(60, 2))
    weights = RNG.random(60) if weighted else None
    graph = Graph.from_edges(edges, weights=weights, directed=directed, nodes=range(45))
    labels = read_labels(graph, {node: int(node) % 3 for node in range(0, 40, 4)})
    heard = listening(graph, labels.type).propagate(labels.known, labels.targets())
    reference = LabelPropagation(alpha=SHARE_ALPHA, rounds=SHARE_ROUNDS).fit(
        graph, {n: int(n) % 3 for n in range(0, 40, 4)}
    )
    scores = np.full((45, 3), 0.2, np.float32)
    mixed = heard.blend(scores, 0.25)
    reached = heard.reached[:, 0]
    expected = 0.75 * 0.2 + 0.25 * reference.predict_proba()
    np.testing.assert_allclose(mixed[reached], expected[reached], atol=1e-5)
    assert not reached[40:].any()  # nodes without an edge
    np.testing.assert_array_equal(mixed[~reached], scores[~reached])
    np.testing.assert_array_equal(heard.blend(scores, 0.0), scores)


def test_labels_travel_over_nodes_of_other_types():
    writes = ("author", "writes", "paper")
    graph = Graph.from_relations({writes: [("a", 1), ("b", 1), ("b", 2), ("c", 2), ("d", 3)]})
    labels = read_labels(graph, {"author": {"a": "x", "c": "y"}})
    heard = listening(graph, "author").propagate(labels.known, labels.targets())
    np.testing.assert_allclose(heard.labels[1], [0.5, 0.5], atol=1e-5)
    assert heard.labels[0, 0] > 0.7
    assert heard.reached[:, 0].tolist() == [True, True, True, False]


def test_labels_begin_at_nodes_of_their_own_type():
    writes = ("author", "writes", "paper")
    graph = Graph.from_relations({writes: [("a", 1), ("a", 2), ("b", 3), ("b", 4)]})
    heard = listening(graph, "paper").propagate(np.array([3]), np.ones((1, 1)))
    assert heard.reached[:, 0].tolist() == [False, False, True, True]


def test_of_a_mass_too_small_to_divide_by_nothing_is_heard():
    arrived = np.array([[1e-44, 1e-44], [1e-30, 2e-30], [0, 0]], np.float32)
    labels, reached = propagation.heard(arrived)
    assert reached[:, 0].tolist() == [False, True, False]
    assert labels[1, 0] == pytest.approx(0.5)


def test_a_share_that_the_user_gives_is_that_of_the_prediction_also_in_a_graph_that_has_grown():
    seen = {node: "ab"[node // 5 % 2] for node in range(0, 60, 2)}
    without = PINE(**SMALL).fit(GRAPH, seen)
    model = PINE(**SMALL, label_share=0.4).fit(GRAPH, seen)
    np.testing.assert_array_equal(model.embedding_, without.embedding_)
    heard = LabelPropagation(alpha=SHARE_ALPHA, rounds=SHARE_ROUNDS).fit(GRAPH, seen).predict_proba()
    reached = listening(GRAPH).propagate(np.arange(0, 60, 2), np.ones((30, 1))).reached
    theta = without.predict_proba()
    expected = np.where(reached, 0.6 * theta + 0.4 * heard, theta)
    np.testing.assert_allclose(model.predict_proba(), expected, atol=1e-5)
    np.testing.assert_allclose(model.predict_proba().sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(graph=GRAPH), expected, atol=1e-5)


def test_in_a_graph_that_has_grown_new_nodes_hear_the_labels_of_training_nodes_that_are_still_there():
    seen = {node: "ab"[node // 5 % 2] for node in range(0, 60, 2)}
    model, without = (PINE(**SMALL, label_share=share).fit(GRAPH, seen) for share in (0.4, 0.0))
    left = EDGES[(EDGES != 10).all(axis=1)]
    grown = Graph.from_edges(np.concatenate([[[70, 2], [71, 70]], left]), nodes=[*range(11, 72), *range(10)])
    still = {node: label for node, label in seen.items() if node != 10}
    heard = LabelPropagation(alpha=SHARE_ALPHA, rounds=SHARE_ROUNDS).fit(grown, still).predict_proba([70, 71])
    theta = without.predict_proba([70, 71], graph=grown)
    np.testing.assert_allclose(model.predict_proba([70, 71], graph=grown), 0.6 * theta + 0.4 * heard, atol=1e-5)


def test_numbers_are_heard_in_their_own_units():
    numbers = {node: 100.0 + node // 5 for node in range(0, 60, 2)}
    model, without = (PINE(**SMALL, label_share=share).fit(GRAPH, numbers) for share in (0.9, 0.0))
    heard = LabelPropagation(alpha=SHARE_ALPHA, rounds=SHARE_ROUNDS).fit(GRAPH, numbers).predict()
    linked = listening(GRAPH).propagate(np.arange(0, 60, 2), np.ones((30, 1))).reached[:, 0]
    np.testing.assert_allclose(
        model.predict()[linked], (0.9 * heard + 0.1 * without.predict())[linked], rtol=1e-3, atol=1e-2
    )


@pytest.mark.parametrize("batches", [{}, {"batch_size": 30}])
def test_the_share_is_chosen_where_labels_say_more_than_vectors_and_is_kept_in_a_saved_run(
    tmp_path, monkeypatch, batches
):
    right = np.eye(3, dtype=np.float32)[GROUP % 3]
    monkeypatch.setattr(PropagatedLabels, "at", lambda _, at: PropagatedLabels(right[at], np.ones((len(at), 1), bool)))
    seen = np.where(np.arange(60) % 2, GROUP % 3, -1)
    model = PINE(epochs=50, dim=8, entropy=0, **batches).fit(GRAPH, seen)
    assert model.learned_.choice.label_share == SHARES[-1]
    model.save(tmp_path / "run")
    loaded = PINE.load(tmp_path / "run")
    assert loaded.learned_.choice == model.learned_.choice
    np.testing.assert_array_equal(loaded.predict_proba(graph=GRAPH), model.predict_proba(graph=GRAPH))
    np.testing.assert_array_equal(loaded.predict_proba(), model.predict_proba())


def test_the_share_is_none_where_labels_mislead(monkeypatch):
    wrong = np.eye(3, dtype=np.float32)[(GROUP + 1) % 3]
    monkeypatch.setattr(PropagatedLabels, "at", lambda _, at: PropagatedLabels(wrong[at], np.ones((len(at), 1), bool)))
    model = PINE(epochs=50, dim=8).fit(GRAPH, np.where(np.arange(60) % 2, GROUP % 3, -1))
    assert model.learned_.choice.label_share == 0


def test_held_out_labels_are_not_heard_when_the_share_is_chosen(monkeypatch):
    labels = np.where(np.arange(60) % 3, GROUP % 3, -1)
    heard = []
    original = LabelPropagator.hear

    def spy(self, known, targets):
        heard.append(set(known.tolist()))
        return original(self, known, targets)

    monkeypatch.setattr(LabelPropagator, "propagate", spy)
    PINE(epochs=50, dim=8, folds=3).fit(GRAPH, labels)
    known = set(np.flatnonzero(labels >= 0).tolist())
    folds = [known - part for part in heard[:3]]
    assert sorted(map(len, folds)) == [13, 13, 14]
    assert set.union(*folds) == known
    assert all(part == known for part in heard[3:])


def test_each_fold_is_scored_with_what_is_heard_without_it(monkeypatch):
    right = GROUP % 3

    def right_where_unknown(self, known, targets):
        said = right.copy()
        said[known] = (right[known] + 1) % 3
        return PropagatedLabels(np.eye(3, dtype=np.float32)[said], np.ones((60, 1), bool))

    monkeypatch.setattr(LabelPropagator, "propagate", right_where_unknown)
    model = PINE(epochs=50, dim=8, entropy=0).fit(GRAPH, np.where(np.arange(60) % 2, right, -1))
    assert model.learned_.choice.label_share == SHARES[-1]


def test_where_lambda_is_given_labels_have_no_share():
    seen = np.where(np.arange(60) % 2, GROUP % 3, -1)
    assert PINE(**SMALL).fit(GRAPH, seen).learned_.choice.label_share == 0
    assert PINE.paper().label_share == 0
    assert PINE.paper(lam=None).label_share == 0


@pytest.mark.parametrize(
    ("share", "message"),
    [
        (1, r"label_share must be in \[0, 1\), or None, got 1"),
        (-0.1, r"label_share must be in \[0, 1\), or None, got -0.1"),
        (float("nan"), r"label_share must be in \[0, 1\), or None, got nan"),
        (True, "label_share must be a number or none, got True"),
        ("0.5", "label_share must be a number or none, got '0.5'"),
    ],
)
def test_a_share_that_is_none_is_refused(share, message):
    with pytest.raises(InputError, match=message):
        PINE(label_share=share).fit(GRAPH, {0: "a", 1: "b"})


def test_runs_of_before_there_was_a_share_are_read_as_having_none():
    assert Choice.from_json([[10.0], 100, None]).label_share == 0
    again = Choice.from_json(Choice((1.0,), 5, 0.5, 0.35).as_json())
    assert again == Choice((1.0,), 5, 0.5, 0.35)


def test_some_nodes_of_what_is_heard():
    heard = PropagatedLabels(np.arange(6, dtype=np.float32).reshape(3, 2), np.array([[True], [False], [True]]))
    part = heard.at(np.array([2, 1]))
    assert part.labels.tolist() == [[4, 5], [2, 3]]
    assert part.reached[:, 0].tolist() == [True, False]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_hears_what_a_cpu_hears():
    known, targets = np.arange(0, 60, 2), np.eye(3)[GROUP[::2] % 3]
    there = LabelPropagator(GRAPH, "node", torch.device("cuda"), 1).propagate(known, targets)
    here = listening(GRAPH).propagate(known, targets)
    np.testing.assert_allclose(there.labels, here.labels, atol=1e-5)
    np.testing.assert_array_equal(there.reached, here.reached)
