"""A combined score: logistic regression over a few columns of a pair, their squares and products.

The weights are learned on a tenth of the edges, at most 5,000, held out for it, and as many pairs without one; columns
are of the graph without them. The columns of the whole graph then get these weights. Columns, their products and C were
chosen on edges held out of the training edges of cora, wikipedia and email-eu (docs/links.md).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from pine.graph import Graph
from pine.graph.nodes import Relation
from pine.links.pairs import Pairs
from pine.links.split import hold_out

HELD_OUT_SHARE = 0.1  # of the edges, for the weights
HELD_OUT_EDGES = 5_000  # at most: enough for thirty weights
COMBINED_C = 1.0  # of the regression, on standardized columns
MOST_STEPS_OF_WEIGHTS = 1000

Columns = Callable[[Pairs], NDArray[np.float64]]  # (num_pairs, num_columns)


def num_held_out(graph: Graph, relation: Relation) -> int:
    """How many edges of a relation, about, the method is fitted without to learn the weights."""
    return min(HELD_OUT_EDGES, round(HELD_OUT_SHARE * graph.edge_count(relation)))


def learn_combined(
    graph: Graph, relation: Relation, columns: Callable[[Graph], Columns], seed: int
) -> Callable[[Pairs], NDArray[np.float64]]:
    """Pairs to the chance of an edge, were there as many edges as other pairs; columns: of a graph."""
    # Here, because every method can score pairs: imported above, it would double the time that PINE takes to import.
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    share = num_held_out(graph, relation) / max(1, graph.edge_count(relation))
    held = hold_out(graph, seed, test=share, valid=0.0, relation=relation, rivals=1)
    pairs = np.concatenate([held.test, held.test_negatives])
    is_edge = np.repeat([1, 0], [len(held.test), len(held.test_negatives)])
    model = make_pipeline(
        StandardScaler(),
        PolynomialFeatures(2, include_bias=False),
        StandardScaler(),
        LogisticRegression(C=COMBINED_C, max_iter=MOST_STEPS_OF_WEIGHTS),
    )
    own = columns(graph)
    with threadpool_limits(1):
        model.fit(columns(held.graph)(pairs), is_edge)

    def chance(some: Pairs) -> NDArray[np.float64]:
        if not len(some):
            return np.empty(0)
        with threadpool_limits(1):
            return np.asarray(model.predict_proba(own(some))[:, 1])

    return chance
