"""Is one method ahead of another, or is it chance? A t-test on the differences of their scores on the same splits."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from pine.errors import InputError

Scores = Sequence[float] | NDArray[np.float64]
SIGNIFICANT = 0.05


def paired_p_value(ours: Scores, theirs: Scores, overlap: float = 0.0) -> float:
    """How often chance alone makes means differ as much as those of scores on the same splits, two-sided.

    overlap: test nodes for each training node. Random splits share nodes, so that their scores vary less than those of
    other data would: the variance of the mean is (1 / n + overlap) times that of the differences (Nadeau and Bengio,
    2003). 0 is the plain test, which calls more differences significant.
    """
    if len(ours) != len(theirs):
        raise InputError(f"a paired test needs as many scores of both, got {len(ours)} and {len(theirs)}")
    difference = np.subtract(ours, theirs, dtype=np.float64)
    n, mean = len(difference), float(np.mean(difference)) if len(difference) else 0.0
    if n < 2 or mean == 0:
        return 1.0
    error = float(np.std(difference, ddof=1)) * math.sqrt(1 / n + overlap)
    return float(2 * student.sf(abs(mean) / error, n - 1)) if error > 0 else 0.0


def holm(p_values: Sequence[float]) -> list[float]:
    """P values of several tests, each raised so that one below a level is rarely there by chance (Holm, 1979)."""
    order = np.argsort(p_values, kind="stable")
    raised = np.maximum.accumulate(np.asarray(p_values, np.float64)[order] * np.arange(len(order), 0, -1))
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted.tolist()
