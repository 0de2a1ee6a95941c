"""Average ranks of methods over data sets, and how far two must be apart to differ (Demsar 2006).

The critical difference of the Nemenyi test at p < .05 for k methods and N data sets is q sqrt(k (k + 1) / (6 N)), where
q is the 95 % point of the studentized range of k, divided by the square root of 2. Cells of one graph are not
independent: ranks are averaged within a data set first, and N is the number of data sets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata, studentized_range

from pine.evaluation.paired_test import SIGNIFICANT
from pine.reproduce.tables import Grid, is_form_of

FEWEST_METHODS = 4
FEWEST_DATASETS = 3


@dataclass(frozen=True)
class AverageRanks:
    """The average rank of every method, best first; unfinished: methods without all their results are left out."""

    ranks: dict[str, float]
    num_datasets: int
    unfinished: tuple[str, ...] = ()

    @property
    def critical_difference(self) -> float:
        return critical_difference(len(self.ranks), self.num_datasets)

    @property
    def groups(self) -> list[list[str]]:
        """Methods that do not differ, as many together as possible."""
        names = list(self.ranks)
        found = joined(list(self.ranks.values()), self.critical_difference)
        return [names[first : last + 1] for first, last in found]


def average_ranks(grids: Sequence[Grid]) -> AverageRanks | None:
    """Ranks by the mean score in each cell (data set, metric and x); None with too few methods or data sets.

    Forms of the first method are left out.
    """
    methods = list(dict.fromkeys(method for grid in grids for method in grid.methods))
    rivals = [method for method in methods if not is_form_of(method, methods[0])]
    whole = [method for method in rivals if all(_finished(grid, method) for grid in grids)]
    datasets = dict.fromkeys(grid.dataset for grid in grids)
    if len(whole) < FEWEST_METHODS or len(datasets) < FEWEST_DATASETS:
        return None
    by_dataset = [_ranks([grid for grid in grids if grid.dataset == dataset], whole) for dataset in datasets]
    ranks = dict(zip(whole, np.mean(by_dataset, axis=0).tolist(), strict=True))
    unfinished = tuple(method for method in rivals if method not in whole)
    return AverageRanks(dict(sorted(ranks.items(), key=lambda item: item[1])), len(datasets), unfinished)


def _finished(grid: Grid, method: str) -> bool:
    cells = [grid.cells.get((method, x)) for x in grid.xs]
    return all(cell is not None and cell.whole for cell in cells)


def _ranks(grids: Sequence[Grid], methods: Sequence[str]) -> list[float]:
    """Ranks of methods, 1 is best, averaged over the cells of some grids."""
    cells = [[-grid.cells[method, x].mean for method in methods] for grid in grids for x in grid.xs]
    ranks: list[float] = rankdata(cells, axis=1).mean(axis=0).tolist()
    return ranks


def critical_difference(num_methods: int, num_datasets: int) -> float:
    """How far average ranks must be apart to differ by the Nemenyi test."""
    quantile = studentized_range.ppf(1 - SIGNIFICANT, num_methods, np.inf) / math.sqrt(2)
    return float(quantile * math.sqrt(num_methods * (num_methods + 1) / (6 * num_datasets)))


def joined(ranks: Sequence[float], difference: float) -> list[tuple[int, int]]:
    """First and last position of each largest group of ascending ranks that are less than a difference apart."""
    groups: list[tuple[int, int]] = []
    for first, low in enumerate(ranks):
        last = max(number for number, rank in enumerate(ranks) if rank - low < difference)
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups
