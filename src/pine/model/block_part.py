"""Where a fit whose steps are made block by block (pine.model.block_objective) keeps what is of all nodes: on a GPU, or
in files (pine.model.mapped_part).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import torch
from torch import Tensor

from pine.distributed.part import Whole
from pine.graph import Graph
from pine.nn.sliced_rows import SlicedRows, SlicesInMemory


class BlockPart(Whole, ABC):
    """All nodes of a graph in one process."""

    @abstractmethod
    def zeros(self, *shape: int) -> Tensor:
        """Rows of all nodes, read and written from the first to the last."""

    @abstractmethod
    def sliced(self, rows: int, width: int) -> SlicedRows:
        """Zeros that sums over neighbors read."""


class DevicePart(BlockPart):
    """On a GPU whose memory has room for the vectors, but not for all that a step makes of them."""

    def __init__(self, graph: Graph, device: torch.device) -> None:
        super().__init__(graph.num_nodes, graph.nodes)
        self.device = device

    def zeros(self, *shape: int) -> Tensor:
        return torch.zeros(shape, dtype=torch.float32, device=self.device)

    def noise(self, rng: np.random.Generator, width: int, device: torch.device) -> Tensor:
        """Drawn on the GPU: a host takes a minute for fifty million nodes."""
        generator = torch.Generator(device).manual_seed(int(rng.integers(2**62)))
        return torch.randn(self.num_nodes, width, generator=generator, device=device)

    def sliced(self, rows: int, width: int) -> SlicedRows:
        return SlicesInMemory(self.zeros(rows, width))
