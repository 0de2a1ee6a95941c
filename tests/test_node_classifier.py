"""NodeClassifier keeps scikit-learn's habits."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from pine import PINE, Graph, NodeClassifier
from pine.baselines import LabelPropagation


def planted() -> tuple[Graph, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    kind = np.arange(60) % 2
    chance = np.where(kind[:, None] == kind[None, :], 0.2, 0.02)
    names = np.array([f"v{i}" for i in range(60)])
    edges = names[np.argwhere(np.triu(rng.random((60, 60)) < chance, 1))]
    return Graph.from_edges(edges, nodes=names), names, np.array(["odd", "even"])[kind]


def test_a_grid_search_over_node_ids_finds_a_setting_and_predicts():
    graph, names, kinds = planted()
    method = PINE(dim=8, epochs=30, lam=1.0)
    grid = {"method__lam": [1.0, 10.0], "method__training__dropout": [0.1]}
    search = GridSearchCV(NodeClassifier(graph, method), grid, cv=3)
    search.fit(names[:40], kinds[:40])
    assert search.best_params_["method__lam"] in (1.0, 10.0)
    assert search.best_estimator_.method_.training.dropout == 0.1
    assert (search.predict(names[40:]) == kinds[40:]).mean() > 0.8
    assert set(search.classes_) == {"odd", "even"}


def test_clones_share_the_graph_and_not_the_method():
    graph, _, _ = planted()
    first = NodeClassifier(graph, LabelPropagation(alpha=0.8))
    second = clone(first)
    assert second.graph is graph
    assert second.method is not first.method
    assert second.get_params()["method__alpha"] == 0.8


def test_it_works_in_a_pipeline_and_in_cross_validation():
    graph, names, kinds = planted()
    pipeline = make_pipeline(FunctionTransformer(), NodeClassifier(graph, LabelPropagation()))
    assert cross_val_score(pipeline, names.reshape(-1, 1), kinds, cv=3).mean() > 0.8
    pipeline.fit(names[:30], kinds[:30])
    assert pipeline.predict_proba(names[30:]).shape == (30, 2)


def test_nodes_of_one_type_of_a_typed_graph_are_classified():
    graph = Graph.from_relations({("doc", "has", "word"): [(i, f"w{i % 2}") for i in range(10)]})
    model = NodeClassifier(graph, LabelPropagation(), type="doc").fit([0, 1, 2, 3], ["a", "b", "a", "b"])
    assert model.predict([4, 5]).tolist() == ["a", "b"]
