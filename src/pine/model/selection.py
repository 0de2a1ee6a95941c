"""Choose lambda, the number of epochs and the share of labels by cross-validation on the known labels alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pine.labels import Labels

# lambda / the part of the nodes that is labelled, as found on held-out training labels of cora, citeseer, wikipedia and
# email-eu: with few labels, agreement with the neighbors has to weigh more. The first is the best single one, and is
# used where there is nothing to choose with.
CANDIDATES = (15.0, 60.0)
LEAST_LABELLED = 0.05  # below it no setting was tried: lambda stays where it is

Scores = dict[int, list[list[float]]]  # held-out scores of every lambda with every share, after so many epochs


@dataclass(frozen=True)
class Choice:
    """A setting, and how it scored on held-out training labels (NaN: it was not scored)."""

    lam: tuple[float, ...]  # one for all node types, or one for each
    epochs: int
    score: float = float("nan")
    label_share: float = 0.0

    def as_json(self) -> list[Any]:
        """What is saved."""
        return [list(self.lam), self.epochs, None if math.isnan(self.score) else self.score, self.label_share]

    @classmethod
    def from_json(cls, saved: list[Any]) -> Self:
        """The opposite of as_json; runs of before there was a share have none."""
        lam, epochs, score, *share = saved
        return cls(tuple(lam), epochs, float("nan") if score is None else score, *map(float, share))


def lambdas(lam: float | tuple[float, ...] | None, labelled: float = 1.0) -> list[tuple[float, ...]]:
    """The lambdas to choose from, by the part of the nodes that is labelled; what the user has fixed stays fixed."""
    if lam is None:
        return [(each * max(labelled, LEAST_LABELLED),) for each in CANDIDATES]
    return [(float(lam),) if isinstance(lam, int | float) else tuple(map(float, lam))]


def folds(labels: Labels, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The fold of every known node: (num_known,), sizes equal up to one."""
    return rng.permutation(np.arange(len(labels.known)) % count)


def best(options: Sequence[tuple[float, ...]], shares: Sequence[float], scores: Scores) -> Choice:
    """The lambda and number of epochs that are best with the first share, and the share that is best with these.

    An epoch's score is averaged with its neighbors', to still the noise. Of shares that are level, the first is taken.
    """
    line = sorted(scores)
    smooth = {
        epoch: np.mean([scores[near] for near in line[max(0, at - 1) : at + 2]], axis=0)
        for at, epoch in enumerate(line)
    }
    places = [(k, epoch) for k in range(len(options)) for epoch in line]
    k, epoch = max(places, key=lambda place: smooth[place[1]][place[0], 0])
    share = int(smooth[epoch][k].argmax())
    return Choice(options[k], epoch, float(smooth[epoch][k, share]), shares[share])
