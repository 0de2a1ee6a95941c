"""All nodes of a graph on a GPU whose memory has room for their vectors, but not for all that a step makes of them."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from pine.graph import Graph
from pine.model.block_part import BlockPart
from pine.nn.sliced_rows import SlicedRows, SlicesInMemory


class DevicePart(BlockPart):
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
