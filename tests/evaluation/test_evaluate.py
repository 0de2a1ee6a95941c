"""Scores: accuracy and F1 as defined, classifiers on frozen vectors, and the whole run on real data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from sklearn.metrics import f1_score

import pine
from pine import Graph, InputError
from pine.baselines import LabelPropagation
from pine.embedder import Embedder, Fitted
from pine.evaluation import evaluate, scores_of
from pine.evaluation.classifier import classify
from pine.labels import Labels, read_labels


def labels_of(values, task) -> Labels:
    values = np.asarray(values)
    classes = np.arange(values.shape[1] if values.ndim == 2 else values.max() + 1)
    return Labels(task, "node", np.arange(len(values)), values, classes)


def test_accuracy_is_the_share_of_right_classes_among_the_test_nodes_and_macro_f1_an_average_over_classes():
    labels = labels_of([0, 1, 2, 1], "classes")
    scores = np.array([[0.9, 0.1, 0], [0.9, 0.1, 0], [0, 0, 1], [0, 1, 0]])
    found = scores_of(labels, np.array([1, 2, 3]), scores)
    assert found == {"accuracy": pytest.approx(2 / 3), "macro_f1": pytest.approx((0 + 2 / 3 + 1) / 3)}


def test_a_label_is_given_when_its_probability_is_at_least_a_half():
    truth = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1]])
    scores = np.array([[0.5, 0.49, 0.1], [0.9, 0.4, 0.6], [0.1, 0.3, 0.49]])
    found = scores_of(labels_of(truth, "label-sets"), np.arange(3), scores)
    given = [[1, 0, 0], [1, 0, 1], [0, 0, 0]]
    assert found["micro_f1"] == pytest.approx(f1_score(truth, given, average="micro"))
    assert found["macro_f1"] == pytest.approx(f1_score(truth, given, average="macro", zero_division=0))


def test_oracle_k_gives_each_node_as_many_labels_as_it_truly_has():
    truth = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0]])
    scores = np.array([[0.3, 0.2, 0.1], [0.4, 0.3, 0.2], [0.9, 0.8, 0.7]])
    found = scores_of(labels_of(truth, "label-sets"), np.arange(3), scores)
    assert found["oracle_k_micro_f1"] == 1.0


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


def test_logistic_regression_never_sees_the_other_labels_and_answers_for_every_class():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 3, 200)
    vectors = np.eye(3)[values] + 0.1 * rng.standard_normal((200, 3))
    labels = Labels("classes", "node", np.arange(60), values[:60], np.arange(3))
    probabilities = classify(vectors, labels)
    assert probabilities.shape == (200, 3)
    assert (probabilities.argmax(axis=1) == values).mean() > 0.98


def test_logistic_regression_is_blind_to_a_shift_a_scale_and_a_rotation_of_the_vectors():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 3, 200)
    # Columns of very different sizes: scaled one by one, noise would count as much as what tells classes apart.
    vectors = (np.eye(3)[values] @ rng.standard_normal((3, 8)) + rng.standard_normal((200, 8))) * 0.5 ** np.arange(8)
    labels = Labels("classes", "node", np.arange(100), values[:100], np.arange(3))
    rotation = np.linalg.qr(rng.standard_normal((8, 8))).Q
    moved = 1000 * (vectors @ rotation) + rng.standard_normal(8)
    np.testing.assert_allclose(classify(moved, labels), classify(vectors, labels), atol=2e-3)


def test_logistic_regression_learns_label_sets_also_with_a_label_that_nobody_has():
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((300, 4))
    sets = np.column_stack([vectors[:, 0] > 0, vectors[:, 1] > 0, np.zeros(300)]).astype(np.uint8)
    labels = Labels("label-sets", "node", np.arange(150), sets[:150], np.arange(3))
    given = classify(vectors, labels) >= 0.5
    assert (given == sets).mean() > 0.95


def test_logistic_regression_on_a_single_class_says_that_class():
    labels = Labels("classes", "node", np.arange(9), np.ones(9, int), np.arange(3))
    assert (classify(np.random.default_rng(0).random((20, 2)), labels).argmax(axis=1) == 1).all()


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
        tasks: ClassVar[tuple[str, ...]] = ("numbers",)

    with pytest.raises(InputError, match="only-numbers learns 'numbers'; the labels of cora are 'classes'"):
        evaluate(pine.datasets.load("cora"), {"only-numbers": OnlyNumbers}, [0.5], 1)


def test_read_labels_takes_the_labels_of_every_data_set_as_they_are():
    data = pine.datasets.load("cora")
    labels = read_labels(data.graph, data.labels)
    assert labels.num_outputs == 7
    assert isinstance(data.graph, Graph)
