"""The structural start as a method of its own: the vectors from which PINE begins, before anything is learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pine.embedder import Embedder, Fitted, Seed
from pine.errors import InputError
from pine.graph import Graph
from pine.labels import Labels


@dataclass
class StructuralStart(Embedder):
    """embedding_ is PINE's x before training, for the same dim and seed: what training adds is measured against it."""

    name: ClassVar[str] = "start"
    revision: ClassVar[int] = 1
    supervised: ClassVar[bool] = False

    dim: int = 64
    seed: Seed = 0
    threads: int | None = None

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        from pine.model.init.start import structural_start  # where it is used, so that `import pine` stays quick

        if self.dim < 1:
            raise InputError(f"dim must be a positive whole number, got {self.dim!r}")
        adjacency = graph.links()
        return Fitted(structural_start(adjacency, self.dim, rng, threads=self.threads))
