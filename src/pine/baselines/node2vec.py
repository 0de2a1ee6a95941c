"""node2vec: skip-gram on second-order walks, biased toward the node before (p) or away from it (q) (Grover and
Leskovec, 2016)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pine._internal.settings import Count, FinitePositive
from pine.baselines.skip_gram.skip_gram import NEGATIVES, embed_walks
from pine.embedder import Embedder, Fitted, Seed
from pine.graph import Graph
from pine.graph.sampling.node2vec_walks import Node2VecWalker
from pine.labels import Labels


@dataclass
class Node2Vec(Embedder):
    """Node types are ignored, edges go both ways, and the walk of a node without neighbors stays there.

    Defaults: the PINE paper's setting, Section 4.1. It tunes p and q without saying what it found; here they are 1, as
    in the authors' code, which makes the walks DeepWalk's. The negatives are word2vec's.

    dim: the length of a vector.
    walks: how many from each node.
    length: how many nodes a walk has.
    window: how far apart in a walk two nodes may be to be each other's context.
    p: return parameter: the larger, the less a walk turns back.
    q: in-out parameter: the larger, the more a walk stays near the node before.
    negatives: nodes drawn against each pair.
    seed: a number of at least 0, a NumPy generator, or None for a new draw each time.
    threads: of the CPU; None: all cores.
    """

    name: ClassVar[str] = "node2vec"
    revision: ClassVar[int] = 1
    supervised: ClassVar[bool] = False

    dim: Count = 64
    walks: Count = 100
    length: Count = 80
    window: Count = 10
    p: FinitePositive = 1.0
    q: FinitePositive = 1.0
    negatives: Count = NEGATIVES
    seed: Seed = 0
    threads: Count | None = None

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        vectors = embed_walks(
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
