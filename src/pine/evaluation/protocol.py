"""Splits: a permutation of the labeled nodes in file order, by data set, ratio and repeat; or the public split."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pine.datasets.npz import SPLIT_PARTS
from pine.errors import InputError
from pine.labels import Labels

RATIOS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
PUBLIC: Final = "public"
Ratio = float | Literal["public"]  # the share of labeled nodes to learn from, or the split that the data set comes with
VALIDATION_SHARE = 0.2  # of the training nodes, on which settings are compared
# Of how methods are scored: splits, logistic regression, metrics, smoothing. Kept results go by it: raise it when what
# one of these computes changes.
SCORING_REVISION = 1


@dataclass(frozen=True, eq=False)
class Split:
    """Positions of nodes, ascending: those whose labels a method learns from, and those on which it is scored.

    validation: those whose labels it may choose by; without any, a method holds out some of the others.
    """

    train: NDArray[np.int64]
    test: NDArray[np.int64]
    validation: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def visible(self) -> NDArray[np.int64]:
        """All nodes whose labels a method sees."""
        return np.union1d(self.train, self.validation)

    def shifted(self, by: int) -> Split:
        """The same nodes, counted from another one."""
        return Split(self.train + by, self.test + by, self.validation + by)


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


def public_split(name: str, labeled: NDArray[np.int64], splits: Mapping[str, NDArray[np.int64]]) -> Split:
    """The split that a data set comes with, {"train", "val", "test"}, as far as its nodes are labeled."""
    train, validation, test = (np.intersect1d(splits.get(part, ()), labeled).astype(np.int64) for part in SPLIT_PARTS)
    if not (len(train) and len(test)):
        raise InputError(f"{name} has no public split; give shares of labeled nodes, such as 0.1")
    return Split(train, test, validation)


@dataclass(frozen=True)
class Part:
    """One split of a data set: a random one, or the public one, where repeats differ in the seed alone.

    held_out: scored without test nodes, so that settings can be chosen: on some of the training nodes of a random
    split, on the validation nodes of the public one.
    """

    ratio: Ratio
    repeat: int
    held_out: bool = False

    def split(
        self, name: str, labeled: NDArray[np.int64], public: Mapping[str, NDArray[np.int64]] = MappingProxyType({})
    ) -> Split:
        """The nodes of this part, of the labeled nodes of a data set with its public split."""
        if self.ratio == PUBLIC:
            given = public_split(name, labeled, public)
            if not self.held_out:
                return given
            if not len(given.validation):
                raise InputError(f"the public split of {name} has no validation nodes to choose settings on")
            return replace(given, test=given.validation)
        whole = split(name, labeled, self.ratio, self.repeat)
        return split(f"{name} held out", whole.train, 1 - VALIDATION_SHARE, self.repeat) if self.held_out else whole


def ratio_name(ratio: Ratio) -> str:
    """A ratio as the head of a column."""
    return ratio if ratio == PUBLIC else f"{100 * ratio:g} %"


def ratio_order(ratio: Ratio) -> float:
    """What ratios are sorted by: the public split stands first."""
    return 0.0 if ratio == PUBLIC else ratio


def hide(labels: Labels, visible: NDArray[np.int64], count: int) -> NDArray[Any]:
    """A fresh array of labels in node order that knows the given nodes only: nothing of the rest remains in it."""
    keep = np.isin(labels.known, visible)
    shape = (count, labels.num_outputs) if labels.task == "label-sets" else (count,)
    shown = np.full(shape, np.nan) if labels.task == "numbers" else np.full(shape, -1, np.int64)
    shown[labels.known[keep]] = labels.values[keep]
    return shown
