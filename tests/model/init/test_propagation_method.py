"""The start as a method gives the very vectors from which PINE begins."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.models import pine_with

import pine
from pine import METHODS, Graph, InputError
from pine.errors import DeviceError
from pine.methods import load_run, method_class
from pine.model import Propagation
from pine.model.init.start import structural_start


def test_vectors_are_the_structural_start_of_the_same_dim_and_seed():
    graph = pine.datasets.load("cora").graph
    found = Propagation(dim=16, seed=3, device="cpu").fit(graph).embedding_
    np.testing.assert_array_equal(found, structural_start(graph.adjacency(), 16, np.random.default_rng(3)))


def test_pine_begins_there():
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(rng.integers(0, 50, (150, 2)), nodes=range(50))
    still = pine_with(dim=8, seed=5, epochs=1, embedding_lr=1e-12, lam=1.0, scaling="sqrt")
    start = Propagation(dim=8, seed=5).fit(graph).embedding_
    np.testing.assert_allclose(still.fit(graph).embedding_, start, atol=1e-6)


def test_direction_does_not_matter_to_it():
    edges = np.random.default_rng(0).integers(0, 30, (90, 2))
    both = Graph.from_edges(edges, nodes=range(30), directed=True)
    assert np.isfinite(Propagation(dim=4).fit(both).embedding_).all()


def test_a_dim_that_is_no_number_of_columns_is_refused():
    with pytest.raises(InputError, match="dim must be a whole number of at least 1, got 0"):
        Propagation(dim=0).fit(Graph.from_edges([(0, 1)]))


def test_its_former_name_finds_it_and_is_not_listed():
    assert METHODS["start"] is method_class("start") is METHODS["propagation"] is Propagation
    assert "start" not in list(METHODS)
    with pytest.raises(KeyError):
        METHODS["push"]
    with pytest.raises(InputError, match="unknown method 'push'; there are 'pine', 'propagation'"):
        method_class("push")


def test_runs_saved_under_its_former_name_load(tmp_path):
    model = Propagation(dim=4).fit(Graph.from_edges([(0, 1), (1, 2)]))
    model.save(tmp_path / "run")
    about = tmp_path / "run" / "run.json"
    saved = json.loads(about.read_text())
    del saved["params"]["device"], saved["sum"], saved["sums"]  # they came later
    about.write_text(json.dumps(saved | {"method": "start", "format": 1}))
    for loaded in (load_run(tmp_path / "run"), Propagation.load(tmp_path / "run")):
        np.testing.assert_array_equal(loaded.embedding_, model.embedding_)


def test_a_device_that_is_not_there_is_refused_on_a_large_graph():
    ring = np.stack([np.arange(5000), np.roll(np.arange(5000), 1)], 1)
    with pytest.raises(DeviceError, match="device 'tpu' cannot be used here"):
        Propagation(device="tpu").fit(Graph.from_edges(ring))
