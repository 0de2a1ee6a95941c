"""A graph and a method as a scikit-learn classifier: X is node ids, y their labels."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from pine.embedder import Embedder
from pine.graph import Graph, check_graph
from pine.model import PINE


class NodeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fits a clone of the method, so that clone, Pipeline and GridSearchCV work; X is node ids, (n,) or (n, 1).

    graph: the graph that the nodes are of.
    method: PINE() without one. Its settings are reached as method__lam, method__epochs and so on.
    type: the type of the nodes, in a typed graph.
    """

    def __init__(self, graph: Graph, method: Embedder | None = None, type: str | None = None) -> None:
        check_graph("NodeClassifier", graph)
        self.graph = graph
        self.method = PINE() if method is None else method
        self.type = type

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the labels y of the nodes X; the other nodes of the graph are unlabeled."""
        labels = dict(zip(_ids(X), np.asarray(y).tolist(), strict=True))
        typed = labels if len(self.graph.node_types) == 1 else {self.graph.nodes.check_type(self.type): labels}
        self.method_: Embedder = clone(self.method).fit(self.graph, typed, task="classes")
        self.classes_ = self.method_.classes_
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The classes of the nodes X: (n,)."""
        return np.asarray(self.method_.predict(_ids(X)))

    def predict_proba(self, X: Any) -> NDArray[np.float32]:
        """Probabilities of the classes of the nodes X: (n, num_classes)."""
        return self.method_.predict_proba(_ids(X))

    def __sklearn_clone__(self) -> NodeClassifier:
        # A graph cannot change, so that clones share it.
        return NodeClassifier(self.graph, clone(self.method), self.type)


def _ids(X: Any) -> list[Any]:
    ids: list[Any] = np.asarray(X).reshape(-1).tolist()
    return ids
