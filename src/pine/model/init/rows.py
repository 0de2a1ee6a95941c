"""Work on the rows of a large sparse matrix, part by part: the same bits for any number of threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine._internal.parallel import compiled, over_parts

MOST_RANGES, LEAST_ROWS = 64, 512  # the rows are cut into at most so many parts of at least so many


def in_parts(kernel: Callable[..., None], count: int, threads: int | None, *arguments: Any) -> None:
    """Run kernel(lo, hi, ...) over equal ranges of rows, the same ones for any number of threads."""
    over_parts(kernel, count, max(LEAST_ROWS, -(-count // MOST_RANGES)), threads, *arguments)


def weighted_sums(
    begins: NDArray[Any],
    ends: NDArray[Any],
    columns: NDArray[Any],
    values: NDArray[Any],
    x: NDArray[Any],
    threads: int | None,
) -> NDArray[Any]:
    """The product of a matrix, whose row i has its entries from begins[i] to ends[i], with x (num_columns, k)."""
    y = np.zeros((len(begins), x.shape[1]), x.dtype)
    in_parts(_add_rows, len(y), threads, begins, ends, columns, values, x, y)
    return y


@compiled
def _add_rows(
    lo: int,
    hi: int,
    begins: NDArray[Any],
    ends: NDArray[Any],
    columns: NDArray[Any],
    values: NDArray[Any],
    x: NDArray[Any],
    y: NDArray[Any],
) -> None:
    for i in range(lo, hi):
        row = y[i]
        for e in range(begins[i], ends[i]):
            value, other = values[e], x[columns[e]]
            for k in range(len(row)):
                row[k] += value * other[k]
