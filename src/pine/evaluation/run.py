"""Run methods over ratios and repeats of a data set, with hidden labels hidden."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine.datasets import Dataset
from pine.embedder import Embedder
from pine.errors import InputError, listed
from pine.evaluation.classifier import classify
from pine.evaluation.metrics import scores_of
from pine.evaluation.protocol import hide, split
from pine.labels import Labels, read_labels


@dataclass(frozen=True)
class Result:
    """One run: where it belongs, its scores and its seconds."""

    dataset: str
    method: str
    ratio: float
    repeat: int
    scores: dict[str, float]
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """The flat form that `pine evaluate --json` writes."""
        place = {"dataset": self.dataset, "method": self.method, "ratio": self.ratio, "repeat": self.repeat}
        return place | self.scores | {"seconds": round(self.seconds, 3)}


def evaluate(
    data: Dataset, methods: dict[str, type[Embedder]], ratios: Sequence[float], repeats: int
) -> Iterator[Result]:
    """Fit and score every method at every ratio and repeat; the repeat is the method's seed too.

    A method with a classifier of its own is scored by its predictions; of any other the vectors, made once a repeat,
    are scored by logistic regression.
    """
    labels = read_labels(data.graph, data.labels)
    if labels is None:
        raise InputError(f"{data.name} has no labels to score on")
    if repeats < 1:
        raise InputError(f"repeats must be at least 1, got {repeats}")
    for name, method in methods.items():
        if method.supervised and labels.task not in method.tasks:
            raise InputError(f"{name} learns {listed(method.tasks)}; the labels of {data.name} are {labels.task!r}")
    return _runs(data, labels, methods, ratios, repeats)


def _runs(
    data: Dataset, labels: Labels, methods: dict[str, type[Embedder]], ratios: Sequence[float], repeats: int
) -> Iterator[Result]:
    count = data.graph.count(labels.type)
    for name, method in methods.items():
        for repeat in range(repeats):
            vectors, embedding_seconds = None, 0.0
            if not method.supervised:
                start = time.perf_counter()
                vectors = _of_type(_new(method, repeat).fit(data.graph).embedding_, labels.type)
                embedding_seconds = time.perf_counter() - start
            for ratio in ratios:
                parts = split(data.name, labels.known, ratio, repeat)
                shown = hide(labels, parts.train, count)
                start = time.perf_counter()
                if vectors is None:
                    scores = _predictions(method, data, labels, shown, repeat)
                else:
                    visible = read_labels(data.graph, _typed(data, labels.type, shown), labels.task)
                    assert visible is not None
                    scores = _aligned(labels, visible, classify(vectors, visible, seed=repeat))
                seconds = time.perf_counter() - start + embedding_seconds
                yield Result(data.name, name, ratio, repeat, scores_of(labels, parts.test, scores), seconds)


def _new(method: type[Embedder], seed: int) -> Embedder:
    return method().set_params(seed=seed)


def _typed(data: Dataset, type: str, labels: Any) -> Any:
    return labels if len(data.graph.node_types) == 1 else {type: labels}


def _of_type(embedding: Any, type: str) -> NDArray[np.float32]:
    vectors: NDArray[np.float32] = embedding[type] if isinstance(embedding, dict) else embedding
    return vectors


def _predictions(method: type[Embedder], data: Dataset, labels: Labels, shown: Any, seed: int) -> NDArray[Any]:
    model = _new(method, seed).fit(data.graph, _typed(data, labels.type, shown), task=labels.task)
    if labels.task == "numbers":
        return np.asarray(model.predict())[:, None]
    assert model.labels_ is not None
    return _aligned(labels, model.labels_, model.predict_proba())


def _aligned(labels: Labels, visible: Labels, scores: NDArray[Any]) -> NDArray[Any]:
    """Columns for all classes, also those of which no training node was seen."""
    if labels.task != "classes":
        return scores
    assert visible.classes is not None
    wide = np.zeros((len(scores), labels.num_outputs))
    wide[:, visible.classes.astype(np.int64)] = scores
    return wide
