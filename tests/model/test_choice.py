"""The choice of the share of propagated labels, and of training, sees training labels alone, and keeps the best."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch
from support.models import pine_with

from pine import PINE, Graph
from pine.labels import read_labels
from pine.metrics import held_out_score, node_scores
from pine.model import choice, theta
from pine.model.blend import STRUCTURE
from pine.model.checkpoint import Checkpoint
from pine.model.choice import (
    LABEL_SHARES,
    LAMBDA,
    LEAST_LABELED,
    given_lambdas,
)
from pine.model.held_out import HeldOutParts, clearly_better
from pine.model.settings import Choice
from pine.model.training import Trainer
from pine.propagation import PropagatedLabels

GRAPH = Graph.from_relations({("a", "r", "b"): [(0, 0), (1, 0), (1, 1), (2, 1)], ("a", "s", "a"): [(0, 1), (1, 2)]})


def test_with_few_labels_agreement_weighs_more_but_a_users_lambda_is_the_papers():
    labels = np.repeat([0, 1], 50)
    graph = Graph.from_edges([(k, k + 1) for k in range(99)])
    for known in (60, 20, 5, 1):
        seen = np.where(np.arange(100) % 50 < known // 2 + 1, labels, -1)
        lam = pine_with(epochs=0, label_share=0.0).fit(graph, seen).learned_.choice.lam
        assert lam == pytest.approx((LAMBDA * max(LEAST_LABELED, (seen >= 0).mean()),))
    assert pine_with(epochs=0, lam=2).fit(graph, labels).learned_.choice.lam == (2.0,)
    assert given_lambdas((1, 2)) == (1.0, 2.0)


def test_scores_of_nodes_are_those_whose_mean_is_the_score():
    labels = read_labels(GRAPH, {"a": np.array([0, 1, 1])}).some(np.array([False, True, True]))
    predicted = np.array([[0.8, 0.2], [0.1, 0.9]], np.float32)
    assert held_out_score(labels, predicted) == node_scores(labels, predicted).mean() == 0.5


def test_of_several_parts_each_node_has_what_was_made_without_its_label():
    labels = read_labels(Graph.from_edges([(k, k + 1) for k in range(4)]), np.array([0, 1, 1, 0, 1]))
    held = HeldOutParts(labels, [np.array([0, 1, 0, 0, 0], bool), np.array([0, 0, 0, 1, 1], bool)])
    assert held.held_out.known.tolist() == [1, 3, 4]
    assert held.joined([np.arange(5), 10 * np.arange(5)]).tolist() == [1, 30, 40]
    assert held.first(1).joined([np.arange(5)]).tolist() == [1]


def test_clearly_better_is_a_mean_beyond_its_standard_error():
    rng = np.random.default_rng(0)
    ours = rng.random(100)
    assert not clearly_better(ours, ours)
    assert clearly_better(ours + 0.01, ours)
    noise = rng.standard_normal(100)
    noise -= noise.mean()
    assert not clearly_better(ours + noise + 0.09 * noise.std(), ours)
    assert clearly_better(ours + noise + 0.11 * noise.std(), ours)


def test_a_choice_is_saved_and_read_back():
    for made in (Choice((1.0,), 5, 0.5, 0.35), Choice((1.0, 2.0), 7, 0.25, stand_in=(0.0, 0.25, 0.75))):
        assert Choice.from_json(made.as_json()) == made


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


@pytest.mark.parametrize(
    ("informative", "changed", "settings", "expected"),
    [
        ("features", {}, {}, []),
        ("features", {"UNTRAINED": np.inf}, {}, ["choice 0"]),
        ("features", {"MANY_HELD_OUT": 80}, {}, []),  # of 200 labels 80 are held out
        ("features", {"MANY_HELD_OUT": 79}, {}, ["choice 0"]),
        ("features", {}, {"start": "random"}, ["choice 0"]),  # says nothing before it is trained
        ("features", {}, {"task": "numbers"}, ["choice 0"]),
        ("edges", {}, {}, ["choice 0", "choice 1"]),
    ],
)
def test_structure_is_trained_to_be_weighed_only_where_it_may_matter(
    monkeypatch, informative, changed, settings, expected
):
    for name, value in changed.items():
        monkeypatch.setattr(choice, name, value)
    settings = {"task": "classes"} | settings
    task = settings.pop("task")
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2, 200)
    edges = rng.integers(0, 200, (400, 2))
    if informative == "edges":
        edges = np.array([(a, b) for a, b in rng.integers(0, 200, (3000, 2)) if values[a] == values[b]])
    features = rng.normal(size=(200, 3)) + 4 * (informative == "features") * values[:, None]
    graph = Graph.from_edges(edges, nodes=range(200), features=features)
    stages: list[str] = []
    writer = Checkpoint.writer

    def noting(self: Checkpoint, stage: str, *rest: Any) -> Any:
        stages.append(stage)
        return writer(self, stage, *rest)

    done: list[tuple[int, int]] = []
    with mock.patch.object(Checkpoint, "writer", noting):
        model = pine_with(dim=8, epochs=20, **settings)
        model.fit(graph, values, task=task, progress=lambda now, whole, what: done.append((now, whole)))
    assert [stage for stage in stages if stage.startswith("choice")] == expected
    assert done[-1][0] == done[-1][1], "what is not trained is not waited for"


@pytest.mark.parametrize(("task", "share"), [("classes", 5), ("numbers", 2)])
def test_numbers_are_chosen_for_after_half_of_the_epochs(task, share):
    graph = Graph.from_edges([(k, (k + 1) % 40) for k in range(40)])
    values = np.where(np.arange(40) < 30, np.arange(40) % 2, -1 if task == "classes" else np.nan)
    planned: list[int] = []
    model = PINE(dim=4, epochs=20, threads=1)
    model.fit(graph, values, task=task, progress=lambda done, whole, what: planned.append(whole))
    assert planned[0] == 2 * 20 // share


def test_structure_is_trained_only_where_it_has_a_say_beside_features():
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3)], features=np.ones((4, 2)))
    trainer: Any = SimpleNamespace(graph=graph, labels=read_labels(graph, [0, 1, 0, 1]))
    for weights, has_say in (((0.0, 1.0, 0.0), False), ((0.0, 0.0, 1.0), False), ((0.25, 0.0, 0.75), True)):
        made = choice._weighted(trainer, Choice((1.0,), 5), weights)
        assert (made.weights, made.uses_structure, made.epochs) == (weights, has_say, 5 if has_say else 0)


@pytest.mark.parametrize("may_rest", [True, False])
def test_structure_is_weighed_untrained_where_training_does_harm(monkeypatch, may_rest):
    values = np.arange(40) % 2
    graph = Graph.from_edges([(k, (k + 1) % 40) for k in range(40)], features=np.ones((40, 1)))
    held = HeldOutParts(read_labels(graph, values), [np.arange(40) % 2 == k for k in range(2)])
    right = np.eye(2, dtype=np.float32)[values]
    nothing = PropagatedLabels(np.zeros_like(right), np.zeros((40, 1), bool))
    weighed: list[np.ndarray] = []

    class Noting:
        def __init__(self, held: Any, graph: Any, propagated: Any, by_structure: Any, *rest: Any) -> None:
            weighed[:] = by_structure

        def structure_may_matter(self) -> bool:
            return True

        def chosen(self) -> Any:
            return SimpleNamespace(weights=STRUCTURE)

        def stand_in(self) -> None:
            return None

    monkeypatch.setattr(choice, "Weighing", Noting)
    monkeypatch.setattr(HeldOutParts, "propagated", lambda self, propagator: [nothing] * 2)
    monkeypatch.setattr(choice, "_feature_predictions", lambda features, held: [[right, right]] * 2)
    parts = choice.PartPredictions(at_rest=right, trained=right[::-1], train_fully=lambda: right[::-1])
    monkeypatch.setattr(choice, "_part_predictions", lambda *given: parts)
    settings = SimpleNamespace(training=SimpleNamespace(start="random"))
    trainer: Any = SimpleNamespace(graph=graph, propagator=None, settings=settings)
    made = choice._choose_with_features(trainer, trainer, held, Choice((1.0,), 5), (0.0,), may_rest)
    assert made.epochs == (0 if may_rest else 5)
    assert [each is parts.at_rest for each in weighed] == [may_rest] * 2


RIGHT, HALF, WRONG = 10, 5, 0  # of ten held-out labels


@pytest.mark.parametrize(
    ("at_rest", "fifth", "whole", "may_rest", "rests", "looks"),
    [
        (HALF, RIGHT, WRONG, True, False, False),
        (HALF, HALF, WRONG, True, False, False),  # level: training it is
        (RIGHT, HALF, HALF, True, True, True),
        (RIGHT, HALF, WRONG, True, True, True),
        (HALF, WRONG, RIGHT, True, False, True),  # a fifth was too little
        (RIGHT, WRONG, RIGHT, True, False, True),
        (RIGHT, WRONG, WRONG, False, False, False),
    ],
)
def test_training_is_left_out_only_where_all_of_it_is_behind_none(at_rest, fifth, whole, may_rest, rests, looks):
    looked: list[int] = []

    def predicted(right: int) -> Any:
        return np.eye(2, dtype=np.float32)[(np.arange(10) >= right).astype(int)]

    labels = read_labels(Graph.from_edges([(0, 1)], nodes=range(11)), np.array([0] * 10 + [1]))
    held = HeldOutParts(labels.some(np.arange(11) < 10), [np.ones(10, bool)])

    def train_fully() -> np.ndarray:
        looked.append(1)
        return predicted(whole)

    part = choice.PartPredictions(predicted(at_rest), predicted(fifth), train_fully)
    nothing = PropagatedLabels(predicted(RIGHT), np.zeros((10, 1), bool))
    made = choice._choose_training(held, [nothing], [part], Choice((1.0,), 5), (0.0,), may_rest)
    assert (made.epochs == 0, bool(looked)) == (rests, looks)
    seen = at_rest if rests else whole if looks else fifth
    assert made.score == seen / 10, "the score of what is chosen"


def test_the_share_is_that_of_what_is_chosen():
    """Propagated labels are right where vectors are wrong: with them a share is worth it, without them none."""
    labels = read_labels(Graph.from_edges([(0, 1)], nodes=range(10)), np.arange(10) % 2)
    held = HeldOutParts(labels, [np.ones(10, bool)])
    right = np.eye(2, dtype=np.float32)[labels.values]
    sure, unsure = 0.2 + 0.6 * right, 0.55 - 0.1 * right
    propagated = [PropagatedLabels(right, np.ones((10, 1), bool))]
    half = np.where(np.arange(10)[:, None] < 5, unsure, 1 - right)  # right in half of the nodes, with a share
    for at_rest, whole, rests in ((sure, 1 - right, True), (sure, half, True), (sure, unsure, False)):
        part = choice.PartPredictions(at_rest, 1 - right, partial(np.asarray, whole))
        made = choice._choose_training(held, propagated, [part], Choice((1.0,), 5), (0.0, 0.2), True)
        assert (made.epochs == 0, made.label_share) == (rests, 0.0 if rests else 0.2)


def some_graph() -> tuple[Graph, np.ndarray]:
    rng = np.random.default_rng(0)
    label = np.arange(60) % 3
    edges = [(a, b) for a, b in rng.integers(0, 60, (400, 2)) if label[a] == label[b] or rng.random() < 0.2]
    return Graph.from_edges(edges, nodes=range(60)), label


def test_what_is_drawn_after_a_full_look_is_what_would_be_drawn_without(monkeypatch):
    graph, label = some_graph()
    without = pine_with(dim=8, label_share=0.0).fit(graph, label).embedding_
    answers = iter([True, False])
    monkeypatch.setattr(choice, "clearly_better", lambda *given: next(answers))
    planned: list[tuple[int, int]] = []
    model = pine_with(dim=8, label_share=0.0)
    model.fit(graph, label, progress=lambda done, whole, what: planned.append((done, whole)))
    np.testing.assert_array_equal(model.embedding_, without)
    assert next(answers, None) is None, "both comparisons were made"
    assert planned[-1][0] == planned[-1][1] == 2 * 30 + 2 * 150 + 150


def test_what_is_compared_at_rest_is_what_a_fit_without_training_predicts(monkeypatch):
    graph, label = some_graph()
    monkeypatch.setattr(theta, "REST_DECAY", 0.12)  # as with many labels: another decay than before training
    found: list[np.ndarray] = []
    theta_is_back: list[bool] = []
    own = Trainer.predictions_at_rest

    def noting(trainer: Any, objective: Any) -> Any:
        before = objective.w.detach().clone(), objective.b.detach().clone()
        found.append(own(trainer, objective))
        theta_is_back.append(all(map(torch.equal, before, (objective.w, objective.b))))
        return found[-1]

    monkeypatch.setattr(Trainer, "predictions_at_rest", noting)
    parts: list[HeldOutParts] = []
    of = HeldOutParts.of

    def keeping(*given: Any) -> HeldOutParts:
        parts.append(of(*given))
        return parts[-1]

    monkeypatch.setattr(HeldOutParts, "of", keeping)
    pine_with(dim=8, label_share=0.0).fit(graph, label)
    assert theta_is_back == [True, True]
    for held, predicted in zip(parts[0].parts, found, strict=True):
        seen = np.where(held, -1, label)
        resting = pine_with(dim=8, label_share=0.0, epochs=0).fit(graph, seen)
        np.testing.assert_allclose(predicted, resting.predict_proba(), atol=1e-3)
