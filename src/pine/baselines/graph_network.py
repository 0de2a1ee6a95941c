"""What GCN, GAT and GraphSAGE are as methods: checked settings, and a network of PyTorch Geometric's layers."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from pine.embedder import Embedder, Fitted
from pine.errors import InputError
from pine.graph import Graph
from pine.labels import Labels

# What needs torch is imported where it is used, so that `import pine` stays quick.


class GraphNetwork(Embedder):
    """A subclass names its settings that count something, and learns."""

    supervised: ClassVar[bool] = True
    counts: ClassVar[tuple[str, ...]] = ("dim", "epochs")  # settings that are at least 1
    dropout: float
    threads: int | None

    @abstractmethod
    def _learn(self, graph: Graph, labels: Labels, rng: np.random.Generator) -> Fitted:
        """Train the network."""

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        from pine.baselines.neural import need_pyg, torch_left_alone

        assert labels is not None
        need_pyg(self.name)
        self._check()
        with torch_left_alone(self.threads):
            return self._learn(graph, labels, rng)

    def _check(self) -> None:
        for setting in self.counts:
            if getattr(self, setting) < 1:
                raise InputError(f"{setting} must be at least 1, got {getattr(self, setting)}")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout must be at least 0 and below 1, got {self.dropout}")
