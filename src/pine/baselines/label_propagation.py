"""Label propagation: F <- alpha S F + (1 - alpha) Y with S = D^-1/2 A D^-1/2 (Zhou et al., 2004).

One formula serves classes, label sets and numbers: the prediction at a node is the average of the known labels,
weighted by how much of each arrives there, F_v / (sum of arrivals). Where nothing arrives it is the average of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pine.embedder import Embedder, Fitted
from pine.errors import InputError
from pine.graph import Graph
from pine.labels import Labels
from pine.spreading import normalized_adjacency


@dataclass
class LabelPropagation(Embedder):
    """embedding_ is the class scores, for the nodes of every type."""

    name: ClassVar[str] = "label-propagation"
    supervised: ClassVar[bool] = True

    alpha: float = 0.9  # how far labels travel; the usual choice, strong on citation graphs
    rounds: int = 100  # .9 ** 100 < 3e-5: what is left out changes nothing
    seed: int | None = None  # nothing here is random; kept so that every method takes one

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        assert labels is not None
        if not 0 < self.alpha < 1 or self.rounds < 1:
            raise InputError(
                f"alpha must lie between 0 and 1 and rounds be positive, got {self.alpha} and {self.rounds}"
            )
        nodes = graph.nodes.slice(labels.type)
        seeds = np.zeros((graph.num_nodes, labels.num_outputs + 1))
        # The last column is the mass of known labels that arrives.
        seeds[nodes.start + labels.known] = np.column_stack([labels.targets(), np.ones(len(labels.known))])
        arrived = self._spread(normalized_adjacency(graph), seeds)
        mass = arrived[:, -1:]
        average = labels.targets().mean(axis=0)
        scores = np.where(mass > 0, arrived[:, :-1] / np.where(mass > 0, mass, 1), average).astype(np.float32)
        return Fitted(scores, scores[nodes])

    def _spread(self, normalized: sp.csr_array, seeds: NDArray[np.float64]) -> NDArray[np.float64]:
        spread = seeds
        for _ in range(self.rounds):
            spread = self.alpha * (normalized @ spread) + (1 - self.alpha) * seeds
        return spread
