"""Rows (n, width) of nodes that sums over neighbors read, which they do in no order.

A disk cannot do that. But no column meets another in a sum: a slice of a few columns of all nodes fits into memory
where all columns do not. So in a file lies slice after slice; a sum reads and writes whole ones, everything else a
range of rows of all of them. On a GPU there is one slice, in its memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor

from pine._internal.mapped import FileOfFloats, MappedArrays
from pine.nn.neighbor_sum import Neighbors

PICKED_ROWS = 1 << 14  # read at a time, where some of them are picked


class SlicedRows(ABC):
    """widths: of the slices, which stand side by side."""

    def __init__(self, n: int, widths: Sequence[int], device: torch.device) -> None:
        self.shape = (n, sum(widths))
        self.widths, self.device = list(widths), device

    def __len__(self) -> int:
        return self.shape[0]

    @abstractmethod
    def __getitem__(self, rows: slice) -> Tensor:
        """A range of rows, all columns; perhaps a copy."""

    @abstractmethod
    def __setitem__(self, rows: slice, values: Tensor) -> None: ...

    @abstractmethod
    def pick(self, rows: Tensor) -> Tensor:
        """Some rows, in ascending order, all columns: a copy."""

    @abstractmethod
    def read(self, at: int) -> Tensor:
        """A slice in memory."""

    @abstractmethod
    def replace(self, at: int, made: Callable[[], Tensor]) -> None:
        """Write over a slice."""


class SlicesInMemory(SlicedRows):
    """There is one."""

    def __init__(self, rows: Tensor) -> None:
        super().__init__(len(rows), [rows.shape[1]], rows.device)
        self.rows = rows

    def __getitem__(self, rows: slice) -> Tensor:
        return self.rows[rows]

    def __setitem__(self, rows: slice, values: Tensor) -> None:
        self.rows[rows] = values

    def pick(self, rows: Tensor) -> Tensor:
        return self.rows[rows]

    def read(self, at: int) -> Tensor:
        return self.rows

    def replace(self, at: int, made: Callable[[], Tensor]) -> None:
        self.rows = self.rows.new_empty(0)  # so that there is room for the new one
        self.rows = made()


class SlicesInFile(SlicedRows):
    """Zeros, at most so many columns in a slice."""

    def __init__(self, arrays: MappedArrays, n: int, width: int, columns: int) -> None:
        widths = [min(columns, width - first) for first in range(0, width, columns)]
        super().__init__(n, widths, torch.device("cpu"))
        self.file = FileOfFloats(arrays, n * width)
        self.starts = np.cumsum([0, *(n * each for each in widths)]).tolist()

    def __getitem__(self, rows: slice) -> Tensor:
        each = [self._read(at, *rows.indices(len(self))[:2]) for at in range(len(self.widths))]
        return each[0] if len(each) == 1 else torch.cat(each, 1)

    def __setitem__(self, rows: slice, values: Tensor) -> None:
        for at, part in enumerate(torch.split(values, self.widths, 1)):
            self._write(at, rows.start, part)

    def pick(self, rows: Tensor) -> Tensor:
        return torch.cat([torch.empty(0, self.shape[1]), *self._picked(rows)])

    def _picked(self, rows: Tensor) -> Iterator[Tensor]:
        for first in range(0, len(self), PICKED_ROWS):
            here = rows[torch.searchsorted(rows, first) : torch.searchsorted(rows, first + PICKED_ROWS)]
            if len(here):
                yield self[first : first + PICKED_ROWS][here - first]

    def read(self, at: int) -> Tensor:
        return self._read(at, 0, len(self))

    def replace(self, at: int, made: Callable[[], Tensor]) -> None:
        self._write(at, 0, made())

    def _read(self, at: int, first: int, last: int) -> Tensor:
        width = self.widths[at]
        found = self.file.read(self.starts[at] + first * width, (last - first) * width)
        return torch.from_numpy(found).view(last - first, width)

    def _write(self, at: int, first: int, rows: Tensor) -> None:
        self.file.write(self.starts[at] + first * self.widths[at], rows.detach().contiguous().numpy())


def sum_slices(xs: Sequence[SlicedRows], groups: Sequence[Neighbors], out: SlicedRows) -> None:
    """out <- the sums over the neighbors in each group, added up, a slice at a time; out may be an x, in a file."""

    def total(at: int) -> Tensor:
        each = (of.total(x.read(at), transposed=False) for x, of in zip(xs, groups, strict=True))
        made = next(each)
        for more in each:
            made += more
        return made

    for at in range(len(out.widths)):
        out.replace(at, partial(total, at))


def sum_slices_back(x: SlicedRows, groups: Sequence[Neighbors], outs: Sequence[SlicedRows]) -> None:
    """outs <- what each group's nodes get of x in the backward pass of sum_slices."""
    for at in range(len(x.widths)):
        given = x.read(at)
        for of, out in zip(groups, outs, strict=True):
            out.replace(at, partial(of.total, given, True))
