"""GraphWave sums the heat kernel as a series, samples characteristic functions, and gives mirrored nodes one vector."""

from __future__ import annotations

import logging

import networkx as nx
import numpy as np
import pytest
from scipy.linalg import expm
from support.graphs import graph_of, mirrored_karate, scattered
from support.logs import needs

import pine
from pine import Graph, InputError
from pine.baselines.graphwave import (
    DIFFUSIONS,
    GraphWave,
    characteristic,
    characteristic_exact,
    chebyshev_weights,
    pca,
    truncation_error,
)
from pine.evaluation import evaluate

KINDS = ["normalized", "combinatorial"]
RNG = np.random.default_rng(0)


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
    network = scattered(50)
    wanted = samples_reference(expm(-heat * laplacian_reference(network, kind)), 3.0, 7)
    for exact in (False, True):
        model = GraphWave(dim=None, heat=heat, laplacian=kind, step=3.0, samples=7, exact=exact).fit(graph_of(network))
        np.testing.assert_allclose(model.embedding_, wanted, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_long_series_equals_the_eigenvectors_at_the_papers_heat_too(kind):
    matrix = DIFFUSIONS[kind](graph_of(scattered(50)))
    exact = characteristic_exact(matrix, 1000.0, 20.0, 50)
    np.testing.assert_allclose(characteristic(matrix, 1000.0, 250, 20.0, 50, 1), exact, atol=1e-6)


def test_the_series_of_the_papers_order_stays_near_at_the_papers_heat():
    matrix = DIFFUSIONS["normalized"](graph_of(mirrored_karate()))
    exact = characteristic_exact(matrix, 1000.0, 1.0, 10)
    np.testing.assert_allclose(characteristic(matrix, 1000.0, 100, 1.0, 10, 1), exact, atol=2e-3)


def test_the_weights_of_the_series_are_those_of_the_exponential():
    points = np.linspace(-1, 1, 101)
    for heat in (0.1, 5.0, 1000.0):
        weights = chebyshev_weights(heat, 400)
        series = np.polynomial.chebyshev.chebval(points, weights)
        np.testing.assert_allclose(series, np.exp(-heat * (1 - points)), atol=1e-12)
        assert (weights >= 0).all()


def test_the_truncation_error_of_the_series_is_what_its_weights_lack():
    points = np.linspace(-1, 1, 1001)
    for heat, order in ((1000.0, 100), (1000.0, 30), (50.0, 10)):
        series = np.polynomial.chebyshev.chebval(points, chebyshev_weights(heat, order))
        error = np.abs(series - np.exp(-heat * (1 - points))).max()
        assert error == pytest.approx(truncation_error(heat, order), rel=1e-6)
    assert 0.001 < truncation_error(1000, 100) < 0.002


@pytest.mark.parametrize("kind", KINDS)
def test_the_matrix_of_a_laplacian_has_eigenvalues_between_minus_one_and_one(kind):
    for network in (scattered(50), scattered(300), nx.complete_bipartite_graph(3, 4)):
        values = np.linalg.eigvalsh(DIFFUSIONS[kind](graph_of(network)).toarray())
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


def test_columns_are_kept_whole_or_rotated_without_loss():
    graph = graph_of(mirrored_karate())
    native, rotated = (GraphWave(dim=dim).fit(graph).embedding_ for dim in (None, 64))
    assert native.shape == (68, 100)
    assert rotated.shape == (68, 64)
    np.testing.assert_allclose(native[:, 0], 1)  # t = 0
    np.testing.assert_allclose(native[:, 50], 0)
    before, after = (np.linalg.norm(vectors[:, None] - vectors[None], axis=2) for vectors in (native, rotated))
    np.testing.assert_allclose(after, before, atol=1e-5)


def test_principal_directions_are_in_order_and_of_one_sign():
    columns = RNG.normal(size=(40, 3)) @ np.diag([1.0, 5.0, 2.0]) @ np.linalg.qr(RNG.normal(size=(3, 3)))[0]
    vectors = pca(columns, 3)
    assert (np.diff(vectors.std(axis=0)) < 0).all()
    np.testing.assert_allclose(pca(columns + 7, 3), vectors, atol=1e-9)
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


def test_what_it_needs_is_logged_before_it_starts(caplog):
    with caplog.at_level(logging.INFO, "pine"):
        GraphWave(threads=1).fit(graph_of(nx.path_graph(10)))
    assert needs(caplog) == ["graphwave needs 32.8 KB of memory and about 1.8e+04 steps"]


def test_memory_grows_with_nodes_and_with_their_square_where_it_is_exact(caplog):
    with caplog.at_level(logging.INFO, "pine"):
        for exact in (False, True):
            GraphWave(exact=exact, threads=1).fit(graph_of(nx.path_graph(200)))
    assert [message.split(" of memory")[0] for message in needs(caplog)] == [
        "graphwave needs 657.5 KB",
        "graphwave needs 2.1 MB",
    ]


def test_what_does_not_fit_in_memory_is_refused():
    large = Graph.from_edges([(0, 1)], nodes=range(2_000_000))
    with pytest.raises(InputError, match=r"graphwave needs 160 TB of memory for this graph and .* set exact=False"):
        GraphWave(exact=True).fit(large)
    with pytest.raises(InputError, match=r"graphwave needs 480 TB of memory .* are free; take a smaller graph"):
        GraphWave(samples=10**12, threads=1).fit(graph_of(nx.path_graph(10)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"heat": 0.0}, "heat must be a number above 0 and finite, got 0.0"),
        ({"step": float("inf")}, "step must be a number above 0 and finite, got inf"),
        ({"samples": 0}, "samples must be a whole number of at least 1, got 0"),
        ({"order": 0}, "order must be a whole number of at least 1, got 0"),
        ({"dim": 0}, "dim must be a whole number of at least 1 or none, got 0"),
        ({"dim": 101}, "dim must lie between 1 and 2 x samples = 100, or be None for all, got 101"),
        ({"order": 20}, "a series of order 20 leaves out 36% of a heat of 1000; set order to 45 or more"),
        ({"laplacian": "random"}, "laplacian must be one of 'normalized', 'combinatorial', got 'random'"),
        ({"threads": 0}, "threads must be a whole number of at least 1 or none, got 0"),
    ],
)
def test_settings_out_of_range_are_refused_in_fit(settings, message):
    with pytest.raises(InputError, match=message):
        GraphWave(**settings).fit(graph_of(nx.path_graph(4)))


@pytest.mark.slow
def test_citation_classes_are_told_a_little_by_structure():
    # The largest class of Cora is .30 of it; roles in a graph say little about the topic of a paper.
    results = list(evaluate(pine.datasets.load("cora"), {"graphwave": GraphWave}, [0.5, 0.9], 1))
    assert all(0.4 < result.scores["accuracy"] < 0.6 for result in results), results
