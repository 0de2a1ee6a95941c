"""Logistic regression on frozen vectors, its C chosen by cross-validation on the training labels alone."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from threadpoolctl import threadpool_limits

from pine.errors import InputError
from pine.labels import Labels
from pine.metrics import accuracy, micro_f1

C_GRID = (0.001, 0.01, 0.1, 1.0, 10.0)
C_FOLDS = 3  # of the cross-validation that chooses C


def classify(vectors: NDArray[Any], labels: Labels, seed: int = 0) -> NDArray[np.float64]:
    """Probabilities of all classes for all nodes of the labeled type: (count, num_classes).

    One grid of C fits methods of any scale: vectors (count, dim) are centered and divided by one number. Columns keep
    their proportions, and a rotation of the vectors changes nothing.
    """
    if labels.task == "numbers":
        raise InputError("logistic regression predicts classes and label sets; these labels are numbers")
    vectors = scaled(vectors)
    x, y = vectors[labels.known], labels.values
    with threadpool_limits(1):  # products are so small that threads cost more than they give
        return _probabilities(_trained(x, y, best_c(x, y, seed)), vectors, labels)


def scaled(vectors: NDArray[Any]) -> NDArray[np.float64]:
    """Vectors as they enter a regression: centered, and divided by one number."""
    x = vectors - vectors.mean(axis=0, dtype=np.float64)
    deviation = x.std()
    return np.asarray(x / deviation if deviation > 0 else x)


def best_c(x: NDArray[Any], y: NDArray[Any], seed: int) -> float:
    """The C of the best validation score, summed over the folds; 1 where there are too few labels for folds."""
    if len(x) < 2 * C_FOLDS:
        return 1.0
    found = np.zeros(len(C_GRID))
    for train, valid in KFold(C_FOLDS, shuffle=True, random_state=seed).split(x):
        for i, c in enumerate(C_GRID):
            predicted = _trained(x[train], y[train], c).predict(x[valid])
            found[i] += accuracy(y[valid], predicted) if y.ndim == 1 else micro_f1(y[valid], predicted)
    return C_GRID[int(found.argmax())]


class _Constant:
    """The classifier for training labels of a single class."""

    def __init__(self, value: Any) -> None:
        self.classes_ = np.array([value])

    def predict(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.repeat(self.classes_, len(x))

    def predict_proba(self, x: NDArray[Any]) -> NDArray[np.float64]:
        return np.ones((len(x), 1))


def _trained(x: NDArray[Any], y: NDArray[Any], c: float) -> Any:
    if y.ndim == 1 and (y == y[0]).all():
        return _Constant(y[0])
    regression = LogisticRegression(C=c, max_iter=300)
    model = regression if y.ndim == 1 else OneVsRestClassifier(regression)
    with warnings.catch_warnings():
        # Nearly converged weights classify as well; a label that all or no nodes have is a constant, as it should be.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="Label .* is present in all|Label not .* is present in all")
        return model.fit(x, y)


def _probabilities(model: Any, vectors: NDArray[Any], labels: Labels) -> NDArray[np.float64]:
    given = model.predict_proba(vectors)
    if labels.task == "label-sets":
        return np.asarray(given)
    scores = np.zeros((len(vectors), labels.num_outputs))
    scores[:, model.classes_] = given
    return scores
