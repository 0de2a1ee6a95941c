"""The structural start: what it equals, what it does not depend on, and what it finds."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from pine.datasets import load
from pine.evaluation import split
from pine.graph.csr import CSR, build_csr
from pine.labels import read_labels
from pine.model.init import start
from pine.model.init.netmf import CONTINUE_PROB, HUB_DAMPING, leading_eigenpairs
from pine.model.init.start import structural_start


def seeded(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def undirected(edges: NDArray[np.int64], num_nodes: int, weights: NDArray[np.float32] | None = None) -> CSR:
    source, target = np.asarray(edges, np.int64).reshape(-1, 2).T
    return build_csr(source, target, weights, (num_nodes, num_nodes), mirror=True)


def random_graph(num_nodes: int = 150, num_edges: int = 400, weighted: bool = False) -> CSR:
    rng = seeded(5)
    weights = rng.uniform(0.2, 3, num_edges).astype(np.float32) if weighted else None
    return undirected(rng.integers(0, num_nodes, (num_edges, 2)), num_nodes, weights)


def planted_graph(groups: int, size: int, degree: int, inside: float) -> tuple[CSR, NDArray[np.int64]]:
    rng, n = seeded(7), groups * size
    source = rng.integers(0, n, n * degree // 2)
    own = source % groups + groups * rng.integers(0, size, len(source))
    target = np.where(rng.random(len(source)) < inside, own, rng.integers(0, n, len(source)))
    return undirected(np.stack([source, target], 1), n), np.arange(n) % groups


def propagated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the way of large graphs on graphs of any size."""
    monkeypatch.setattr(start, "EXACT_NODES", 0)


def held_out_accuracy(x: NDArray[np.float32], y: NDArray[np.int64], train: NDArray[np.int64]) -> float:
    """Train on 80 % of the training labels, score on the others; mean of three draws."""
    found = []
    for seed in range(3):
        order = seeded(seed).permutation(train)
        seen, held = np.split(order, [int(0.8 * len(order))])
        scale = StandardScaler().fit(x[seen])
        model = LogisticRegression(C=0.1, max_iter=100).fit(scale.transform(x[seen]), y[seen])
        found.append(model.score(scale.transform(x[held]), y[held]))
    return float(np.mean(found))


def definition(adjacency: CSR, dim: int, steps: int = 600) -> NDArray[np.float64]:
    """The Gram matrix of the start, from its formulas and nothing else; all nodes have neighbors."""
    a = adjacency.to_scipy().toarray().astype(np.float64)
    degree = a.sum(axis=1)
    a = a / np.outer(degree, degree) ** HUB_DAMPING
    degree = a.sum(axis=1)
    step = a / degree[:, None]
    power, window = np.eye(len(a)), np.zeros_like(a)
    for r in range(steps):
        power = power @ step
        window += (1 - CONTINUE_PROB) * CONTINUE_PROB**r * power
    values, vectors = np.linalg.eigh(np.log(np.maximum(1, degree.sum() * window / degree)))
    order = np.argsort(-np.abs(values))[:dim]
    gram: NDArray[np.float64] = (vectors[:, order] * np.abs(values[order])) @ vectors[:, order].T
    return gram


def shape_of(gram: NDArray[np.float64]) -> NDArray[np.float64]:
    return gram / np.abs(gram).max()


@pytest.mark.parametrize("weighted", [False, True])
def test_the_exact_start_is_the_factorization_of_its_definition(weighted: bool) -> None:
    ring = np.stack([np.arange(150), np.roll(np.arange(150), 1)], 1)
    edges = np.concatenate([ring, seeded(2).integers(0, 150, (300, 2))])
    weights = seeded(3).uniform(0.2, 3, len(edges)).astype(np.float32) if weighted else None
    graph = undirected(edges, 150, weights)
    x = structural_start(graph, 12, seeded()).astype(np.float64)
    np.testing.assert_allclose(shape_of(x @ x.T), shape_of(definition(graph, 12)), atol=2e-4)


@pytest.mark.parametrize("way", ["exact", "propagated"])
def test_all_entries_have_unit_standard_deviation_and_the_asked_shape(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "propagated":
        propagated(monkeypatch)
    x = structural_start(random_graph(), 16, seeded())
    assert x.shape == (150, 16)
    assert x.dtype == np.float32
    assert x.std() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("way", ["exact", "propagated"])
def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "propagated":
        propagated(monkeypatch)
    graph = random_graph(2000, 6000)
    one, same, two = (structural_start(graph, 16, seeded(3), threads=threads) for threads in (1, 1, 2))
    assert one.tobytes() == same.tobytes() == two.tobytes()


@pytest.mark.parametrize("way", ["exact", "propagated"])
def test_nodes_without_neighbors_are_zero_and_all_others_are_not(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "propagated":
        propagated(monkeypatch)
    graph = undirected(np.array([[0, 1], [1, 2], [4, 5]]), 8)
    x = structural_start(graph, 4, seeded())
    assert np.isfinite(x).all()
    np.testing.assert_array_equal(np.abs(x).max(axis=1) > 0, [True, True, True, False, True, True, False, False])


def test_an_edge_of_weight_zero_is_no_edge(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.array([1, 1, 0, 0], np.float32)
    graph = undirected(np.array([[0, 1], [1, 2], [2, 3], [3, 4]]), 5, weights)
    for _ in range(2):
        x = structural_start(graph, 3, seeded())
        assert np.isfinite(x).all()
        assert not x[3:].any()
        assert x[:3].any(axis=1).all()
        propagated(monkeypatch)


def test_components_without_a_path_between_them_lie_at_right_angles() -> None:
    ring = np.stack([np.arange(10), np.roll(np.arange(10), 1)], 1)
    x = structural_start(undirected(np.concatenate([ring, ring + 10]), 20), 20, seeded())
    gram = x @ x.T
    assert np.abs(gram[:10, 10:]).max() < 1e-3 * np.abs(gram).max()


@pytest.mark.parametrize("way", ["exact", "propagated"])
@pytest.mark.parametrize(
    ("num_nodes", "edges"), [(0, []), (1, []), (1, [[0, 0]]), (2, [[0, 1]]), (3, [[0, 1], [1, 2]]), (3, [[1, 1]])]
)
def test_graphs_of_hardly_any_nodes_have_a_start(
    way: str, num_nodes: int, edges: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "propagated":
        propagated(monkeypatch)
    x = structural_start(undirected(np.array(edges), num_nodes), 8, seeded())
    assert x.shape == (num_nodes, 8)
    assert np.isfinite(x).all()
    assert way == "propagated" or not x[:, num_nodes:].any()  # M has no more columns


def test_columns_are_signed_by_their_largest_entry() -> None:
    x = structural_start(random_graph(), 16, seeded())
    assert (x.max(axis=0) == np.abs(x).max(axis=0)).all()


def test_weights_scaled_by_a_constant_change_nothing_and_other_weights_do() -> None:
    graph = random_graph(weighted=True)
    assert graph.weights is not None
    x, scaled, plain = (
        structural_start(CSR(graph.indptr, graph.indices, weights, graph.num_columns), 8, seeded())
        for weights in (graph.weights, 4 * graph.weights, None)
    )
    np.testing.assert_allclose(scaled @ scaled.T, x @ x.T, atol=1e-3)
    assert np.abs(plain @ plain.T - x @ x.T).max() > 0.1


def test_permuting_the_nodes_permutes_the_rows() -> None:
    graph = random_graph()
    order = seeded(1).permutation(graph.num_rows)
    place = np.argsort(order)
    moved = build_csr(place[graph.rows()], place[graph.indices], None, (150, 150))
    x, y = structural_start(graph, 12, seeded(0)), structural_start(moved, 12, seeded(4))
    np.testing.assert_allclose(y @ y.T, (x @ x.T)[np.ix_(order, order)], atol=1e-3)


def test_nodes_with_the_same_neighbors_get_the_same_vector() -> None:
    edges = np.concatenate([seeded(2).integers(0, 60, (150, 2)), [[60, 3], [60, 9], [61, 3], [61, 9]]])
    x = structural_start(undirected(edges, 62), 16, seeded())
    np.testing.assert_allclose(x[60], x[61], atol=1e-3)


@pytest.mark.parametrize("way", ["exact", "propagated"])
def test_planted_groups_are_recovered(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "propagated":
        propagated(monkeypatch)
    graph, group = planted_graph(groups=20, size=60, degree=10, inside=0.7)
    x = structural_start(graph, 32, seeded())
    assert held_out_accuracy(x, group, np.arange(len(group))) > 0.93


def test_the_propagated_start_is_within_four_points_of_the_exact_one_on_cora(monkeypatch: pytest.MonkeyPatch) -> None:
    data = load("cora")
    labels = read_labels(data.graph, data.labels)
    assert labels is not None
    train = split("cora", labels.known, 0.5, 0).train
    exact = held_out_accuracy(structural_start(data.graph.adjacency(), 64, seeded()), labels.values, train)
    propagated(monkeypatch)
    close = held_out_accuracy(structural_start(data.graph.adjacency(), 64, seeded()), labels.values, train)
    assert exact > 0.78
    assert close > exact - 0.04


@pytest.mark.parametrize("size", [60, 300])  # all of them, and a Krylov space
def test_eigenpairs_are_those_of_largest_magnitude_of_either_sign(size: int) -> None:
    q = np.linalg.qr(seeded().standard_normal((size, size)))[0]
    spectrum = np.concatenate([[9, -8, 7, -6], np.linspace(-1, 1, size - 4)])
    values, vectors = leading_eigenpairs(torch.tensor((q * spectrum) @ q.T).float(), 4, seeded(1))
    np.testing.assert_allclose(values, [9, -8, 7, -6], rtol=1e-5)
    np.testing.assert_allclose(np.abs(vectors.numpy().T @ q[:, :4]), np.eye(4), atol=1e-4)


@pytest.mark.parametrize("size", [60, 300])
def test_eigenpairs_stop_at_the_rank(size: int) -> None:
    thin = torch.tensor(seeded().standard_normal((size, 3))).float()
    values, vectors = leading_eigenpairs(thin @ thin.T, 10, seeded(1))
    assert vectors.shape == (size, 3)
    np.testing.assert_allclose((vectors * values) @ vectors.T, thin @ thin.T, atol=1e-3)


BITS = """
import hashlib, numpy as np
from pine.datasets import load
from pine.model.init import start
graph = load("cora").graph.adjacency()
for exact_nodes in (4000, 0):
    start.EXACT_NODES = exact_nodes
    print(hashlib.sha256(start.structural_start(graph, 64, np.random.default_rng(0)).tobytes()).hexdigest())
"""


def test_another_process_finds_the_same_bits() -> None:
    seen = {
        subprocess.run(
            [sys.executable, "-c", BITS], env=dict(os.environ), capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    }
    assert len(seen) == 1
