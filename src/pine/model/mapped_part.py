"""All nodes of a graph in one process whose rows are more than memory holds: they lie in files (pine._internal.mapped).

What is read in no order, by sums over neighbors, is cut into slices of columns (pine.nn.sliced_rows); all else is read
from the first row to the last. In memory are a few numbers a node, and one slice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pine._internal.mapped import MappedArrays
from pine.distributed.part import DRAWN_ROWS
from pine.graph import Graph
from pine.model.block_part import BlockPart
from pine.nn.neighbor_sum import Neighbors
from pine.nn.sliced_rows import SlicedRows, SlicesInFile, sum_slices

MOST_COLUMNS, FEWEST_COLUMNS = 64, 2  # of a slice
SLICES_AT_ONCE = 4  # in memory, where labels are propagated


class MappedPart(BlockPart):
    """columns: of a slice."""

    def __init__(self, graph: Graph, arrays: MappedArrays, columns: int) -> None:
        super().__init__(graph.num_nodes, graph.nodes)
        self.arrays, self.columns = arrays, columns

    def zeros(self, *shape: int) -> Tensor:
        return torch.from_numpy(self.arrays.zeros(*shape))

    def sliced(self, rows: int, width: int) -> SlicedRows:
        return SlicesInFile(self.arrays, rows, width, self.columns)

    def drawn(self, draw: Callable[[int], NDArray[Any]]) -> NDArray[Any]:
        rows: NDArray[Any] | None = None
        for lo in range(0, self.num_nodes, DRAWN_ROWS):
            some = draw(min(DRAWN_ROWS, self.num_nodes - lo))
            rows = self.arrays.zeros(self.num_nodes, some.shape[1]) if rows is None else rows
            rows[lo : lo + len(some)] = some
        assert rows is not None
        return rows

    def for_sums(self, rows: NDArray[Any], device: torch.device) -> SlicedRows:
        sliced = self.sliced(*rows.shape)
        for lo in range(0, len(rows), DRAWN_ROWS):
            sliced[lo : lo + DRAWN_ROWS] = torch.from_numpy(rows[lo : lo + DRAWN_ROWS])
        return sliced

    def sums(self, neighbors: Neighbors, rows: Tensor | SlicedRows) -> SlicedRows:
        assert isinstance(rows, SlicedRows)
        sum_slices([rows], [neighbors], rows)
        return rows

    def after_sums(self, rows: Tensor | SlicedRows) -> Tensor:
        return self.zeros(*rows.shape)

    def column_slices(self, width: int) -> list[slice]:
        return [slice(lo, min(lo + self.columns, width)) for lo in range(0, width, self.columns)]

    def array(self, *shape: int) -> NDArray[np.float32]:
        return self.arrays.zeros(*shape)


def slice_columns(num_nodes: int, free: float | None) -> int:
    """How many columns of all nodes fit into so many bytes; None: it is not known how many there are."""
    columns = MOST_COLUMNS
    while free is not None and columns > FEWEST_COLUMNS and slice_bytes(num_nodes, columns) > free:
        columns //= 2
    return columns


def slice_bytes(num_nodes: int, columns: int) -> float:
    """Of the slices that are in memory at once."""
    return 4.0 * SLICES_AT_ONCE * num_nodes * columns
