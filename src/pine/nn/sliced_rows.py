"""Rows (n, width) of nodes in slices of a few columns, each in a file: what sums over neighbors read from one memory.

A sum over neighbors reads rows in no order, which a disk cannot do. But no column meets another in it: a slice of all
nodes fits into memory where all columns do not. Everything else goes row by row, and reads all slices in their order.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from pine._internal.mapped import MappedArrays
from pine.nn.neighbor_sum import Neighbors


class SlicedRows:
    """slices: tensors (n, columns) that stand side by side."""

    def __init__(self, slices: Sequence[Tensor]) -> None:
        self.slices = list(slices)
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
        """A copy of some rows, all columns."""
        return torch.cat([each[rows] for each in self.slices], 1)

    def __setitem__(self, rows: slice, values: Tensor) -> None:
        for each, part in zip(self.slices, torch.split(values, self.widths, 1), strict=True):
            each[rows] = part


def sum_slices(xs: Sequence[SlicedRows], groups: Sequence[Neighbors], out: SlicedRows) -> None:
    """out <- the sums over the neighbors in each group, added up, a slice of columns at a time; out may be an x."""
    for at, target in enumerate(out.slices):
        # Cloned out of the file: it is read in no order.
        each = (of.total(x.slices[at].clone(), transposed=False) for x, of in zip(xs, groups, strict=True))
        total = next(each)
        for more in each:
            total += more
        target.copy_(total)


def sum_slices_back(x: SlicedRows, groups: Sequence[Neighbors], outs: Sequence[SlicedRows]) -> None:
    """outs <- what each group's nodes get of x in the backward pass of sum_slices."""
    for at, source in enumerate(x.slices):
        given = source.clone()
        for of, out in zip(groups, outs, strict=True):
            out.slices[at].copy_(of.total(given, transposed=True))
