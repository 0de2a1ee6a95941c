"""Accuracy, F1, RMSE and R2: the only copy.

    F1 = 2 hits / (number given + number true)

A label of a label set is given where its probability is at least .5. Micro F1 pools all labels, and of classes it is
their accuracy; macro F1 is the mean over labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine.labels import Labels


def f1(hits: float, given: float, true: float) -> float:
    """F1 from counts of labels: rightly given, given, and true; 0 where nothing is given and nothing true."""
    return 2 * hits / max(1.0, given + true)


def accuracy(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    """The share of nodes whose class (n,) is right."""
    return float((predicted == truth).mean())


def micro_f1(truth: NDArray[Any], given: NDArray[Any]) -> float:
    """Of label sets (n, num_labels) of 0 and 1."""
    true, given = truth.astype(bool), given.astype(bool)
    return f1(float((given & true).sum()), float(given.sum()), float(true.sum()))


def macro_f1(truth: NDArray[Any], given: NDArray[Any]) -> float:
    """The mean F1 over the labels of label sets (n, num_labels), or over the classes (n,) that occur in either."""
    if truth.ndim == 1:
        classes = np.union1d(truth, given)
        truth, given = truth[:, None] == classes, given[:, None] == classes
    true, given = truth.astype(bool), given.astype(bool)
    counts = zip(
        (given & true).sum(axis=0).tolist(), given.sum(axis=0).tolist(), true.sum(axis=0).tolist(), strict=True
    )
    return float(np.mean([f1(*each) for each in counts]))


def rmse(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    """The root of the mean squared error of numbers (n,)."""
    return float(np.sqrt(np.mean((predicted - truth) ** 2)))


def r2(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    """1 - squared error / variance; 0 for numbers that are all the same."""
    variance = float(np.mean((truth - truth.mean()) ** 2))
    return 1 - float(np.mean((predicted - truth) ** 2)) / variance if variance > 0 else 0.0


def held_out_score(labels: Labels, predicted: NDArray[np.float32]) -> float:
    """How good predictions (num_known, num_outputs) of held-out labels are: accuracy, micro F1 or -squared error."""
    if labels.task == "classes":
        return accuracy(labels.values, predicted.argmax(axis=1))
    if labels.task == "label-sets":
        return micro_f1(labels.values, predicted >= 0.5)
    return -float(np.mean((predicted[:, 0] - labels.values) ** 2))


def node_scores(labels: Labels, predicted: NDArray[np.float32]) -> NDArray[np.float64]:
    """The same node by node: right or not, F1 of a label set, -squared error."""
    if labels.task == "classes":
        return np.asarray(predicted.argmax(axis=1) == labels.values, np.float64)
    if labels.task == "numbers":
        return np.asarray(-np.square(predicted[:, 0] - labels.values), np.float64)
    true, found = labels.values.astype(bool), predicted >= 0.5
    number = found.sum(axis=1) + true.sum(axis=1)
    return np.asarray(np.where(number > 0, 2 * (found & true).sum(axis=1) / np.maximum(1, number), 1.0))


def scores_of(labels: Labels, test: NDArray[np.int64], scores: NDArray[Any]) -> dict[str, float]:
    """Score the columns of all classes (count, num_classes), or numbers (count, 1), at the test nodes."""
    truth = labels.values[np.searchsorted(labels.known, test)]
    given = scores[test]
    if labels.task == "classes":
        found = given.argmax(axis=1)
        return {"accuracy": accuracy(truth, found), "macro_f1": macro_f1(truth, found)}
    if labels.task == "numbers":
        return {"rmse": rmse(truth, given[:, 0]), "r2": r2(truth, given[:, 0])}
    # The true number of labels is not known to anyone in practice: a column of its own, never the headline.
    oracle = _top_k(given, truth.sum(axis=1))
    return {
        "micro_f1": micro_f1(truth, given >= 0.5),
        "macro_f1": macro_f1(truth, given >= 0.5),
        "oracle_k_micro_f1": micro_f1(truth, oracle),
        "oracle_k_macro_f1": macro_f1(truth, oracle),
    }


def _top_k(scores: NDArray[Any], k: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Each row's k best labels, as many as it truly has."""
    rank = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1, kind="stable")
    return np.asarray(rank < k[:, None])
