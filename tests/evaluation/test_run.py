"""The whole run on real data: what is fitted, what is scored, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from support.inductive import planted

import pine
from pine import Graph, InputError
from pine.baselines import MLP, LabelPropagation
from pine.embedder import Embedder, Fitted
from pine.evaluation import Result, evaluate
from pine.labels import Task, read_labels


@dataclass
class Smoothed(Embedder):
    """Random vectors smoothed over the graph: an unsupervised method for these tests."""

    name: ClassVar[str] = "smoothed"
    supervised: ClassVar[bool] = False
    fits: ClassVar[int] = 0
    seed: int | None = None

    def _fit(self, graph, labels, rng):
        Smoothed.fits += 1
        assert labels is None
        adjacency = graph.adjacency().to_scipy().astype(float)
        scale = 1 / np.sqrt(np.maximum(adjacency.sum(axis=1), 1))
        normalized = adjacency.multiply(scale[:, None]).multiply(scale[None, :]).tocsr()
        vectors = rng.standard_normal((graph.num_nodes, 64))
        for _ in range(4):
            vectors = normalized @ vectors + 0.1 * vectors
        return Fitted(vectors.astype(np.float32))


def test_vectors_of_unsupervised_methods_are_made_once_a_repeat_and_scored_by_logistic_regression():
    Smoothed.fits = 0
    results = list(evaluate(pine.datasets.load("cora"), {"smoothed": Smoothed}, [0.1, 0.5], 2))
    assert Smoothed.fits == 2
    assert [(result.ratio, result.repeat) for result in results] == [(0.1, 0), (0.5, 0), (0.1, 1), (0.5, 1)]
    half = [result.scores["accuracy"] for result in results if result.ratio == 0.5]
    assert min(half) > 0.5


def test_label_propagation_on_cora_scores_what_it_should():
    results = list(evaluate(pine.datasets.load("cora"), {"lp": LabelPropagation}, [0.1, 0.5, 0.9], 5))
    means = [np.mean([r.scores["accuracy"] for r in results if r.ratio == ratio]) for ratio in (0.1, 0.5, 0.9)]
    np.testing.assert_allclose(means, [0.78, 0.85, 0.88], atol=0.015)


def test_label_propagation_runs_on_label_sets_of_a_typed_graph(need_data):
    need_data("dblp-author-term.npz")
    (result,) = evaluate(pine.datasets.load("dblp"), {"lp": LabelPropagation}, [0.5], 1)
    assert set(result.scores) == {"micro_f1", "macro_f1", "oracle_k_micro_f1", "oracle_k_macro_f1"}
    assert result.scores["oracle_k_micro_f1"] > 0.6


def test_results_are_flat_objects():
    result = next(evaluate(pine.datasets.load("cora"), {"lp": LabelPropagation}, [0.5], 1))
    assert list(result.as_json()) == ["dataset", "method", "ratio", "repeat", "accuracy", "macro_f1", "seconds"]


def test_a_method_that_does_not_fit_the_labels_is_refused_before_anything_runs():
    @dataclass
    class OnlyNumbers(LabelPropagation):
        name: ClassVar[str] = "only-numbers"
        tasks: ClassVar[tuple[Task, ...]] = ("numbers",)

    with pytest.raises(InputError, match="only-numbers learns 'numbers'; the labels of cora are 'classes'"):
        evaluate(pine.datasets.load("cora"), {"only-numbers": OnlyNumbers}, [0.5], 1)


def test_read_labels_takes_the_labels_of_every_data_set_as_they_are():
    data = pine.datasets.load("cora")
    labels = read_labels(data.graph, data.labels)
    assert labels.num_outputs == 7
    assert isinstance(data.graph, Graph)


@dataclass
class Recorder(LabelPropagation):
    """Label propagation that remembers what it was given."""

    name: ClassVar[str] = "recorder"
    seen: ClassVar[list] = []

    def _fit_with(self, graph, labels, rng, options):
        Recorder.seen.append((graph, labels, options.validation))
        return super()._fit_with(graph, labels, rng, options)


@pytest.fixture
def recorder(monkeypatch):
    monkeypatch.setattr(Recorder, "seen", [])
    return {"recorder": Recorder}


def test_on_the_public_split_methods_learn_from_training_labels_and_choose_by_validation_labels(recorder):
    data = planted(single=True)
    results = list(evaluate(data, recorder, ["public", 0.5], 2))
    assert [(result.ratio, result.repeat) for result in results] == [("public", 0), (0.5, 0), ("public", 1), (0.5, 1)]
    for _, labels, validation in Recorder.seen[::2]:
        assert labels.known.tolist() == data.splits["train"].tolist()
        assert validation.known.tolist() == data.splits["val"].tolist()
        assert validation.classes[validation.values].tolist() == data.labels[data.splits["val"]].tolist()
    assert all(validation is None for _, _, validation in Recorder.seen[1::2])
    test = data.splits["test"]
    shown = {int(node): int(data.labels[node]) for node in data.splits["train"]}
    predicted = LabelPropagation().fit(data.graph, shown).predict()
    assert results[0].scores["accuracy"] == pytest.approx((predicted == data.labels)[test].mean())


def test_vectors_are_scored_on_the_test_nodes_of_the_public_split(monkeypatch):
    data, seen = planted(single=True), []
    wrong = data.labels.copy()
    wrong[data.splits["test"]] = (wrong[data.splits["test"]] + 1) % 4

    def classify(vectors, labels, seed):
        seen.append(labels)
        return np.eye(4)[wrong]

    monkeypatch.setattr("pine.evaluation.run.classify", classify)
    (result,) = evaluate(data, {"smoothed": Smoothed}, ["public"], 1)
    assert seen[0].known.tolist() == data.splits["train"].tolist()
    assert result.scores["accuracy"] == 0  # all others are right


def test_a_class_that_no_training_node_has_is_never_predicted_and_moves_no_other():
    data = planted(single=True)
    seen = {part: nodes[data.labels[nodes] != 1] for part, nodes in data.splits.items()} | {"test": data.splits["test"]}
    (result,) = evaluate(replace(data, splits=seen), {"lp": LabelPropagation}, ["public"], 1)
    shown = {int(node): int(data.labels[node]) for node in seen["train"]}
    predicted = LabelPropagation().fit(data.graph, shown).predict()
    assert set(predicted.tolist()) == {0, 2, 3}
    assert result.scores["accuracy"] == pytest.approx((predicted == data.labels)[seen["test"]].mean())


def test_methods_get_features_where_they_are_asked_for_and_results_say_so(recorder):
    data = planted(single=True)
    (muted,) = evaluate(data, recorder, [0.5], 1)
    (featured,) = evaluate(data, recorder, [0.5], 1, features=True)
    assert [list(graph.features) for graph, _, _ in Recorder.seen] == [[], ["node"]]
    assert "features" not in muted.as_json()
    assert featured.as_json()["features"] is True
    assert muted.key != featured.key
    assert not list(evaluate(data, recorder, [0.5], 1, done={featured.key}, features=True))
    assert list(evaluate(data, recorder, [0.5], 1, done={featured.key}))


def test_a_run_is_read_as_it_was_written(recorder):
    run = next(evaluate(planted(single=True), recorder, ["public"], 1, features=True))
    assert Result.from_json(run.as_json()).as_json() == run.as_json()
    assert Result.from_json(run.as_json()).key == run.key


def test_what_a_data_set_does_not_have_is_refused_before_anything_runs(recorder):
    cora = pine.datasets.load("cora")
    with pytest.raises(InputError, match="cora has no public split"):
        evaluate(cora, recorder, ["public"], 1)
    with pytest.raises(InputError, match="'cora' has no node attributes"):
        evaluate(cora, recorder, [0.5], 1, features=True)
    with pytest.raises(InputError, match="mlp learns from node features, and gets none here"):
        evaluate(cora, recorder | {"mlp": MLP}, [0.5], 1)
    with pytest.raises(InputError, match="between 0 and 1"):
        evaluate(cora, recorder, [1.5], 1)
    assert not Recorder.seen


def numbered():
    """A number for each node, near those of its neighbors."""
    data = planted(single=True)
    ring = Graph.from_edges([(i, (i + step) % 400) for i in range(400) for step in (1, 2)], nodes=range(400))
    return replace(data, graph=ring, labels=np.sin(np.arange(400) / 20).astype(np.float32), label_names=())


def test_numbers_are_scored_by_their_error_on_random_and_public_splits():
    specs = ["label-propagation", "pine:epochs=20:dim=8:threads=1"]
    for ratio in ("public", 0.5):
        results = list(evaluate(numbered(), specs, [ratio], 1))
        assert [set(result.scores) for result in results] == [{"rmse", "r2"}] * 2
        if ratio != "public":
            assert all(result.scores["r2"] > 0.8 for result in results)


def test_methods_that_give_vectors_alone_are_refused_for_numbers_before_anything_runs():
    with pytest.raises(InputError, match="smoothed gives vectors alone, and logistic regression on them predicts no"):
        evaluate(numbered(), {"smoothed": Smoothed}, [0.5], 1)
