"""Label propagation (Zhou et al., 2004): see pine.propagation. Where no label arrives, the prediction is the average of
all known ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pine.embedder import Embedder, Fitted
from pine.errors import InputError
from pine.graph import Graph
from pine.labels import Labels
from pine.propagation import carried, heard, normalized_adjacency, seeds_of


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
        normalized = normalized_adjacency(graph)
        seeds = seeds_of(graph.num_nodes, nodes.start + labels.known, labels.targets())
        averages, reached = heard(carried(lambda f: normalized @ f, seeds, self.alpha, self.rounds))
        scores = np.where(reached, averages, labels.targets().mean(axis=0)).astype(np.float32)
        return Fitted(scores, scores[nodes])
