"""node2vec: skip-gram on walks that lean toward where they came from (p) or away from it (q) (Grover and Leskovec,
2016)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pine.baselines.skip_gram.skip_gram import NEGATIVES
from pine.baselines.skip_gram.walk_vectors import walk_vectors
from pine.embedder import Embedder, Fitted, Seed
from pine.errors import InputError
from pine.graph import Graph
from pine.graph.sampling.node2vec_walks import Node2VecWalker
from pine.labels import Labels


@dataclass
class Node2Vec(Embedder):
    """Types are not told apart, edges go both ways, and a node without neighbors is a walk of itself.

    Defaults: the PINE paper's setting, Section 4.1. It tunes p and q without saying what it found; here they are 1, as
    in the authors' code, which makes the walks DeepWalk's. The negatives are word2vec's.
    """

    name: ClassVar[str] = "node2vec"
    revision: ClassVar[int] = 1
    supervised: ClassVar[bool] = False

    dim: int = 64
    walks: int = 100  # from each node
    length: int = 80  # nodes in a walk
    window: int = 10
    p: float = 1.0  # return parameter: the larger, the less a walk turns back
    q: float = 1.0  # in-out parameter: the larger, the more a walk stays near the node before
    negatives: int = NEGATIVES
    seed: Seed = 0
    threads: int | None = None

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        if not all(0 < each < math.inf for each in (self.p, self.q)):
            raise InputError(
                f"p and q must be positive numbers, got {self.p} and {self.q}; 1 and 1 is an unbiased walk"
            )
        vectors = walk_vectors(
            Node2VecWalker.of(graph.links(), self.p, self.q),
            graph.num_nodes,
            walks=self.walks,
            length=self.length,
            dim=self.dim,
            window=self.window,
            output="negative",
            negatives=self.negatives,
            rng=rng,
            threads=self.threads,
        )
        return Fitted(vectors)
