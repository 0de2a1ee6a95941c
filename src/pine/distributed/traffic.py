"""What travels between ranks in a step of training, counted from the partition.

rows of messages  2 * 4 * L * boundary rows    forward, and their gradients back; L columns, all groups together
sums              4 * shared parameters * ranks            handed to all_reduce
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
import torch

from pine.distributed.part import NeighborsOfRank, RankPart
from pine.graph import Graph
from pine.nn.neighbor_sum import Neighbors

FLOAT_BYTES = 4


@dataclass(frozen=True)
class Traffic:
    """nodes: of each rank. cut: edges between nodes of two ranks, of all. boundary_rows: that ranks receive from others
    before a sum over neighbors, over all ranks and groups. exchanged, summed: bytes a step, over all ranks.
    """

    nodes: tuple[int, ...]
    edges: int
    cut: int
    boundary_rows: int
    exchanged: int
    summed: int

    @classmethod
    def of(cls, graph: Graph, part: RankPart, groups: Sequence[Neighbors], width: int, shared: int) -> Self:
        """width: columns of messages. shared: numbers that are summed over ranks in a step."""
        received = sum(sum(each.halo.received) for each in groups if isinstance(each, NeighborsOfRank))
        rows = int(part.ranks.total(torch.tensor(received)))
        links, owner = graph.links(), part.owner
        cut = int(np.count_nonzero(owner[links.rows()] != owner[links.indices])) // 2
        nodes = tuple(np.bincount(owner, minlength=part.ranks.size).tolist())
        bytes_of_rows, bytes_of_sums = 2 * FLOAT_BYTES * width * rows, FLOAT_BYTES * shared * part.ranks.size
        return cls(nodes, links.nnz // 2, cut, rows, bytes_of_rows, bytes_of_sums)

    @property
    def line(self) -> str:
        """For people."""
        share = self.cut / max(1, self.edges)
        return (
            f"ranks: {len(self.nodes)} with {min(self.nodes):,} to {max(self.nodes):,} nodes, {share:.1%} of the edges "
            f"between them; {self.boundary_rows:,} boundary rows, {(self.exchanged + self.summed) / 1e6:.2f} MB a step"
        )

    def record(self) -> dict[str, Any]:
        """For run.json."""
        return asdict(self)
