"""Choose lambda and the number of epochs by cross-validation on the labels that are known, and on nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pine.labels import Labels

# (lambda / share of labelled nodes, scaling), as found on held-out training labels of cora, citeseer, wikipedia and
# email-eu: with few labels, agreement with the neighbors has to weigh more. The first is the best single setting, and
# the one that is used where there is nothing to choose with.
CANDIDATES: tuple[tuple[float, str], ...] = ((15.0, "sqrt"), (60.0, "sqrt"), (15.0, "mean"))
LEAST_SHARE = 0.05  # below it no setting was tried: lambda stays where it is
BEHIND = 0.01  # a candidate that is this much behind another at the same epoch is given up


@dataclass(frozen=True)
class Choice:
    """A setting, and how it scored on held-out training labels (NaN: it was not scored)."""

    lam: tuple[float, ...]  # one for all node types, or one for each
    scaling: str
    epochs: int
    score: float = float("nan")


def candidates(
    lam: float | tuple[float, ...] | None, scaling: str | None, epochs: int, share: float = 1.0
) -> list[Choice]:
    """The settings to choose from, for a share of labelled nodes; what the user has fixed stays fixed."""
    fixed = None if lam is None else (float(lam),) if isinstance(lam, int | float) else tuple(map(float, lam))
    share = max(share, LEAST_SHARE)
    pairs = [(fixed or (each * share,), scaling or other) for each, other in CANDIDATES]
    return [Choice(each, other, epochs) for each, other in dict.fromkeys(pairs)]


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


class Scores:
    """Mean held-out scores of candidates at several epochs."""

    def __init__(self) -> None:
        self._means: dict[Choice, dict[int, float]] = {}

    def add(self, candidate: Choice, epoch: int, score: float) -> bool:
        """Note a score; returns whether the candidate is still worth training."""
        self._means.setdefault(candidate, {})[epoch] = score
        others = [means[epoch] for other, means in self._means.items() if other != candidate and epoch in means]
        return not others or score > max(others) - BEHIND * abs(max(others))

    def best(self) -> Choice:
        """The best candidate and epoch; an epoch's score is averaged with its neighbors' to still the noise."""
        found = []
        for candidate, means in self._means.items():
            line = sorted(means)
            for at, epoch in enumerate(line):
                near = [means[other] for other in line[max(0, at - 1) : at + 2]]
                found.append(Choice(candidate.lam, candidate.scaling, epoch, float(np.mean(near))))
        return max(found, key=lambda choice: choice.score)
