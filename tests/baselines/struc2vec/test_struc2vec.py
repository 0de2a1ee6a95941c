"""struc2vec walks among nodes with similar degrees around them, and gives structurally equal nodes similar vectors."""

from __future__ import annotations

import logging
import tracemalloc
from typing import Any

import networkx as nx
import numpy as np
import pytest
from support.graphs import graph_of, mirrored_karate
from support.logs import needs

import pine
from pine import Graph, InputError
from pine._internal.memory import format_bytes
from pine.baselines import Struc2Vec
from pine.baselines.struc2vec.distances import pairs_per_node
from pine.baselines.struc2vec.rings import RingSizes
from pine.baselines.struc2vec.struc2vec import bytes_needed, compares_all_pairs
from pine.evaluation import evaluate


def cosine(vectors: np.ndarray) -> np.ndarray:
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit @ unit.T


@pytest.mark.parametrize("pairs", ["similar", "all"])
def test_the_two_halves_of_mirrored_karate_fall_together(pairs):
    model = Struc2Vec(dim=16, pairs=pairs, epochs=3).fit(graph_of(mirrored_karate()))
    alike = cosine(model.embedding_)
    mirrored = alike[np.arange(34), np.arange(34, 68)]
    others = alike[np.triu_indices(68, 1)]
    assert np.median(mirrored) > np.quantile(others, 0.9)
    assert mirrored.mean() > others.mean() + 0.3


def test_the_cliques_of_a_barbell_fall_together_and_its_chain_apart():
    vectors = Struc2Vec(dim=16, epochs=3).fit(graph_of(nx.barbell_graph(10, 10))).embedding_
    alike = cosine(vectors)
    bells, chain = [*range(9), *range(21, 30)], list(range(12, 18))
    assert alike[np.ix_(bells[:9], bells[9:])].mean() > alike[np.ix_(bells, chain)].mean() + 0.5


def test_seeds_change_vectors_and_threads_do_not():
    graph = graph_of(nx.gnm_random_graph(2100, 4000, seed=1))
    settings: dict[str, Any] = {"walks": 1, "length": 10, "dim": 16, "epochs": 2, "until_layer": 3, "pairs": "similar"}
    one = Struc2Vec(seed=1, threads=1, **settings).fit(graph).embedding_
    np.testing.assert_array_equal(Struc2Vec(seed=1, threads=2, **settings).fit(graph).embedding_, one)
    assert not np.array_equal(Struc2Vec(seed=2, threads=2, **settings).fit(graph).embedding_, one)


QUICK: dict[str, Any] = {"walks": 2, "length": 10, "dim": 8, "epochs": 1}


def test_directions_weights_and_types_are_not_told_apart():
    edges = [(0, 3), (0, 4), (1, 4), (2, 5)]
    plain = Struc2Vec(**QUICK).fit(Graph.from_edges(edges, nodes=range(6))).embedding_
    for options in ({"directed": True}, {"weights": [9.0, 1.0, 2.0, 0.5]}):
        graph = Graph.from_edges(edges, nodes=range(6), **options)
        np.testing.assert_array_equal(Struc2Vec(**QUICK).fit(graph).embedding_, plain)
    mutual = Graph.from_edges([*edges, (4, 0)], nodes=range(6), directed=True)
    np.testing.assert_array_equal(Struc2Vec(**QUICK).fit(mutual).embedding_, plain)
    typed = Graph.from_relations({("a", "to", "b"): [(0, 0), (0, 1), (1, 1), (2, 2)]})
    vectors = Struc2Vec(**QUICK).fit(typed).embedding_
    np.testing.assert_array_equal(np.concatenate([vectors["a"], vectors["b"]]), plain)


@pytest.mark.parametrize("pairs", ["similar", "all"])
@pytest.mark.parametrize(("edges", "num_nodes"), [([], 1), ([], 5), ([(0, 1)], 2), ([(0, 1), (2, 3)], 9)])
def test_graphs_with_little_in_them_get_finite_vectors(edges, num_nodes, pairs):
    graph = Graph.from_edges(np.array(edges, np.int64).reshape(-1, 2), nodes=range(num_nodes))
    vectors = Struc2Vec(pairs=pairs, until_layer=None, **QUICK).fit(graph).embedding_
    assert vectors.shape == (num_nodes, 8)
    assert np.isfinite(vectors).all()


# ---- what it needs, and what it refuses ----


def test_the_estimate_of_memory_bounds_what_the_layers_take():
    links = graph_of(nx.gnm_random_graph(400, 1000, seed=2)).links()
    model = Struc2Vec(pairs="all", until_layer=4)
    model._multilayer_graph(links)  # what is compiled in a first run is not part of it
    tracemalloc.start()
    model._multilayer_graph(links)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    needed = bytes_needed(400, 400 * 399 // 2, 5, RingSizes.of(links, 4, 1).nbytes, 64)
    assert taken <= needed <= 2 * taken


def test_the_estimate_grows_with_nodes_pairs_and_layers():
    small = bytes_needed(100, 1000, 3, 0, 64)
    assert bytes_needed(100, 2000, 3, 0, 64) > 1.9 * small - 100 * 64 * 8 * 2
    assert bytes_needed(200, 1000, 3, 0, 64) > small
    assert bytes_needed(100, 1000, 6, 0, 64) > small
    assert bytes_needed(100, 1000, 3, 500, 64) == small + 500


def test_what_does_not_fit_in_memory_is_refused_before_it_starts():
    large = Graph.from_edges([(0, 1)], nodes=range(2_000_000))
    with pytest.raises(
        InputError, match=r"struc2vec needs 296 TB of memory for this graph and .* are free; lower until_layer"
    ):
        Struc2Vec(pairs="all").fit(large)


def test_what_its_rings_and_layers_need_is_checked_before_they_are_compared(caplog):
    graph = graph_of(nx.path_graph(200))
    num_pairs = 200 * pairs_per_node(200)
    by_pairs = bytes_needed(200, num_pairs, 1, 0, 8)
    by_layers = bytes_needed(200, num_pairs, 200, RingSizes.of(graph.links(), -1, 1).nbytes, 8)
    with caplog.at_level(logging.INFO, "pine"):
        Struc2Vec(until_layer=None, pairs="similar", **QUICK).fit(graph)
    for found, needed in zip(needs(caplog), (by_pairs, by_layers), strict=True):
        assert found.startswith(f"struc2vec needs {format_bytes(needed)} of memory and about ")


def test_all_pairs_are_compared_on_small_graphs_only():
    graph = graph_of(nx.path_graph(40))
    vectors = {pairs: Struc2Vec(pairs=pairs, **QUICK).fit(graph).embedding_ for pairs in ("auto", "all", "similar")}
    np.testing.assert_array_equal(vectors["auto"], vectors["all"])
    assert (vectors["auto"] != vectors["similar"]).any()
    assert compares_all_pairs("auto", 4000)
    assert not compares_all_pairs("auto", 4001)
    larger = graph_of(nx.path_graph(4001))
    settings: dict[str, Any] = {**QUICK, "until_layer": 1}
    auto, similar = (Struc2Vec(pairs=pairs, **settings).fit(larger).embedding_ for pairs in ("auto", "similar"))
    np.testing.assert_array_equal(auto, similar)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"walks": 0}, "walks must be a whole number of at least 1, got 0"),
        ({"stay": 0.0}, "stay must be a number above 0 and at most 1, got 0.0"),
        ({"stay": 1.1}, "stay must be a number above 0 and at most 1, got 1.1"),
        ({"until_layer": -1}, "until_layer must be a whole number of at least 0 or none, got -1"),
        ({"pairs": "some"}, "pairs must be one of 'auto', 'similar', 'all', got 'some'"),
        ({"threads": 0}, "threads must be a whole number of at least 1 or none, got 0"),
        ({"window": 0}, "window must be a whole number of at least 1, got 0"),
    ],
)
def test_settings_out_of_range_are_refused_in_fit(settings, message):
    with pytest.raises(InputError, match=message):
        Struc2Vec(**settings).fit(graph_of(nx.path_graph(4)))


@pytest.mark.slow
def test_citation_classes_are_told_a_little_by_structure():
    # The largest class of Cora is .30 of it; roles in a graph say little about the topic of a paper.
    results = list(evaluate(pine.datasets.load("cora"), {"struc2vec": Struc2Vec}, [0.5, 0.9], 1))
    assert all(0.5 < result.scores["accuracy"] < 0.7 for result in results), results
