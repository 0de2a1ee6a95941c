"""Labels that are held out while a fit chooses its settings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine.labels import Labels
from pine.metrics import held_out_score
from pine.model.training import Trainer
from pine.propagation import LabelPropagator, PropagatedLabels

# A fifth of the labels is held out, then another: with one, chance chooses on small graphs (.4 points on average).
FIFTHS, HELD_OUT_PARTS = 5, 2


@dataclass(frozen=True, eq=False)
class HeldOutParts:
    """parts: which known labels are held out, each time (num_known,)."""

    labels: Labels
    parts: Sequence[NDArray[np.bool_]]

    @classmethod
    def of(cls, trainer: Trainer, labels: Labels) -> HeldOutParts:
        """The validation nodes where there are some, else a fifth of the labels, and another."""
        if not trainer.learn.all():
            return cls(labels, [~trainer.learn])
        return cls.drawn(labels, trainer.state.rng)

    @classmethod
    def drawn(cls, labels: Labels, rng: np.random.Generator) -> HeldOutParts:
        """A fifth of the labels, and another."""
        fifths = rng.permutation(len(labels.known)) % FIFTHS
        return cls(labels, [fifths == k for k in range(HELD_OUT_PARTS)])

    def first(self, count: int) -> HeldOutParts:
        """So many of the parts."""
        return HeldOutParts(self.labels, self.parts[:count])

    @property
    def any(self) -> NDArray[np.bool_]:
        """Those that are held out at some time."""
        return np.asarray(np.logical_or.reduce(self.parts), bool)

    @cached_property
    def held_out(self) -> Labels:
        """The labels that are held out at some time."""
        return self.labels.some(self.any)

    def joined(self, of_parts: Iterable[NDArray[Any]]) -> NDArray[Any]:
        """Of arrays (num_known, any), one for each part, what was made without a node's label, at those held out."""
        made = [np.asarray(each) for each in of_parts]
        whole = made[0].copy()
        for held, each in zip(self.parts, made, strict=True):
            whole[held] = each[held]
        return whole[self.any]

    def propagated(self, propagator: LabelPropagator) -> list[PropagatedLabels]:
        """What reaches the known nodes of each part's other labels: what is held out is not propagated either."""
        rest = [self.labels.some(~part) for part in self.parts]
        return [propagator.propagate_to(self.labels.known, each.known, each.targets()) for each in rest]

    def best_share(
        self, propagated: Sequence[PropagatedLabels], predicted: Sequence[NDArray[Any]], shares: Sequence[float]
    ) -> tuple[float, NDArray[Any]]:
        """The share of propagated labels that is best at the held-out nodes, and what it predicts there.

        predicted: at the known nodes (num_known, num_outputs), without each part's labels.
        """

        def mixed(share: float) -> NDArray[Any]:
            return self.joined(of.blend(each, share) for of, each in zip(propagated, predicted, strict=True))

        made = {share: mixed(share) for share in shares}
        best = max(made, key=lambda share: held_out_score(self.held_out, made[share]))
        return best, made[best]


def clearly_better(ours: NDArray[np.float64], theirs: NDArray[np.float64], errors: float = 1.0) -> bool:
    """Whether the mean of paired scores is higher by more than so many standard errors."""
    difference = ours - theirs
    return bool(difference.mean() > errors * difference.std() / np.sqrt(len(difference)))
