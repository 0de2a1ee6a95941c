"""What known labels say of the nodes around them, and the share that it has in a prediction.

theta reads off x and f what kind of node this is; known labels, carried along edges (pine.propagation), say what is
near. Which is worth more depends on the graph: the share is chosen with the other settings, on held-out labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pine.graph import Graph
from pine.nn import Neighbors
from pine.propagation import carried, heard, seeds_of

# Shares to choose from, and how far labels travel, as found on held-out training labels of cora, citeseer, pubmed,
# wikipedia and email-eu. The first is used where there is nothing to choose with.
SHARES = (0.0, 0.35, 0.65)
ALPHA, ROUNDS = 0.9, 30


@dataclass(frozen=True, eq=False)
class Heard:
    """The average known label at nodes (count, num_outputs), and where there is one: reached (count, 1)."""

    labels: NDArray[np.float32]
    reached: NDArray[np.bool_]

    def beside(self, scores: NDArray[np.float32], share: float) -> NDArray[np.float32]:
        """Scores of which a share is what is heard; where nothing is, they stay."""
        mixed: NDArray[np.float32] = np.where(self.reached, (1 - share) * scores + share * self.labels, scores)
        return mixed

    def at(self, positions: NDArray[np.int64]) -> Heard:
        """Some of the nodes."""
        return Heard(self.labels[positions], self.reached[positions])


class Listening:
    """The links of a graph's nodes, prepared for a device."""

    def __init__(self, graph: Graph, type: str, device: torch.device | str, threads: int | None) -> None:
        self.place, self.count = graph.nodes.slice(type), graph.num_nodes
        self.neighbors = Neighbors.of(graph.links(), "sqrt", device, threads=threads)
        self.root = torch.tensor(self.neighbors.scale, dtype=torch.float32, device=device)[:, None]

    def hear(self, known: NDArray[np.int64], targets: NDArray[np.float64]) -> Heard:
        """What all nodes of the type hear of labels (num_known, num_outputs) at some of them."""
        seeds = seeds_of(self.count, self.place.start + known, targets.astype(np.float32))
        arrived = carried(self._times_s, torch.tensor(seeds, device=self.neighbors.device), ALPHA, ROUNDS)
        return Heard(*heard(arrived[self.place].cpu().numpy()))

    def _times_s(self, f: Tensor) -> Tensor:
        return self.neighbors.total(self.root * f, transposed=False)
