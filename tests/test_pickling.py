"""Graphs and fitted models go to other processes and are copied; a saved run is read without running anything."""

from __future__ import annotations

import copy
import multiprocessing
import pickle

import joblib
import numpy as np
import pytest
import torch
from support.convert import PLAIN, TYPED, same_graph
from support.graphs import graph_for, two_groups

from pine import METHODS, PINE, Graph

GRAPHS = {**PLAIN, **TYPED}


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_is_the_same_after_pickling_and_cannot_be_changed_there_either(name):
    graph = GRAPHS[name]
    back = pickle.loads(pickle.dumps(graph))
    assert same_graph(back, graph)
    matrix = back.matrix(back.relations[0])
    with pytest.raises(ValueError, match="read-only"):
        matrix.indices[:] = 0
    with pytest.raises(TypeError):
        back.features["node"] = None


def test_arrays_that_travel_with_the_nodes_are_pickled_too():
    graph = Graph.from_relations({("a", "to", "a"): [(0, 1)]}, node_data={"a": {"y": [3, 4]}})
    assert pickle.loads(pickle.dumps(graph)).node_data["a"]["y"].tolist() == [3, 4]


def test_a_graph_cannot_change_so_a_copy_of_it_is_itself():
    graph = PLAIN["weighted"] if "weighted" in PLAIN else next(iter(PLAIN.values()))
    assert copy.deepcopy(graph) is graph
    assert same_graph(copy.copy(graph), graph)


@pytest.mark.parametrize("name", METHODS)
def test_a_fitted_method_is_the_same_after_pickling_and_copying(name):
    method = METHODS[name]
    graph, labels = two_groups()
    graph = graph_for(method, graph)
    few = {"epochs": 3, "walks": 2, "label_steps": 10, "steps": 20, "layers": 2}
    own = method().get_params()
    model = method().set_params(**{key: value for key, value in few.items() if key in own})
    model.fit(graph, labels if method.supervised else None)
    model.most_similar(0)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert repr(other) == repr(model)
        np.testing.assert_array_equal(other.embedding_, model.embedding_)
        assert other.most_similar(0) == model.most_similar(0)
        if method.supervised:
            np.testing.assert_array_equal(other.predict(), model.predict())


def test_what_similarity_keeps_is_not_pickled():
    graph, _ = two_groups()
    model = PINE(dim=4).fit(graph)
    before = len(pickle.dumps(model))
    model.most_similar(0)
    assert len(pickle.dumps(model)) == before


def fitted_there(graph: Graph, model: PINE) -> np.ndarray:
    return model.fit(graph, np.arange(graph.num_nodes) // 20).embedding_


def asked_there(model: PINE) -> list[tuple[int, float]]:
    similar: list[tuple[int, float]] = model.most_similar(0, k=3)
    return similar


def test_another_process_fits_the_same_bits_and_asks_a_model_that_it_is_sent():
    graph, labels = two_groups()
    model = PINE(dim=4, epochs=3, threads=1).fit(graph, labels)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there = pool.apply(fitted_there, (graph, PINE(dim=4, epochs=3, threads=1)))
        similar = pool.apply(asked_there, (model,))
    np.testing.assert_array_equal(there, model.embedding_)
    assert similar == model.most_similar(0, k=3)


def test_joblib_runs_fits_in_processes_of_its_own():
    graph, labels = two_groups()
    models = [PINE(dim=4, epochs=3, threads=1, seed=seed) for seed in (0, 1)]
    there = joblib.Parallel(n_jobs=2)(joblib.delayed(model.fit)(graph, labels) for model in models)
    for model, other in zip(models, there, strict=True):
        np.testing.assert_array_equal(other.embedding_, model.fit(graph, labels).embedding_)


def test_a_saved_run_is_read_without_unpickling_anything(tmp_path, monkeypatch):
    graph, labels = two_groups()
    model = PINE(dim=4, epochs=3).fit(graph, labels)
    model.save(tmp_path / "run")

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a run is numbers and JSON")

    for module in (pickle, torch, joblib):
        monkeypatch.setattr(module, "load", refused)
    monkeypatch.setattr(pickle, "loads", refused)
    monkeypatch.setattr(pickle, "Unpickler", refused)
    np.testing.assert_array_equal(PINE.load(tmp_path / "run").embedding_, model.embedding_)
