"""How far a method is from the first on the same splits."""

from __future__ import annotations

import numpy as np

from pine.reproduce.tables import Grid, X

Gap = tuple[float, float]  # mean and standard deviation, in points


def gap_to_first(grid: Grid, method: str, x: X) -> Gap | None:
    """Mean and deviation of the differences at one x; None unless both finished all repeats."""
    first = grid.methods[0]
    if not grid.comparable(method, first, x):
        return None
    gaps = 100 * np.subtract(grid.cells[method, x].values, grid.cells[first, x].values)
    return float(gaps.mean()), float(gaps.std(ddof=1)) if len(gaps) > 1 else 0.0
