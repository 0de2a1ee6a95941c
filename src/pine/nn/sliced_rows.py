"""Rows (n, width) of nodes in slices of a few columns, each in a file: what sums over neighbors read from one memory.

A sum over neighbors reads rows in no order, which a disk cannot do. But no column meets another in it: a slice of all
nodes fits into memory where all columns do not. Everything else goes row by row, and reads all slices in their order.
On a GPU there is one slice, in its memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from pine._internal.mapped import MappedArrays
from pine.nn.neighbor_sum import Neighbors


class SlicedRows:
    """slices: tensors (n, columns) that stand side by side. in_files: where they stay, whatever is written."""

    def __init__(self, slices: Sequence[Tensor], *, in_files: bool = True) -> None:
        self.slices, self.in_files = list(slices), in_files
        self.widths = [each.shape[1] for each in slices]
        self.shape = (len(slices[0]), sum(self.widths))
        self.device = slices[0].device

    @classmethod
    def zeros(cls, arrays: MappedArrays, n: int, width: int, columns: int) -> SlicedRows:
        """At most so many columns in a slice."""
        widths = [min(columns, width - first) for first in range(0, width, columns)]
        return cls([torch.from_numpy(arrays.zeros(n, each)) for each in widths])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | Tensor) -> Tensor:
        """Some rows, all columns: a copy, but of a range of rows of one slice."""
        if len(self.slices) == 1:
            return self.slices[0][rows]
        return torch.cat([each[rows] for each in self.slices], 1)

    def __setitem__(self, rows: slice, values: Tensor) -> None:
        for each, part in zip(self.slices, torch.split(values, self.widths, 1), strict=True):
            each[rows] = part

    def replace(self, at: int, made: Callable[[], Tensor]) -> None:
        """Write over a slice; one that is not in a file is given up before the new one is made."""
        if self.in_files:
            self.slices[at].copy_(made())
            return
        self.slices[at] = self.slices[at].new_empty(0)
        self.slices[at] = made()

    def read(self, at: int) -> Tensor:
        """A slice in memory, where it may be read in no order."""
        return self.slices[at].clone() if self.in_files else self.slices[at]


def sum_slices(xs: Sequence[SlicedRows], groups: Sequence[Neighbors], out: SlicedRows) -> None:
    """out <- the sums over the neighbors in each group, added up, a slice at a time; out may be an x, in files."""

    def total(at: int) -> Tensor:
        each = (of.total(x.read(at), transposed=False) for x, of in zip(xs, groups, strict=True))
        made = next(each)
        for more in each:
            made += more
        return made

    for at in range(len(out.slices)):
        out.replace(at, partial(total, at))


def sum_slices_back(x: SlicedRows, groups: Sequence[Neighbors], outs: Sequence[SlicedRows]) -> None:
    """outs <- what each group's nodes get of x in the backward pass of sum_slices."""
    for at in range(len(x.slices)):
        given = x.read(at)
        for of, out in zip(groups, outs, strict=True):
            out.replace(at, partial(of.total, given, True))
