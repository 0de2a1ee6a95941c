"""Logistic regressions on the same vectors, side by side on a GPU: those of all splits, folds and values of C at once.

The reference is `pine.evaluation.logistic_regression`: the same scaling, folds, choice of C and objective. On a CPU the
reference is as fast.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.model_selection import KFold
from torch import Tensor

from pine.evaluation.logistic_regression import C_FOLDS, C_GRID, scaled
from pine.labels import Labels
from pine.metrics import accuracy, micro_f1

MOST_SCORES = 2**26  # of nodes, classes and regressions at once; some ten arrays of them are in memory
MOST_STEPS = 600  # at most; a step that goes too far counts, too
HISTORY = 10  # steps that L-BFGS remembers
SMALL_GRADIENT = 1e-4  # of the largest entry of the gradient, as in the reference
ENOUGH = 1e-4  # of the descent that the slope promises


def classify_all(
    vectors: NDArray[Any], known: Sequence[Labels], seeds: Sequence[int], device: torch.device
) -> list[NDArray[np.float64]]:
    """What classify gives for each of several parts of the labels, which have their classes in common."""
    some = known[0]
    x = torch.tensor(np.column_stack([scaled(vectors), np.ones(len(vectors))]), device=device)
    y = torch.zeros((len(x), some.num_outputs), dtype=x.dtype, device=device)
    for labels in known:
        y[torch.tensor(labels.known)] = torch.tensor(labels.targets(), device=device)
    chosen = _best_cs(x, y, known, seeds)
    whole = [_Problem(labels.known, c) for labels, c in zip(known, chosen, strict=True)]
    return _solved(x, y, whole, some.task == "classes")


@dataclass(frozen=True, eq=False)
class _Problem:
    """A regression on some nodes."""

    nodes: NDArray[np.int64]
    c: float


def _best_cs(x: Tensor, y: Tensor, known: Sequence[Labels], seeds: Sequence[int]) -> list[float]:
    """best_c of every part."""
    folds = {
        part: list(KFold(C_FOLDS, shuffle=True, random_state=seed).split(labels.known))
        for part, (labels, seed) in enumerate(zip(known, seeds, strict=True))
        if len(labels.known) >= 2 * C_FOLDS
    }
    asked = [(part, train, valid) for part in folds for train, valid in folds[part]]
    classes = known[0].task == "classes"
    found = np.zeros((len(known), len(C_GRID)))
    for i, c in enumerate(C_GRID):  # one after another: regressions with one C take about as many steps
        problems = [_Problem(known[part].known[train], c) for part, train, _ in asked]
        for (part, _, valid), scores in zip(asked, _solved(x, y, problems, classes), strict=True):
            truth, given = known[part].values[valid], scores[known[part].known[valid]]
            found[part, i] += accuracy(truth, given.argmax(axis=1)) if classes else micro_f1(truth, given > 0.5)
    return [C_GRID[int(row.argmax())] if part in folds else 1.0 for part, row in enumerate(found)]


def _solved(x: Tensor, y: Tensor, problems: Sequence[_Problem], classes: bool) -> list[NDArray[np.float64]]:
    """Probabilities of all classes at all nodes, for each problem."""
    size = max(1, MOST_SCORES // y.numel())
    found: list[NDArray[np.float64]] = []
    for start in range(0, len(problems), size):
        regressions = _Regressions.of(x, y, problems[start : start + size], classes)
        found += list(regressions.probabilities(_minimum(regressions)).cpu().numpy())
    return found


@dataclass(frozen=True, eq=False)
class _Regressions:
    """The mean loss of some nodes and the penalty of B regressions with weights (B, D, K).

    there: the classes that their nodes have (of label sets: the labels that some have, and others not) (B, 1, K).
    """

    x: Tensor  # (N, D), the last column is one: its weights are not penalized
    y: Tensor  # (N, K)
    share: Tensor  # of each node in the mean (B, N, 1)
    penalty: Tensor  # (B, 1, 1)
    there: Tensor
    classes: bool

    @classmethod
    def of(cls, x: Tensor, y: Tensor, problems: Sequence[_Problem], classes: bool) -> _Regressions:
        share = torch.zeros((len(problems), len(x)), dtype=x.dtype)
        for row, problem in zip(share, problems, strict=True):
            row[torch.from_numpy(problem.nodes)] = 1 / len(problem.nodes)
        share = share.to(x.device)
        mean = share @ y  # of a label that some have and others not, strictly between 0 and 1
        there = mean > 0 if classes else (mean > 0) & (mean < 1 - 1e-9)
        weight = torch.tensor([1 / (p.c * len(p.nodes)) for p in problems], dtype=x.dtype, device=x.device)
        if classes:
            # Of two classes, scikit-learn penalizes the difference of their weights.
            weight = torch.where(there.sum(dim=1) == 2, 2 * weight, weight)
        return cls(x, y, share[:, :, None], weight[:, None, None], there[:, None], classes)

    def value_and_gradient(self, w: Tensor) -> tuple[Tensor, Tensor]:
        """(B,) and (B, D, K)."""
        scores = self._scores(w)
        if self.classes:
            logs = scores.log_softmax(dim=2)
            loss = -(logs.masked_fill(~self.there, 0) * self.y).sum(dim=2, keepdim=True)
            error = logs.exp() - self.y
        else:
            loss = torch.nn.functional.softplus(scores) - scores * self.y
            loss = (loss * self.there).sum(dim=2, keepdim=True)
            error = scores.sigmoid() - self.y
        gradient = self.x.T @ (error * self.share * self.there)
        penalized = w.clone()
        penalized[:, -1] = 0
        value = (loss * self.share).sum(dim=(1, 2)) + (self.penalty * penalized.square()).sum(dim=(1, 2)) / 2
        return value, gradient + self.penalty * penalized

    def probabilities(self, w: Tensor) -> Tensor:
        """(B, N, K); a label that all nodes or none have is a constant."""
        scores = self._scores(w)
        if self.classes:
            return scores.softmax(dim=2)
        constant = (self.share[:, :, 0] @ self.y)[:, None].round()
        return torch.where(self.there, scores.sigmoid(), constant)

    def _scores(self, w: Tensor) -> Tensor:
        scores = self.x @ w
        return scores.masked_fill(~self.there, -torch.inf) if self.classes else scores


def _minimum(regressions: _Regressions) -> Tensor:
    """The weights of all, by L-BFGS; one whose step went too far tries half of it while the others go on."""
    start = torch.zeros(
        (len(regressions.share), regressions.x.shape[1], regressions.y.shape[1]),
        dtype=regressions.x.dtype,
        device=regressions.x.device,
    )
    w, (value, gradient) = start, regressions.value_and_gradient(start)
    step = _each(1 / gradient.abs().sum(dim=(1, 2)).clamp(min=1))
    direction, scale = -gradient, torch.ones_like(step)
    pairs: list[tuple[Tensor, Tensor, Tensor]] = []  # s, y and 1 / (s y), which is 0 where no step was made
    for _ in range(MOST_STEPS):
        if bool((gradient.abs().amax(dim=(1, 2)) <= SMALL_GRADIENT).all()):
            break
        tried = w + step * direction
        new_value, new_gradient = regressions.value_and_gradient(tried)
        slope = _dot(gradient, direction)
        good = _each(new_value) <= _each(value) + ENOUGH * step * slope + 1e-14
        s, y = torch.where(good, tried - w, 0), torch.where(good, new_gradient - gradient, 0)
        curved = _dot(s, y)
        made = curved > 0
        pairs = [*pairs[-HISTORY + 1 :], (s, y, torch.where(made, 1 / curved, 0))]
        scale = torch.where(made, curved / _dot(y, y), scale)
        w, gradient = torch.where(good, tried, w), torch.where(good, new_gradient, gradient)
        value = torch.where(good[:, 0, 0], new_value, value)
        direction = torch.where(good, _direction(gradient, pairs, scale), direction)
        step = torch.where(good, 1.0, step / 2)
    return w


def _direction(gradient: Tensor, pairs: Sequence[tuple[Tensor, Tensor, Tensor]], scale: Tensor) -> Tensor:
    """The two loops of L-BFGS."""
    q, weights = gradient, []
    for s, y, inverse in reversed(pairs):
        weights.append(inverse * _dot(s, q))
        q = q - weights[-1] * y
    q = scale * q
    for s, y, inverse in pairs:
        q = q + (weights.pop() - inverse * _dot(y, q)) * s
    return -q


def _dot(a: Tensor, b: Tensor) -> Tensor:
    return _each((a * b).sum(dim=(1, 2)))


def _each(values: Tensor) -> Tensor:
    return values[:, None, None]
