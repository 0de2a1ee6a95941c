"""Accuracy and macro F1 for classes; micro and macro F1 for label sets, a label being given when its probability is at
least .5. Micro F1 of classes is their accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import f1_score

from pine.labels import Labels


def scores_of(labels: Labels, test: NDArray[np.int64], scores: NDArray[Any]) -> dict[str, float]:
    """Score the columns of all classes (count, num_classes), or numbers (count, 1), at the test nodes."""
    truth = labels.values[np.searchsorted(labels.known, test)]
    given = scores[test]
    if labels.task == "classes":
        found = given.argmax(axis=1)
        return {"accuracy": float((found == truth).mean()), "macro_f1": _f1(truth, found, "macro")}
    if labels.task == "numbers":
        return {"rmse": float(np.sqrt(np.mean((given[:, 0] - truth) ** 2)))}
    # The true number of labels is not known to anyone in practice: a column of its own, never the headline.
    oracle = _top_k(given, truth.sum(axis=1))
    return {
        "micro_f1": _f1(truth, given >= 0.5, "micro"),
        "macro_f1": _f1(truth, given >= 0.5, "macro"),
        "oracle_k_micro_f1": _f1(truth, oracle, "micro"),
        "oracle_k_macro_f1": _f1(truth, oracle, "macro"),
    }


def _f1(truth: NDArray[Any], given: NDArray[Any], average: str) -> float:
    return float(f1_score(truth, given, average=average, zero_division=0))


def _top_k(scores: NDArray[Any], k: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Each row's k best labels, as many as it truly has."""
    rank = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1, kind="stable")
    return np.asarray(rank < k[:, None])
