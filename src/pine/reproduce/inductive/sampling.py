"""Neighbors drawn uniformly and with replacement: neighbor r modulo degree of a node, for r uniform below DRAW_BELOW.

All by operations of torch on whole tensors, so that a graph of a hundred million edges is sampled where it lies.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from pine.graph.csr import CSR

DRAW_BELOW = 2**62  # so large that a draw modulo a degree is as good as uniform


@dataclass(frozen=True, eq=False)
class NeighborRows:
    """Compressed rows on a device: the neighbors of node v are indices[indptr[v] : indptr[v + 1]]."""

    indptr: Tensor
    indices: Tensor

    @classmethod
    def of(cls, csr: CSR, device: torch.device) -> NeighborRows:
        return cls(torch.tensor(csr.indptr, device=device), torch.tensor(csr.indices, device=device))

    def draw(self, nodes: Tensor, size: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Neighbors (n, size) of nodes (n,), and how many each has, (n,): who has none stands for itself."""
        first = self.indptr[nodes]
        degree = self.indptr[nodes + 1] - first
        if len(self.indices) == 0:
            return nodes[:, None].expand(-1, size), degree
        drawn = torch.randint(DRAW_BELOW, (len(nodes), size), generator=generator, device=nodes.device)
        # Of a node without neighbors the place may lie past the end; it is not used.
        place = (first[:, None] + drawn % degree.clamp(min=1)[:, None]).clamp(max=len(self.indices) - 1)
        return torch.where((degree == 0)[:, None], nodes[:, None], self.indices[place]), degree
