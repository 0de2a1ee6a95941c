"""The terms of the objective: (1 / lambda |V|) sum of ||x_v - f(N_v)||^2  +  (1 / |V_label|) sum of l(x_v, y_v).

Every term is a mean over nodes, (..., num_nodes, any) to (...): leading dimensions are models trained side by side.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from pine.errors import InputError
from pine.nn.functional import softmax


def agreement(x: Tensor, f: Tensor, lam: float = 1.0) -> Tensor:
    """How far the vectors x (..., num_nodes, d) are from what their neighbors say, f: mean ||x - f||^2 / lambda."""
    if x.shape != f.shape:
        raise InputError(f"x and f must have the same shape, got {tuple(x.shape)} and {tuple(f.shape)}")
    squared = cast(Tensor, _SquaredDistance.apply(x, f))  # type: ignore[no-untyped-call]
    return squared / (lam * x.shape[-2])


class _SquaredDistance(torch.autograd.Function):
    """(x - f).square().sum((-2, -1)), in half as many passes over the arrays as torch's own operations take."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, f: Tensor) -> Tensor:
        difference = x - f
        ctx.save_for_backward(difference)
        squared: Tensor = torch.linalg.vecdot(difference.flatten(-2), difference.flatten(-2))
        return squared

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        (difference,) = ctx.saved_tensors
        dx = difference * (2 * grad[..., None, None])
        return dx, -dx


def class_loss(scores: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
    """-log of the softmax at the label: scores (..., n, num_classes), labels (n,) integers.

    weights (n,), here and below, say how much each node counts.
    """
    _one_each(scores, labels, 1)
    log_p = softmax(scores, log=True)
    return _mean(-log_p.gather(-1, labels.expand(log_p.shape[:-1])[..., None]).squeeze(-1), weights)


def label_set_loss(scores: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
    """Logistic loss, summed over labels: scores (..., n, num_labels), labels (n, num_labels) of 0 and 1."""
    _one_each(scores, labels, 2)
    y = labels.to(scores.dtype).expand(scores.shape)
    return _mean(functional.binary_cross_entropy_with_logits(scores, y, reduction="none").sum(-1), weights)


def number_loss(scores: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
    """Squared error: scores (..., n, k), labels (n, k), or (n,) where k is 1."""
    y = labels[:, None] if labels.ndim == 1 else labels
    _one_each(scores, y, 2)
    return _mean((scores - y).square().sum(-1), weights)


# By the task's name, as in `fit(graph, labels, task=...)`.
LOSSES = {"classes": class_loss, "label-sets": label_set_loss, "numbers": number_loss}


def l2(w: Tensor, rates: Tensor | None = None) -> Tensor:
    """sum of ||w_i||^2 of a classifier's weights (..., num_classes, d); its b_i stay free.

    rates (num_classes, 1): how much each of them counts.
    """
    squared = w.square()
    return (squared if rates is None else squared * rates).sum((-2, -1))


def _mean(each: Tensor, weights: Tensor | None) -> Tensor:
    if weights is None:
        return each.mean(-1)
    return (each * weights).sum(-1) / weights.sum(-1).clamp(min=torch.finfo(weights.dtype).tiny)  # of none it is 0


def _one_each(scores: Tensor, labels: Tensor, ndim: int) -> None:
    want = tuple(scores.shape[scores.ndim - 2 :][:ndim])
    if tuple(labels.shape) != want:
        raise InputError(f"labels must match the scores {tuple(scores.shape)}: shape {want}, got {tuple(labels.shape)}")
