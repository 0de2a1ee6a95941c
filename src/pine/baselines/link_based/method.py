"""Link-based classification: logistic regression on a node's links and on the labels near it (Lu and Getoor, 2003)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pine._internal.settings import FinitePositive, SeedNumber
from pine.baselines.link_based.features import Product, label_shares, neighbor_counts, neighbor_sides
from pine.baselines.link_based.regression import BlockRegression, probabilities
from pine.embedder import Embedder, Fitted
from pine.graph import Graph
from pine.labels import Labels


@dataclass
class LinkBased(Embedder):
    """The features of a node: who its neighbors are, for each relation; who the neighbors of other types are that its
    neighbors of the same type have; and the average of the known labels among its neighbors, and among nodes with a
    neighbor in common, its own label left out. Numbers are learned by ridge regression.

    It predicts once: the paper's rounds, in which predicted labels count as known, are left out. embedding_ is the
    scores before softmax; of nodes of other types it is what they add to those of their neighbors.

    l2: of squared weights, beside the sum of losses: 1 / C of scikit-learn. Chosen on held-out labels of dblp.
    seed: nothing here is random; kept so that every method takes one.
    """

    name: ClassVar[str] = "link-based"
    revision: ClassVar[int] = 1
    supervised: ClassVar[bool] = True

    l2: FinitePositive = 0.1
    seed: SeedNumber | None = None

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        assert labels is not None
        labels, center, scale = labels.standardized()
        count, sides = graph.count(labels.type), neighbor_sides(graph, labels.type)
        shares = Product((label_shares(sides, labels.type, labels, count),))
        blocks = [*neighbor_counts(sides, labels.type), shares]
        known = [block.rows(labels.known) for block in blocks]
        regression = BlockRegression.fit(known, labels.targets(), labels.task, self.l2)
        raw = regression.raw(blocks)
        vectors = np.zeros((graph.num_nodes, labels.num_outputs), np.float32)
        for side, weights in zip(sides, regression.weights, strict=False):
            vectors[graph.nodes.slice(side.type)] += weights
        vectors[graph.nodes.slice(labels.type)] = raw
        scores = probabilities(labels.task, raw) * scale + center
        return Fitted(vectors, scores.astype(np.float32))
