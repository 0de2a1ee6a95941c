"""Graphs that go to another library and come back, and whether they are the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from pine import Graph


def same_graph(one: Graph, other: Graph) -> bool:
    """Whether two graphs are equal in everything they hold."""

    def arrays(values: Any) -> Any:
        return values.toarray() if sp.issparse(values) else np.asarray(values)

    def equal(left: Any, right: Any) -> bool:
        return (left is None) == (right is None) and (left is None or np.array_equal(arrays(left), arrays(right)))

    return (
        one.node_types == other.node_types
        and one.relations == other.relations
        and one.directed == other.directed
        and all(one.ids(type).tolist() == other.ids(type).tolist() for type in one.node_types)
        and all(
            equal(getattr(one.matrix(relation), part), getattr(other.matrix(relation), part))
            for relation in one.relations
            for part in ("indptr", "indices", "weights")
        )
        and one.features.keys() == other.features.keys()
        and all(equal(one.features[type], other.features[type]) for type in one.features)
        and one.feature_mask.keys() == other.feature_mask.keys()
        and all(equal(one.feature_mask[type], other.feature_mask[type]) for type in one.feature_mask)
    )


FEATURES = np.arange(8, dtype=np.float32).reshape(4, 2)
PLAIN = {
    "undirected": Graph.from_edges([("a", "b"), ("b", "c")], nodes=["a", "b", "c", "alone"]),
    "directed": Graph.from_edges([(2, 1), (1, 2), (1, 0)], directed=True),
    "weighted": Graph.from_edges(
        [("a", "b"), ("c", "b")], weights=[0.5, 2.0], nodes=["c", "b", "a", "z"], features=FEATURES
    ),
    "unknown features": Graph.from_edges([(0, 1), (2, 3)], features=FEATURES, feature_mask=[True, False, True, False]),
    "loops": Graph.from_edges([(0, 0), (0, 1)], self_loops="keep", weights=[3.0, 1.0]),
    "parallel": Graph.from_edges([(0, 1), (0, 1), (1, 2)], duplicates="keep"),
    "objects": Graph.from_edges([((1, 2), "x"), ("x", 3)]),
}
TYPED = {
    "library": Graph.from_relations(
        {("author", "writes", "paper"): [("ann", 1), ("bob", 2)], ("paper", "cites", "paper"): [(1, 2)]},
        weights={("author", "writes", "paper"): [2.0, 3.0]},
        nodes={"author": ["ann", "bob", "eve"]},
        features={"paper": [[1.0], [2.0]], "author": [[1.0], [7.0], [2.0]]},
        feature_mask={"author": [True, False, True]},
    ),
    "ids in two types": Graph.from_relations({("a", "r", "b"): [(1, 1), (2, 1)]}),
    "directed": Graph.from_relations(
        {("u", "likes", "i"): [("x", "y")], ("u", "buys", "i"): [("x", "y")]}, directed=True
    ),
}
ALL = PLAIN | {f"typed {name}": graph for name, graph in TYPED.items()}
# Options without which a graph does not come back as it was.
OPTIONS: dict[str, dict[str, str]] = {"loops": {"self_loops": "keep"}, "parallel": {"duplicates": "keep"}}
