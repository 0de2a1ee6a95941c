"""Where a fit whose steps are made block by block (pine.model.block_objective) keeps what is of all nodes."""

from __future__ import annotations

from abc import ABC, abstractmethod

from torch import Tensor

from pine.distributed.part import Whole
from pine.nn.sliced_rows import SlicedRows


class BlockPart(Whole, ABC):
    """All nodes of a graph in one process."""

    @abstractmethod
    def zeros(self, *shape: int) -> Tensor:
        """Rows of all nodes, read and written from the first to the last."""

    @abstractmethod
    def sliced(self, rows: int, width: int) -> SlicedRows:
        """Zeros that sums over neighbors read."""
