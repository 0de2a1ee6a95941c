"""Neighbors in compressed rows: row v lists the neighbors of node v, in ascending order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pine._internal.memory import free_memory
from pine._internal.parallel import compiled, number_of_threads, over_ranges

IntArray = NDArray[np.integer[Any]]
FloatArray = NDArray[np.floating[Any]]

MERGE, SUM, KEEP = 0, 1, 2
DUPLICATES = {"merge": MERGE, "sum": SUM, "keep": KEEP}
FEWEST_ENTRIES, BYTES_AN_ENTRY = 1 << 20, 8  # of a range of rows that is made in memory before it goes to a file
SUMMED_ROWS = 1 << 16  # so that no array of all entries is made
_NO_WEIGHTS = np.empty(0, np.float32)


@dataclass(frozen=True, eq=False)
class CSR:
    """A sparse matrix: indptr (num_rows + 1,), indices (nnz,) int32 where they fit, weights (nnz,) or None.

    symmetric: it is known to be its own transposed.
    """

    indptr: NDArray[np.int64]
    indices: IntArray
    weights: NDArray[np.float32] | None
    num_columns: int
    symmetric: bool = False

    def __post_init__(self) -> None:
        for array in (self.indptr, self.indices, self.weights):
            if array is not None:
                array.flags.writeable = False

    def __reduce__(self) -> Any:  # by the constructor, so that arrays are read-only in another process too
        return CSR, (self.indptr, self.indices, self.weights, self.num_columns, self.symmetric)

    @property
    def num_rows(self) -> int:
        return len(self.indptr) - 1

    @property
    def nnz(self) -> int:
        return len(self.indices)

    @property
    def nbytes(self) -> int:
        return self.indptr.nbytes + self.indices.nbytes + (0 if self.weights is None else self.weights.nbytes)

    def degrees(self) -> NDArray[np.int64]:
        """Number of neighbors of each row: (num_rows,)."""
        return np.diff(self.indptr)

    def strengths(self) -> NDArray[np.float64]:
        """The sum of the weights of each row, 1 where there are none: (num_rows,)."""
        if self.weights is None:
            return self.degrees().astype(np.float64)
        sums = np.empty(self.num_rows)
        for lo in range(0, self.num_rows, SUMMED_ROWS):
            some = slice(lo, min(lo + SUMMED_ROWS, self.num_rows))
            degrees = np.diff(self.indptr[lo : some.stop + 1])
            rows = np.repeat(np.arange(len(degrees)), degrees)
            weights = self.weights[self.indptr[lo] : self.indptr[some.stop]]
            sums[some] = np.bincount(rows, weights, len(degrees))
        return sums

    def num_loops(self) -> int:
        """Entries of rows in the column of the same number."""
        found = 0
        for lo in range(0, self.num_rows, SUMMED_ROWS):
            indptr = self.indptr[lo : lo + SUMMED_ROWS + 1]
            rows = np.repeat(np.arange(lo, lo + len(indptr) - 1), np.diff(indptr))
            found += int((self.indices[indptr[0] : indptr[-1]] == rows).sum())
        return found

    def distinct(self, *, drop_loops: bool = False) -> CSR:
        """Every neighbor once and without a weight, however many edges lead to it."""
        return build_csr(self.rows(), self.indices, None, (self.num_rows, self.num_columns), drop_loops=drop_loops)

    def row(self, i: int) -> IntArray:
        """The neighbors of one row."""
        return self.indices[self.indptr[i] : self.indptr[i + 1]]

    def rows(self) -> IntArray:
        """The row of every entry: (nnz,)."""
        return np.repeat(np.arange(self.num_rows, dtype=self.indices.dtype), self.degrees())

    def some_rows(self, rows: slice) -> CSR:
        """Rows from rows.start to rows.stop."""
        indptr = self.indptr[rows.start : rows.stop + 1]
        entries = slice(indptr[0], indptr[-1])
        weights = None if self.weights is None else self.weights[entries]
        return CSR(indptr - indptr[0], self.indices[entries], weights, self.num_columns)

    def take_rows(self, rows: NDArray[np.int64]) -> CSR:
        """Some rows, one after the other."""
        degrees = self.degrees()[rows]
        indptr = np.append(0, np.cumsum(degrees))
        entries = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], degrees)
        weights = None if self.weights is None else self.weights[entries]
        return CSR(indptr, self.indices[entries], weights, self.num_columns)

    def some_columns(self, columns: slice) -> CSR:
        """Columns from columns.start to columns.stop, which all entries must be in."""
        local = (self.indices - self.indices.dtype.type(columns.start)).astype(self.indices.dtype)
        return CSR(self.indptr, local, self.weights, columns.stop - columns.start)

    @property
    def transposed(self) -> CSR:
        """The same entries seen from the columns."""
        return self if self.symmetric else self._transposed

    @cached_property
    def _transposed(self) -> CSR:
        return build_csr(self.indices, self.rows(), self.weights, (self.num_columns, self.num_rows), duplicates="keep")

    def to_scipy(self) -> sp.csr_array:
        """The same matrix for SciPy, with ones where there are no weights."""
        data = np.ones(self.nnz, np.float32) if self.weights is None else self.weights.copy()
        return sp.csr_array((data, self.indices.copy(), self.indptr.copy()), shape=(self.num_rows, self.num_columns))


def build_csr(
    source: IntArray,
    target: IntArray,
    weights: FloatArray | None,
    shape: tuple[int, int],
    *,
    mirror: bool = False,
    drop_loops: bool = False,
    duplicates: str = "merge",
    empty: Callable[..., NDArray[Any]] | None = None,
) -> CSR:
    """Sort edges into rows, in time linear in edges for bounded degrees.

    mirror lists an edge under both of its ends (undirected); duplicates "merge" keeps one entry a pair with its
    largest weight, "sum" adds up weights (a missing weight is 1), "keep" keeps parallel entries in input order.
    empty(count, dtype=...): room for entries, perhaps in files; then so few rows are made at a time that they fit into
    memory, and the edges are read once for each range of rows.
    """
    num_rows, num_columns = shape
    mode = DUPLICATES[duplicates]
    if mode == SUM and weights is None:
        weights = np.ones(len(source), np.float32)
    given = _NO_WEIGHTS if weights is None else np.ascontiguousarray(weights, np.float32)

    # Each thread owns a range of rows and reads all edges: no locks, and the same result for any number of threads.
    even = _cut(np.arange(num_rows + 1))
    room: Callable[..., NDArray[Any]] = empty or np.empty
    indptr = np.zeros(num_rows + 1, np.int64)
    _run(_count, even, source, target, mirror, drop_loops, indptr)
    np.cumsum(indptr, out=indptr)
    indices = room(int(indptr[-1]), dtype=np.int32 if num_columns <= np.iinfo(np.int32).max else np.int64)
    values = room(int(indptr[-1]) if len(given) else 0, dtype=np.float32)
    ranges = even if empty is None else _cut(indptr, _ranges_in_memory(int(indptr[-1])))
    _run(_fill, ranges, source, target, given, mirror, drop_loops, indptr, indices, values)

    balanced = _cut(indptr) if empty is None else ranges
    kept = np.zeros(num_rows + 1, np.int64)
    _run(_sort_rows, balanced, indptr, indices, values, mode, kept)
    np.cumsum(kept, out=kept)
    if kept[-1] < indptr[-1]:
        packed = room(int(kept[-1]), dtype=indices.dtype)
        packed_values = room(int(kept[-1]) if len(given) else 0, dtype=np.float32)
        _run(_pack, balanced, indptr, kept, indices, values, packed, packed_values)
        indptr, indices, values = kept, packed, packed_values
    return CSR(indptr, indices, None if weights is None else values, num_columns, symmetric=mirror)


def _ranges_in_memory(entries: int) -> int:
    """So many that those which threads work on at once take an eighth of the free memory."""
    free, threads = free_memory(), number_of_threads(None)
    at_once = max(FEWEST_ENTRIES, (8 * FEWEST_ENTRIES if free is None else free // (8 * BYTES_AN_ENTRY)) // threads)
    return max(threads, -(-entries // at_once))


def _cut(cumulative: IntArray, count: int | None = None) -> list[tuple[int, int]]:
    """Cut rows into one range a core, or so many, equal in their share of the cumulative count."""
    marks = np.linspace(0, cumulative[-1], (count or number_of_threads(None)) + 1)[1:-1]
    edges = [0, *np.searchsorted(cumulative, marks).tolist(), len(cumulative) - 1]
    return [(lo, hi) for lo, hi in pairwise(edges) if lo < hi]


def _run(kernel: Callable[..., None], ranges: list[tuple[int, int]], *arguments: object) -> None:
    over_ranges(kernel, ranges, min(len(ranges), number_of_threads(None)), *arguments)


@compiled
def _count(
    lo: int, hi: int, source: NDArray[Any], target: NDArray[Any], mirror: bool, drop_loops: bool, indptr: NDArray[Any]
) -> None:
    for i in range(len(source)):
        s, t = source[i], target[i]
        if drop_loops and s == t:
            continue
        if lo <= s < hi:
            indptr[s + 1] += 1
        if mirror and s != t and lo <= t < hi:
            indptr[t + 1] += 1


@compiled
def _fill(
    lo: int,
    hi: int,
    source: NDArray[Any],
    target: NDArray[Any],
    given: NDArray[Any],
    mirror: bool,
    drop_loops: bool,
    indptr: NDArray[Any],
    indices: NDArray[Any],
    values: NDArray[Any],
) -> None:
    cursor = indptr[lo:hi].copy()
    weighted = len(given) > 0
    for i in range(len(source)):
        s, t = source[i], target[i]
        if drop_loops and s == t:
            continue
        if lo <= s < hi:
            at = cursor[s - lo]
            cursor[s - lo] += 1
            indices[at] = t
            if weighted:
                values[at] = given[i]
        if mirror and s != t and lo <= t < hi:
            at = cursor[t - lo]
            cursor[t - lo] += 1
            indices[at] = s
            if weighted:
                values[at] = given[i]


@compiled
def _sort_rows(
    lo: int, hi: int, indptr: NDArray[Any], indices: NDArray[Any], values: NDArray[Any], mode: int, kept: NDArray[Any]
) -> None:
    """Sort each row by neighbor (stably), fold its duplicates to the front, and count what is kept."""
    weighted = len(values) > 0
    for row in range(lo, hi):
        first, last = indptr[row], indptr[row + 1]
        if last - first > 32:
            if weighted:
                order = np.argsort(indices[first:last], kind="mergesort")
                indices[first:last] = indices[first:last][order]
                values[first:last] = values[first:last][order]
            else:
                indices[first:last].sort()
        else:
            for i in range(first + 1, last):
                column = indices[i]
                value = values[i] if weighted else np.float32(0)
                j = i - 1
                while j >= first and indices[j] > column:
                    indices[j + 1] = indices[j]
                    if weighted:
                        values[j + 1] = values[j]
                    j -= 1
                indices[j + 1] = column
                if weighted:
                    values[j + 1] = value
        if mode == KEEP:
            kept[row + 1] = last - first
            continue
        at = first
        i = first
        while i < last:
            column = indices[i]
            total = np.float64(values[i]) if weighted else 0.0
            i += 1
            while i < last and indices[i] == column:
                if weighted:
                    total = total + values[i] if mode == SUM else max(total, np.float64(values[i]))
                i += 1
            indices[at] = column
            if weighted:
                values[at] = total
            at += 1
        kept[row + 1] = at - first


@compiled
def _pack(
    lo: int,
    hi: int,
    indptr: NDArray[Any],
    kept: NDArray[Any],
    indices: NDArray[Any],
    values: NDArray[Any],
    packed: NDArray[Any],
    packed_values: NDArray[Any],
) -> None:
    weighted = len(values) > 0
    for row in range(lo, hi):
        length = kept[row + 1] - kept[row]
        packed[kept[row] : kept[row] + length] = indices[indptr[row] : indptr[row] + length]
        if weighted:
            packed_values[kept[row] : kept[row] + length] = values[indptr[row] : indptr[row] + length]
