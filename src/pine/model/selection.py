"""Choose lambda and the number of epochs by cross-validation on the labels that are known, and on nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pine.labels import Labels

# lambda / share of labelled nodes, as found on held-out training labels of cora, citeseer, wikipedia and email-eu: with
# few labels, agreement with the neighbors has to weigh more. The first is the best single one, and is used where there
# is nothing to choose with.
CANDIDATES = (15.0, 60.0)
LEAST_SHARE = 0.05  # below it no setting was tried: lambda stays where it is


@dataclass(frozen=True)
class Choice:
    """A setting, and how it scored on held-out training labels (NaN: it was not scored)."""

    lam: tuple[float, ...]  # one for all node types, or one for each
    epochs: int
    score: float = float("nan")

    def as_json(self) -> list[Any]:
        """What is saved."""
        return [list(self.lam), self.epochs, None if math.isnan(self.score) else self.score]

    @classmethod
    def from_json(cls, saved: list[Any]) -> Self:
        """The opposite of as_json."""
        lam, epochs, score = saved
        return cls(tuple(lam), epochs, float("nan") if score is None else score)


def lambdas(lam: float | tuple[float, ...] | None, share: float = 1.0) -> list[tuple[float, ...]]:
    """The lambdas to choose from, for a share of labelled nodes; what the user has fixed stays fixed."""
    if lam is None:
        return [(each * max(share, LEAST_SHARE),) for each in CANDIDATES]
    return [(float(lam),) if isinstance(lam, int | float) else tuple(map(float, lam))]


def folds(labels: Labels, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The fold of every known node: (num_known,), sizes equal up to one."""
    return rng.permutation(np.arange(len(labels.known)) % count)


def held_out_score(labels: Labels, held: NDArray[np.bool_], predicted: NDArray[np.float32]) -> float:
    """How good predictions (num_known, num_outputs) are at the held-out nodes: accuracy, micro F1 or -squared error."""
    truth, given = labels.values[held], predicted[held]
    if labels.task == "classes":
        return float((given.argmax(axis=1) == truth).mean())
    if labels.task == "label-sets":
        right = float(((given >= 0.5) & (truth == 1)).sum())
        return 2 * right / max(1.0, float((given >= 0.5).sum() + truth.sum()))  # micro F1
    return -float(np.mean((given[:, 0] - truth) ** 2))


def best(options: Sequence[tuple[float, ...]], scores: Mapping[int, Sequence[float]]) -> Choice:
    """The best lambda and number of epochs, from the held-out score of every option after so many epochs.

    An epoch's score is averaged with its neighbors', to still the noise.
    """
    line = sorted(scores)
    smooth = {
        epoch: np.mean([scores[near] for near in line[max(0, at - 1) : at + 2]], axis=0)
        for at, epoch in enumerate(line)
    }
    found = [Choice(lam, epoch, float(smooth[epoch][k])) for k, lam in enumerate(options) for epoch in line]
    return max(found, key=lambda choice: choice.score)
