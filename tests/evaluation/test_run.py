"""The whole run on real data: what is fitted, what is scored, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import pine
from pine import Graph, InputError
from pine.baselines import LabelPropagation
from pine.embedder import Embedder, Fitted
from pine.evaluation import evaluate
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
