"""MMDW is a factorization of the walk matrix that a Crammer-Singer SVM biases toward its classes."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from support.logs import needs
from support.points import points

import pine
from pine import Graph, InputError
from pine.baselines.crammer_singer import crammer_singer
from pine.baselines.mmdw import MMDW, Factorization, bias_directions, matrix_bytes, walk_matrix
from pine.evaluation import evaluate


def groups(seed: int = 3, **options) -> tuple[Graph, np.ndarray]:
    """Three groups of twenty and an isolated node, and the label of every node."""
    label = np.repeat([0, 1, 2], 20)
    chance = np.where(label[:, None] == label, 0.3, 0.03)
    edges = np.argwhere(np.triu(np.random.default_rng(seed).random((60, 60)) < chance, 1))
    return Graph.from_edges(edges, nodes=range(61), **options), np.append(label, 0)


def half(label: np.ndarray) -> np.ndarray:
    return np.where(np.arange(len(label)) % 2, label, -1)


# ---- the matrix and its factors ----


@pytest.mark.parametrize("weighted", [False, True])
def test_the_matrix_is_the_mean_of_one_step_and_two(weighted):
    edges = np.array([(0, 1), (1, 2), (2, 0), (2, 3), (4, 5)])
    weights = np.array([1.0, 2.0, 3.0, 0.5, 1.0]) if weighted else None
    graph = Graph.from_edges(edges, nodes=range(7), weights=weights)
    a = np.zeros((7, 7))
    a[edges[:, 0], edges[:, 1]] = a[edges[:, 1], edges[:, 0]] = 1.0 if weights is None else weights
    a /= np.maximum(a.sum(axis=1, keepdims=True), 1e-9)
    np.testing.assert_allclose(walk_matrix(graph).toarray(), (a + a @ a) / 2, atol=1e-7)


def test_sweeps_reach_the_least_of_the_formula():
    # That is known: the singular values of M, each less lambda / 2, in the leading dim directions.
    matrix = walk_matrix(groups()[0])
    factorization = Factorization(matrix, 0.3)
    y = np.random.default_rng(0).random((61, 4))
    for _ in range(500):
        x = factorization.rows(y)
        y = factorization.columns(x)
    left, values, right = np.linalg.svd(matrix.toarray())
    best = left[:, :4] * np.maximum(values[:4] - 0.15, 0) @ right[:4]
    np.testing.assert_allclose(x @ y.T, best, atol=1e-4)


# ---- the bias of support vectors ----


def test_support_vectors_are_moved_toward_their_margin_and_others_stay():
    x, y = points()
    alpha, w = crammer_singer(x, y, 4, 0.5, key=1)
    bias = bias_directions(alpha, w, y)
    by_hand = np.array([sum(-alpha[i, j] * (w[y[i]] - w[j]) for j in range(4) if j != y[i]) for i in range(80)])
    lengths = np.linalg.norm(by_hand, axis=1)
    supports = lengths > 0
    assert 0 < supports.sum() < 80
    assert (bias[~supports] == 0).all()
    np.testing.assert_allclose(bias[supports], by_hand[supports] / lengths[supports, None], atol=1e-12)

    def margins(vectors):
        scores = vectors @ w.T
        others = np.where(np.eye(4)[y] == 1, -np.inf, scores)
        return scores[np.arange(80), y] - others.max(axis=1)

    assert (margins(x + 0.01 * bias) - margins(x))[supports].mean() > 0


# ---- the method ----


def test_labels_bias_the_vectors_and_help_the_nodes_without_one():
    graph, label = groups()
    plain, biased = (MMDW(dim=8, rounds=rounds).fit(graph, half(label)) for rounds in (0, 3))
    assert not np.allclose(plain.embedding_, biased.embedding_)
    assert (biased.predict()[:60:2] == label[:60:2]).mean() > 0.9

    def apart(vectors):
        """How far group centers are from each other, against the spread around them, at nodes without a label."""
        hidden, own = vectors[:60:2], label[:60:2]
        centers = np.stack([hidden[own == group].mean(axis=0) for group in range(3)])
        return centers.var(axis=0).sum() / (hidden - centers[own]).var(axis=0).sum()

    assert apart(biased.embedding_) > apart(plain.embedding_)


def test_without_eta_rounds_only_go_on_with_the_factorization():
    graph, label = groups()
    still = MMDW(dim=4, sweeps=500, rounds=3, eta=0.0).fit(graph, half(label))
    np.testing.assert_allclose(
        still.embedding_, MMDW(dim=4, sweeps=503, rounds=0).fit(graph, half(label)).embedding_, atol=1e-4
    )


def test_an_isolated_node_has_a_zero_vector_and_no_preference():
    graph, label = groups()
    model = MMDW(dim=8).fit(graph, np.append(half(label)[:60], -1))
    assert (model.embedding_[60] == 0).all()
    np.testing.assert_allclose(model.predict_proba()[60], 1 / 3, atol=1e-6)


def test_directed_edges_go_both_ways():
    edges = [(3, 1), (1, 2), (2, 0), (0, 3), (4, 1)]
    both = [MMDW().fit(Graph.from_edges(edges, directed=kind), {0: 0, 1: 1}).embedding_ for kind in (True, False)]
    np.testing.assert_array_equal(*both)


@pytest.mark.parametrize("edges", [[], [(0, 1)]])
def test_graphs_of_almost_nothing_are_fitted(edges):
    model = MMDW().fit(Graph.from_edges(np.array(edges, int).reshape(-1, 2), nodes=range(2)), {0: "only"})
    assert np.isfinite(model.embedding_).all()
    assert model.predict().tolist() == ["only", "only"]


def test_seeds_change_vectors_and_nothing_else_does():
    graph, label = groups()
    one, again, other = (MMDW(seed=seed).fit(graph, half(label)).embedding_ for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)


# ---- what it needs, and what it refuses ----


def test_the_estimate_of_memory_bounds_the_matrix():
    for graph in (groups()[0], Graph.from_edges([(0, leaf) for leaf in range(1, 200)])):
        entries = walk_matrix(graph).nnz
        assert 12 * entries <= matrix_bytes(graph.links().degrees()) <= 24 * graph.num_nodes**2


def test_hubs_that_do_not_fit_in_memory_are_refused(caplog):
    def star(leaves):
        return Graph.from_edges(np.stack([np.zeros(leaves, int), np.arange(1, leaves + 1)], axis=1))

    with caplog.at_level(logging.INFO, "pine"):
        MMDW(dim=2, sweeps=1).fit(star(999), {0: 0, 1: 1})
    assert needs(caplog) == ["mmdw needs 24 MB of memory and about 1.0e+06 steps"]
    with pytest.raises(InputError, match=r"mmdw needs 96 TB of memory for this graph and .* are free; leave the bus"):
        MMDW().fit(star(2_000_000), {0: 0, 1: 1})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dim": 0}, "dim must be a whole number of at least 1, got 0"),
        ({"sweeps": 0}, "sweeps must be a whole number of at least 1, got 0"),
        ({"rounds": -1}, "rounds must be a whole number of at least 0, got -1"),
        ({"lam": 0.0}, "lam must be a number above 0, got 0.0"),
        ({"cost": 0.0}, "cost must be a number above 0, got 0.0"),
        ({"eta": float("nan")}, "eta must be a number of at least 0, got nan"),
    ],
)
def test_settings_out_of_range_are_refused_in_fit(settings, message):
    graph, label = groups()
    with pytest.raises(InputError, match=message):
        MMDW(**settings).fit(graph, label)


def test_label_sets_are_refused():
    graph, _ = groups()
    with pytest.raises(InputError, match="mmdw learns 'classes', these labels are 'label-sets'"):
        MMDW().fit(graph, {0: {"a", "b"}, 1: {"a"}})


MISSED = pytest.mark.xfail(reason="missed by 3 points at 10 %, by 5 on Wikipedia at 90 %: see the class", strict=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "ratio", "published"),
    [
        # Tu et al. (2016), eta = 0.01, 200 dimensions, one split each.
        pytest.param("cora", 0.1, 0.749, marks=MISSED),
        ("cora", 0.5, 0.847),
        ("cora", 0.9, 0.882),
        pytest.param("citeseer", 0.1, 0.556, marks=MISSED),
        ("citeseer", 0.5, 0.669),
        ("citeseer", 0.9, 0.710),
        ("wikipedia", 0.1, 0.578),
        ("wikipedia", 0.5, 0.673),
        pytest.param("wikipedia", 0.9, 0.743, marks=MISSED),
    ],
)
def test_accuracy_is_within_two_points_of_what_the_authors_report(need_data, name, ratio, published):
    need_data("citeseer.npz", "wiki.npz")

    class Wide(MMDW):
        def __init__(self, **settings):
            super().__init__(**{"dim": 200} | settings)

    results = list(evaluate(pine.datasets.load(name), {"mmdw": Wide}, [ratio], 3))
    assert np.mean([result.scores["accuracy"] for result in results]) >= published - 0.02, results
