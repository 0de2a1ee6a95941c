"""Logistic regression on blocks of features side by side, X_1 W_1 + X_2 W_2 + ... + b, by L-BFGS.

It lowers (sum of losses over rows) + l2 / 2 (sum of squares of every W_i), which is convex. A loss is the cross-entropy
for classes, that of every label for label sets, and half the squared error for numbers: ridge regression.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax
from threadpoolctl import threadpool_limits

from pine.baselines.link_based.features import Product
from pine.labels import Task

Array = NDArray[np.float64]
MAX_STEPS = 300  # nearly converged weights classify as well


@dataclass(frozen=True, eq=False)
class BlockRegression:
    """Weights of the columns of each block (num_columns, num_outputs), and the bias (num_outputs,)."""

    weights: list[Array]
    bias: Array

    @classmethod
    def fit(cls, blocks: Sequence[Product], targets: Array, task: Task, l2: float) -> BlockRegression:
        """Learn targets (num_rows, num_outputs), one row for each row of the blocks."""
        outputs = targets.shape[1]
        bounds = [0, *accumulate(block.num_columns for block in blocks)]

        def regression(flat: Array) -> BlockRegression:
            rows = flat.reshape(-1, outputs)
            return cls([rows[low:high] for low, high in pairwise(bounds)], rows[-1])

        def loss(flat: Array) -> tuple[float, Array]:
            value, residual = _loss(task, regression(flat).raw(blocks), targets)
            gradient = np.vstack([*(block.transposed_times(residual) for block in blocks), residual.sum(axis=0)])
            penalized = flat.copy()
            penalized[-outputs:] = 0  # not the bias
            value += 0.5 * l2 * float(penalized @ penalized)
            # Divided by the number of rows, so that L-BFGS stops at the same precision for few and for many.
            return value / len(targets), (gradient.ravel() + l2 * penalized) / len(targets)

        start = np.zeros((bounds[-1] + 1) * outputs)
        with threadpool_limits(1):  # its products are sparse, and for the rest threads cost more than they give
            found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": MAX_STEPS, "maxfun": 10_000})
        return regression(found.x)

    def raw(self, blocks: Sequence[Product]) -> Array:
        """(num_rows, num_outputs), before softmax."""
        return sum((block.times(w) for block, w in zip(blocks, self.weights, strict=True)), self.bias)


def probabilities(task: Task, raw: Array) -> Array:
    """Scores of classes and label sets; numbers are as they are."""
    if task == "classes":
        return np.asarray(softmax(raw, axis=1))
    return np.asarray(expit(raw)) if task == "label-sets" else raw


def _loss(task: Task, raw: Array, targets: Array) -> tuple[float, Array]:
    """The sum of losses, and its gradient in raw."""
    residual = probabilities(task, raw) - targets
    if task == "classes":
        return -float((targets * log_softmax(raw, axis=1)).sum()), residual
    if task == "label-sets":
        return float((np.logaddexp(0, raw) - targets * raw).sum()), residual
    return 0.5 * float((residual**2).sum()), residual
