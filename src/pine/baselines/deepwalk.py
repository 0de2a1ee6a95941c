"""DeepWalk: skip-gram on uniform random walks (Perozzi et al., 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from pine._internal.settings import Count
from pine.baselines.skip_gram.skip_gram import NEGATIVES, embed_walks
from pine.embedder import Embedder, Fitted, Seed
from pine.graph import Graph
from pine.graph.sampling.walks import Walker
from pine.labels import Labels


@dataclass
class DeepWalk(Embedder):
    """Node types are ignored, edges go both ways, and the walk of a node without neighbors stays there.

    Defaults: the PINE paper's setting, Section 4.1; a hierarchical softmax, as in DeepWalk's own code.

    dim: the length of a vector.
    walks: how many from each node.
    length: how many nodes a walk has.
    window: how far apart in a walk two nodes may be to be each other's context.
    output: "hierarchical" softmax, or "negative" sampling.
    negatives: nodes drawn against each pair, for output "negative".
    seed: a number of at least 0, a NumPy generator, or None for a new draw each time.
    threads: of the CPU; None: all cores.
    """

    name: ClassVar[str] = "deepwalk"
    revision: ClassVar[int] = 1
    supervised: ClassVar[bool] = False

    dim: Count = 64
    walks: Count = 80
    length: Count = 40
    window: Count = 10
    output: Literal["hierarchical", "negative"] = "hierarchical"
    negatives: Count = NEGATIVES
    seed: Seed = 0
    threads: Count | None = None

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        vectors = embed_walks(
            Walker.of(graph.links()),
            graph.num_nodes,
            walks=self.walks,
            length=self.length,
            dim=self.dim,
            window=self.window,
            output=self.output,
            negatives=self.negatives,
            rng=rng,
            threads=self.threads,
        )
        return Fitted(vectors)
