"""GraphWave sums the heat kernel as a series, samples characteristic functions, and gives mirrored nodes one vector."""

from __future__ import annotations

import logging
import os

import networkx as nx
import numpy as np
import pytest
from scipy.linalg import expm

import pine
from pine import Graph, InputError
from pine._internal import memory
from pine.baselines.graphwave import GraphWave, principal
from pine.baselines.graphwave_laplacians import LAPLACIANS
from pine.baselines.graphwave_wavelets import characteristic, characteristic_exact, chebyshev_weights, left_out
from pine.evaluation import evaluate

KINDS = ["normalized", "combinatorial"]
RNG = np.random.default_rng(0)


def graph_of(network: nx.Graph) -> Graph:
    return Graph.from_edges(list(network.edges), nodes=range(len(network)))


def scattered(num_nodes: int = 50) -> nx.Graph:
    """A random network with several parts and nodes without neighbors; 50 nodes fill no whole number of blocks."""
    return nx.gnm_random_graph(num_nodes, num_nodes, seed=3)


def mirrored_karate() -> nx.Graph:
    """Two karate clubs with an edge between the two copies of one member; v and v + 34 are equal in structure."""
    club = nx.karate_club_graph()
    both = nx.Graph(nx.disjoint_union(club, club).edges)
    both.add_edge(0, 34)
    return both


# ---- wavelets ----


def laplacian_reference(network: nx.Graph, kind: str) -> np.ndarray:
    if kind == "normalized":
        return nx.normalized_laplacian_matrix(network).toarray()
    laplacian = nx.laplacian_matrix(network).toarray().astype(float)
    return laplacian / np.linalg.eigvalsh(laplacian)[-1]


def samples_reference(wavelets: np.ndarray, step: float, samples: int) -> np.ndarray:
    """By the definition, from a dense Psi."""
    phi = np.stack([np.exp(1j * step * k * wavelets).mean(axis=0) for k in range(samples)], axis=1)
    return np.concatenate([phi.real, phi.imag], axis=1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("heat", [0.5, 30.0])
def test_the_series_and_the_eigenvectors_give_the_samples_of_the_definition(kind, heat):
    network = scattered()
    wanted = samples_reference(expm(-heat * laplacian_reference(network, kind)), 3.0, 7)
    for exact in (False, True):
        model = GraphWave(dim=None, heat=heat, laplacian=kind, step=3.0, samples=7, exact=exact).fit(graph_of(network))
        np.testing.assert_allclose(model.embedding_, wanted, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_long_series_equals_the_eigenvectors_at_the_papers_heat_too(kind):
    matrix = LAPLACIANS[kind](graph_of(scattered()))
    exact = characteristic_exact(matrix, 1000.0, 20.0, 50)
    np.testing.assert_allclose(characteristic(matrix, 1000.0, 250, 20.0, 50, 1), exact, atol=1e-6)


def test_the_series_of_the_papers_order_stays_near_at_the_papers_heat():
    matrix = LAPLACIANS["normalized"](graph_of(mirrored_karate()))
    exact = characteristic_exact(matrix, 1000.0, 1.0, 10)
    np.testing.assert_allclose(characteristic(matrix, 1000.0, 100, 1.0, 10, 1), exact, atol=2e-3)


def test_the_weights_of_the_series_are_those_of_the_exponential():
    points = np.linspace(-1, 1, 101)
    for heat in (0.1, 5.0, 1000.0):
        weights = chebyshev_weights(heat, 400)
        series = np.polynomial.chebyshev.chebval(points, weights)
        np.testing.assert_allclose(series, np.exp(-heat * (1 - points)), atol=1e-12)
        assert (weights >= 0).all()


def test_what_the_series_leaves_out_bounds_its_error():
    points = np.linspace(-1, 1, 1001)
    for heat, order in ((1000.0, 100), (1000.0, 30), (50.0, 10)):
        series = np.polynomial.chebyshev.chebval(points, chebyshev_weights(heat, order))
        error = np.abs(series - np.exp(-heat * (1 - points))).max()
        assert error == pytest.approx(left_out(heat, order), rel=1e-6)
    assert 0.001 < left_out(1000, 100) < 0.002


@pytest.mark.parametrize("kind", KINDS)
def test_the_matrix_of_a_laplacian_has_eigenvalues_between_minus_one_and_one(kind):
    for network in (scattered(), scattered(300), nx.complete_bipartite_graph(3, 4)):
        values = np.linalg.eigvalsh(LAPLACIANS[kind](graph_of(network)).toarray())
        assert values[0] >= -1 - 1e-9
        assert values[-1] == pytest.approx(1)
        if kind == "combinatorial" or nx.is_bipartite(network):
            assert values[0] == pytest.approx(-1)


def test_heavier_edges_carry_more_heat():
    edges = [(0, 1), (1, 2)]
    plain, heavy = (
        GraphWave(dim=None, heat=1.0, step=1.0).fit(Graph.from_edges(edges, weights=weights)).embedding_
        for weights in (None, [9.0, 1.0])
    )
    np.testing.assert_allclose(plain[0], plain[2], atol=1e-6)
    assert np.abs(heavy[0] - heavy[2]).max() > 0.05


# ---- vectors ----


@pytest.mark.parametrize(
    "settings", [{}, {"dim": None}, {"laplacian": "combinatorial"}, {"exact": True}, {"heat": 5.0}]
)
def test_mirrored_nodes_get_equal_vectors_and_others_do_not(settings):
    vectors = GraphWave(**settings).fit(graph_of(mirrored_karate())).embedding_
    np.testing.assert_allclose(vectors[:34], vectors[34:], atol=1e-5)
    assert np.abs(vectors[0] - vectors[1]).max() > 1e-2


def test_columns_are_kept_whole_or_turned_without_loss():
    graph = graph_of(mirrored_karate())
    native, turned = (GraphWave(dim=dim).fit(graph).embedding_ for dim in (None, 64))
    assert native.shape == (68, 100)
    assert turned.shape == (68, 64)
    np.testing.assert_allclose(native[:, 0], 1)  # t = 0
    np.testing.assert_allclose(native[:, 50], 0)
    apart = [np.linalg.norm(vectors[:, None] - vectors[None], axis=2) for vectors in (native, turned)]
    np.testing.assert_allclose(*apart, atol=1e-5)


def test_principal_directions_are_in_order_and_of_one_sign():
    columns = RNG.normal(size=(40, 3)) @ np.diag([1.0, 5.0, 2.0]) @ np.linalg.qr(RNG.normal(size=(3, 3)))[0]
    vectors = principal(columns, 3)
    assert (np.diff(vectors.std(axis=0)) < 0).all()
    np.testing.assert_allclose(principal(columns + 7, 3), vectors, atol=1e-9)
    np.testing.assert_allclose(vectors.T @ vectors, np.diag((vectors**2).sum(axis=0)), atol=1e-9)
    toward = np.linalg.lstsq(columns - columns.mean(axis=0), vectors, rcond=None)[0]
    assert (np.take_along_axis(toward, np.abs(toward).argmax(axis=0)[None], axis=0) > 0).all()


def test_threads_do_not_change_vectors():
    graph = graph_of(nx.gnm_random_graph(300, 900, seed=1))
    one = GraphWave(threads=1).fit(graph).embedding_
    np.testing.assert_array_equal(GraphWave(threads=3, seed=5).fit(graph).embedding_, one)


def test_directions_and_types_are_not_told_apart():
    edges = [(0, 3), (0, 4), (1, 4), (2, 5)]
    plain = GraphWave().fit(Graph.from_edges(edges, nodes=range(6))).embedding_
    directed = Graph.from_edges(edges, nodes=range(6), directed=True)
    np.testing.assert_array_equal(GraphWave().fit(directed).embedding_, plain)
    typed = GraphWave().fit(Graph.from_relations({("a", "to", "b"): [(0, 0), (0, 1), (1, 1), (2, 2)]})).embedding_
    np.testing.assert_array_equal(np.concatenate([typed["a"], typed["b"]]), plain)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("edges", "num_nodes"), [([], 1), ([], 5), ([(0, 1)], 2), ([(0, 1), (2, 3)], 130)])
def test_graphs_with_little_in_them_get_finite_vectors(edges, num_nodes, kind, exact):
    graph = Graph.from_edges(np.array(edges, np.int64).reshape(-1, 2), nodes=range(num_nodes))
    vectors = GraphWave(laplacian=kind, exact=exact).fit(graph).embedding_
    assert vectors.shape == (num_nodes, 64)
    assert np.isfinite(vectors).all()


# ---- what it needs, and what it refuses ----


def test_what_it_needs_is_said_before_it_starts(caplog):
    with caplog.at_level(logging.INFO, "pine"):
        GraphWave(threads=1).fit(graph_of(nx.path_graph(10)))
    assert caplog.messages == ["graphwave needs 32.8 KB of memory and about 1.8e+04 steps"]


def test_what_does_not_fit_in_memory_is_refused(monkeypatch):
    graph = graph_of(nx.path_graph(200))
    monkeypatch.setattr(memory, "free_memory", lambda: 1_300_000)
    GraphWave(threads=1).fit(graph)
    said = r"graphwave needs 2\.1 MB of memory for this graph and 1\.3 MB are free; set exact=False"
    with pytest.raises(InputError, match=said):
        GraphWave(exact=True).fit(graph)
    monkeypatch.setattr(memory, "free_memory", lambda: 300_000)
    with pytest.raises(InputError, match="take a smaller graph"):
        GraphWave(threads=1).fit(graph)


def test_free_memory_is_read_from_the_system_or_left_unknown(monkeypatch, tmp_path):
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   2000 kB\n")
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    assert memory.free_memory() == 2_048_000
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "none")
    assert memory.free_memory() > 2_048_000
    monkeypatch.setattr(os, "sysconf_names", {})
    assert memory.free_memory() is None
    memory.need_memory("anything", 10**30, 1, "worry")  # is not refused where nothing is known


def test_bytes_are_said_as_people_say_them():
    assert [memory.in_words(size) for size in (7, 2_500, 10**6, 12_345_678_901, 3 * 10**12)] == [
        "7 bytes", "2.5 KB", "1 MB", "12.3 GB", "3 TB"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"heat": 0.0}, "heat and step must be positive, samples and order at least 1, got 0.0, 20.0, 50 and 100"),
        ({"dim": 101}, "dim must lie between 1 and 2 x samples = 100, or be None for all, got 101"),
        ({"order": 20}, "a series of order 20 leaves out 36% of a heat of 1000; set order to 45 or more"),
        ({"laplacian": "random"}, "laplacian must be one of 'normalized', 'combinatorial', got 'random'"),
        ({"threads": 0}, "threads must be at least 1"),
    ],
)
def test_settings_out_of_range_are_refused_in_fit(settings, said):
    with pytest.raises(InputError, match=said):
        GraphWave(**settings).fit(graph_of(nx.path_graph(4)))


@pytest.mark.slow
def test_citation_classes_are_told_a_little_by_structure():
    # The largest class of Cora is .30 of it; roles in a graph say little about the topic of a paper.
    results = list(evaluate(pine.datasets.load("cora"), {"graphwave": GraphWave}, [0.5, 0.9], 1))
    assert all(0.4 < result.scores["accuracy"] < 0.6 for result in results), results
