"""The multi-class SVM of Crammer and Singer: min |w|^2 / 2 + C sum over i of max(0, max over j of 1 - (w_y - w_j) x_i).

Solved in its dual, whose alphas MMDW needs: w_j = sum of alpha_ij x_i with sum over j of alpha_ij = 0, alpha_ij <= C
where j is i's own class and <= 0 elsewhere. One node's alphas have a closed form while the others are fixed; nodes take
turns in random order until all gradients agree (the sequential dual method of Keerthi et al., 2008, as in LIBLINEAR).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine._internal.parallel import compiled
from pine.graph.sampling.streams import advanced, below, mixed, stream


def crammer_singer(
    x: NDArray[Any],
    y: NDArray[np.int64],
    num_classes: int,
    cost: float,
    key: int,
    tolerance: float = 0.1,  # LIBLINEAR's; a few dozen rounds reach it on citation graphs
    max_rounds: int = 10_000,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Train on x (count, dim) and classes y (count,): alpha (count, num_classes) and w (num_classes, dim)."""
    alpha, w = np.zeros((len(x), num_classes)), np.zeros((num_classes, x.shape[1]))
    _solve(np.ascontiguousarray(x, np.float64), y, cost, np.uint64(key), tolerance, max_rounds, alpha, w)
    return alpha, w


@compiled
def _solve(
    x: NDArray[Any],
    y: NDArray[Any],
    cost: float,
    key: Any,
    tolerance: float,
    max_rounds: int,
    alpha: NDArray[Any],
    w: NDArray[Any],
) -> None:
    count, num_classes = alpha.shape
    order, gradient, best = np.arange(count), np.empty(num_classes), np.empty(num_classes)
    squares = np.empty(count)
    for i in range(count):
        squares[i] = np.sum(x[i] * x[i])
    for number in range(max_rounds):
        _shuffle(order, stream(key, number))
        worst = 0.0
        for turn in range(count):
            i = order[turn]
            if squares[i] <= 0.0:
                continue
            wrong = _gradients(x[i], y[i], cost, alpha[i], w, gradient)
            worst = max(worst, wrong)
            if wrong <= 1e-12:
                continue
            _best_alphas(gradient, squares[i], y[i], cost, alpha[i], best)
            for j in range(num_classes):
                step = best[j] - alpha[i, j]
                if step != 0.0:
                    alpha[i, j] = best[j]
                    for k in range(x.shape[1]):
                        w[j, k] += step * x[i, k]
        if worst < tolerance:
            break


@compiled
def _shuffle(order: NDArray[Any], state: Any) -> None:
    for last in range(len(order) - 1, 0, -1):
        state = advanced(state)
        other = below(mixed(state), last + 1)
        order[last], order[other] = order[other], order[last]


@compiled
def _gradients(
    x: NDArray[Any], own: int, cost: float, alpha: NDArray[Any], w: NDArray[Any], gradient: NDArray[Any]
) -> float:
    """Gradients w_j x + [j is not the own class], and how far they are from those of the best alphas."""
    largest, smallest = -np.inf, np.inf
    for j in range(len(gradient)):
        total = 0.0 if j == own else 1.0
        for k in range(len(x)):
            total += w[j, k] * x[k]
        gradient[j] = total
        largest = max(largest, total)
        if alpha[j] < (cost if j == own else 0.0):  # can still grow
            smallest = min(smallest, total)
    return float(largest - smallest)


@compiled
def _best_alphas(
    gradient: NDArray[Any], square: float, own: int, cost: float, alpha: NDArray[Any], best: NDArray[Any]
) -> None:
    """alpha_j = min(bound_j, (beta - B_j) / |x|^2), with the beta that makes them sum to zero."""
    free = gradient - square * alpha  # B
    at_bound = free.copy()
    at_bound[own] += square * cost
    at_bound = np.sort(at_bound)[::-1]
    beta, number = at_bound[0] - square * cost, 1
    while number < len(free) and beta < number * at_bound[number]:
        beta += at_bound[number]
        number += 1
    beta /= number
    for j in range(len(free)):
        best[j] = min(cost if j == own else 0.0, (beta - free[j]) / square)
