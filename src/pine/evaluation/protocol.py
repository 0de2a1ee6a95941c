"""Splits: a permutation of the labeled nodes in file order, drawn from data set, ratio and repeat."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine.errors import InputError
from pine.labels import Labels

RATIOS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
VALIDATION_SHARE = 0.2  # of the training nodes, on which settings are compared
# Of how methods are scored: splits, logistic regression, metrics, smoothing. Kept results go by it: raise it when what
# one of these computes changes.
SCORING_REVISION = 1


@dataclass(frozen=True, eq=False)
class Split:
    """Positions of nodes, ascending: those whose labels a method sees, and those on which it is scored."""

    train: NDArray[np.int64]
    test: NDArray[np.int64]


def split(name: str, labeled: NDArray[np.int64], ratio: float, repeat: int) -> Split:
    """Split uniformly, not stratified: round(ratio * labeled) training nodes, all others are test nodes."""
    if not 0 < ratio < 1:
        raise InputError(f"a ratio of labeled nodes must lie between 0 and 1, got {ratio}")
    seed = np.random.SeedSequence([zlib.crc32(name.encode()), round(100 * ratio), repeat])
    order = np.random.default_rng(seed).permutation(len(labeled))
    cut = round(ratio * len(labeled))
    if not 0 < cut < len(labeled):
        raise InputError(f"{name} has {len(labeled)} labeled nodes; a ratio of {ratio} leaves none to train or test on")
    return Split(np.sort(labeled[order[:cut]]), np.sort(labeled[order[cut:]]))


@dataclass(frozen=True)
class Part:
    """One split of a data set; held out: a split of its training nodes alone, for a choice that sees no test node."""

    ratio: float
    repeat: int
    held_out: bool = False

    def split(self, name: str, labeled: NDArray[np.int64]) -> Split:
        """The nodes of this part, of the labeled nodes of a data set."""
        whole = split(name, labeled, self.ratio, self.repeat)
        return split(f"{name} held out", whole.train, 1 - VALIDATION_SHARE, self.repeat) if self.held_out else whole


def hide(labels: Labels, visible: NDArray[np.int64], count: int) -> NDArray[Any]:
    """A fresh array of labels in node order that knows the given nodes only: nothing of the rest remains in it."""
    keep = np.isin(labels.known, visible)
    shape = (count, labels.num_outputs) if labels.task == "label-sets" else (count,)
    shown = np.full(shape, np.nan) if labels.task == "numbers" else np.full(shape, -1, np.int64)
    shown[labels.known[keep]] = labels.values[keep]
    return shown
