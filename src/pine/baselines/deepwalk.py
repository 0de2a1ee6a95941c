"""DeepWalk: uniform random walks are sentences, nodes their words, and skip-gram gives words vectors (Perozzi et al.,
2014).

Walks are made twice, first to count nodes for the Huffman tree and then to learn from, instead of being kept: 8.7
million steps, all of Cora's, take a tenth of a second.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from pine.baselines.skip_gram import NEGATIVES, skip_gram
from pine.embedder import Embedder, Fitted, Seed
from pine.errors import InputError
from pine.graph import Graph
from pine.graph.walks import Walker
from pine.labels import Labels


@dataclass
class DeepWalk(Embedder):
    """Types are not told apart, edges go both ways, and a node without neighbors is a walk of itself.

    Defaults: the PINE paper's setting, Section 4.1; a hierarchical softmax, as in DeepWalk's own code.
    """

    name: ClassVar[str] = "deepwalk"
    supervised: ClassVar[bool] = False

    dim: int = 64
    walks: int = 80  # from each node
    length: int = 40  # nodes in a walk
    window: int = 10
    output: Literal["hierarchical", "negative"] = "hierarchical"
    negatives: int = NEGATIVES  # for output "negative"
    seed: Seed = 0
    threads: int | None = None

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        if self.walks < 1 or self.length < 1:
            raise InputError(f"walks and length must be at least 1, got {self.walks} and {self.length}")
        walker = Walker.of(graph.links())
        seed = int(rng.integers(2**63))
        counts = np.zeros(graph.num_nodes, np.int64)
        for walks in self._passes(walker, graph.num_nodes, seed):
            counts += np.bincount(walks.ravel(), minlength=graph.num_nodes)
        vectors = skip_gram(
            self._passes(walker, graph.num_nodes, seed),
            self.walks * graph.num_nodes,
            counts,
            dim=self.dim,
            window=self.window,
            rng=rng,
            output=self.output,
            negatives=self.negatives,
            threads=self.threads,
        )
        return Fitted(vectors)

    def _passes(self, walker: Walker, num_nodes: int, seed: int) -> Iterator[NDArray[np.integer]]:
        """A walk from every node, in a new order each time."""
        rng = np.random.default_rng(seed)
        for _ in range(self.walks):
            yield walker.walks(rng.permutation(num_nodes), self.length, int(rng.integers(2**63)), self.threads)
