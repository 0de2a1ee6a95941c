"""fit in any surroundings: modes and defaults of torch, odd settings, other graphs; its progress and its log."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from support.graphs import graph_for, two_groups
from torch_geometric.data import Data, HeteroData

from pine import METHODS, PINE, Graph, InputError, NodeClassifier

GRAPH, LABELS = two_groups()


@contextmanager
def double_by_default() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


SURROUNDINGS: dict[str, Any] = {
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
    "float64": double_by_default,
}


@pytest.mark.parametrize("around", SURROUNDINGS)
@pytest.mark.parametrize("features", [False, True])
def test_the_modes_and_the_default_dtype_of_torch_change_no_bit(around, features):
    graph = GRAPH.with_features(np.eye(40, dtype=np.float32)) if features else GRAPH
    seen = np.where(np.arange(40) % 2, LABELS, -1)
    plain = PINE(dim=4, epochs=5).fit(graph, seen)
    with SURROUNDINGS[around]():
        model = PINE(dim=4, epochs=5).fit(graph, seen)
        transformed, predicted = model.transform(graph), model.predict_proba(graph=graph)
    np.testing.assert_array_equal(model.embedding_, plain.embedding_)
    np.testing.assert_array_equal(transformed, plain.transform(graph))
    np.testing.assert_array_equal(predicted, plain.predict_proba(graph=graph))
    np.testing.assert_array_equal(PINE(dim=4, epochs=5).fit(graph, seen).embedding_, plain.embedding_)


@pytest.mark.parametrize("around", SURROUNDINGS)
@pytest.mark.parametrize("name", ["gcn", "mlp", "appnp", "planetoid"])
def test_baselines_train_in_any_surroundings_too(around, name):
    method = METHODS[name]
    few = {"epochs": 3, "label_steps": 10, "steps": 20}
    settings = {key: value for key, value in few.items() if key in method().get_params()}
    with SURROUNDINGS[around]():
        model = method().set_params(**settings).fit(graph_for(method, GRAPH), LABELS)
    assert np.isfinite(model.embedding_).all()


def test_fit_leaves_the_modes_of_torch_as_they_were():
    with torch.inference_mode():
        PINE(dim=4, epochs=2).fit(GRAPH, LABELS)
        assert torch.is_inference_mode_enabled()
    with torch.no_grad():
        PINE(dim=4, epochs=2).fit(GRAPH, LABELS)
        assert not torch.is_grad_enabled()


@pytest.mark.parametrize("name", METHODS)
def test_a_seed_below_zero_is_refused(name):
    method = METHODS[name]
    with pytest.raises(InputError, match=r"seed must be a whole number of at least 0 or .*, got -1"):
        method().set_params(seed=-1).fit(graph_for(method, GRAPH), LABELS if method.supervised else None)


def test_a_thousand_threads_may_be_asked_for():
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(rng.integers(0, 20_000, (40_000, 2)), nodes=range(20_000))
    models = [PINE(dim=4, threads=threads, epochs=1, lam=1.0, label_share=0.0) for threads in (1000, 2)]
    one, other = (model.fit(graph, np.arange(20_000) % 3).embedding_ for model in models)
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("seed", [2**32, 2**64 + 1, 10**100])
def test_a_seed_of_any_size_is_taken_and_saved(seed, tmp_path):
    model = PINE(dim=4, epochs=1, seed=seed).fit(GRAPH, LABELS)
    model.save(tmp_path / "run")
    assert PINE.load(tmp_path / "run").seed == seed
    np.testing.assert_array_equal(PINE(dim=4, epochs=1, seed=seed).fit(GRAPH, LABELS).embedding_, model.embedding_)


@pytest.mark.parametrize("threads", [0, -1, 1.5, True])
def test_numbers_of_threads_that_cannot_be_are_refused(threads):
    with pytest.raises(InputError, match=r"threads must be a whole number of at least 1 or none, got"):
        PINE(dim=4, threads=threads).fit(GRAPH, LABELS)


FOREIGN: dict[str, Any] = {
    "networkx": nx.karate_club_graph(),
    "scipy": sp.csr_array(np.eye(3)),
    "pyg": Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_graph_of_another_library_is_told_the_way_in(name):
    given, way = FOREIGN[name], rf"Graph\.from_{name}\(\.\.\.\)"
    model = PINE(dim=4).fit(GRAPH, LABELS)
    for what, call in {
        "fit": lambda: PINE().fit(given),
        "transform": lambda: model.transform(given),
        "predict": lambda: model.predict(graph=given),
        "NodeClassifier": lambda: NodeClassifier(given),
    }.items():
        with pytest.raises(InputError, match=rf"{what} takes a pine\.Graph, got \w+; build one with {way}"):
            call()
    with pytest.raises(InputError, match=rf"is a graph, not edges: take it whole by {way}"):
        Graph.from_edges(given)


def test_a_graph_of_several_types_by_pyg_is_told_the_way_in_too():
    with pytest.raises(InputError, match=r"Graph\.from_pyg"):
        PINE().fit(HeteroData())


# ---- progress and logging ----


def shown_by_a_fit() -> str:
    out = io.StringIO()
    with redirect_stderr(out), redirect_stdout(out):
        PINE(dim=4, epochs=5).fit(GRAPH, LABELS, progress=True)
    return out.getvalue()


def test_progress_true_shows_a_bar_by_tqdm():
    pytest.importorskip("tqdm")
    text = shown_by_a_fit()
    assert "PINE" in text
    assert "7/7" in text  # five epochs, and one for each of the two parts that are held out


def test_progress_true_shows_a_bar_by_rich_where_there_is_no_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    text = shown_by_a_fit()
    assert "PINE" in text
    assert "100%" in text


def test_progress_may_be_a_function_or_nothing_but_not_a_word():
    calls: list[tuple[int, int, str]] = []
    PINE(dim=4, epochs=5).fit(GRAPH, LABELS, progress=lambda *call: calls.append(call))
    assert calls[-1] == (7, 7, "PINE")
    PINE(dim=4, epochs=5).fit(GRAPH, LABELS, progress=False)
    with pytest.raises(InputError, match=r"progress must be True or a function of \(done, planned, what\), got 'yes'"):
        PINE(dim=4, epochs=5).fit(GRAPH, LABELS, progress="yes")  # type: ignore[arg-type]


def test_a_fit_is_told_to_the_logger_of_pine_and_to_nobody_else(caplog, capsys):
    with caplog.at_level(logging.INFO, logger="pine"):
        PINE(dim=4, epochs=5).fit(GRAPH, LABELS)
    messages = [record.getMessage() for record in caplog.records if record.name == "pine"]
    assert messages[0] == f"pine: fitting {GRAPH!r}"
    assert any(message.startswith("chosen: {'lam': 60.0, 'epochs': 5, ") for message in messages)
    assert messages[-1].startswith("pine: fitted in ")
    assert capsys.readouterr() == ("", "")
