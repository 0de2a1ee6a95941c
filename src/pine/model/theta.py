"""theta, the linear classifier w, b: scores of vectors, and what they say as probabilities or numbers."""

from __future__ import annotations

from torch import Tensor


def scores(vectors: Tensor, w: Tensor, b: Tensor) -> Tensor:
    """w (..., num_outputs, dim) and b (..., 1, num_outputs) on vectors (..., n, dim): (..., n, num_outputs)."""
    return vectors @ w.mT + b


def probabilities(task: str, scores: Tensor) -> Tensor:
    """Softmax for classes, one logistic function a label for label sets, numbers as they are."""
    return scores.softmax(-1) if task == "classes" else scores.sigmoid() if task == "label-sets" else scores


def predictions(task: str, w: Tensor, b: Tensor, x: Tensor, f: Tensor) -> Tensor:
    """The mean of theta on x and theta on f, as probabilities or numbers: (..., n, num_outputs)."""
    return (probabilities(task, scores(x, w, b)) + probabilities(task, scores(f, w, b))) / 2


def entropy(task: str, p: Tensor) -> Tensor:
    """Of each node's distribution (..., n, num_outputs), or summed over its labels: (..., n)."""
    p = p.clamp(1e-7, 1 - 1e-7)
    each = -p * p.log()
    return (each - (1 - p) * (1 - p).log() if task == "label-sets" else each).sum(-1)
