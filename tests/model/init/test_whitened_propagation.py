"""Whitened propagation by blocks of rows is the definition, and no graph breaks it."""

from __future__ import annotations

import time

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from pine.graph.csr import CSR, build_csr
from pine.model.init import whitened_propagation as module
from pine.model.init.whitened_propagation import whitened_propagation, whitened_propagation_reference

CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
DEVICES = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=CUDA)])


def undirected(edges: NDArray[np.int64], num_nodes: int, weights: NDArray[np.float32] | None = None) -> CSR:
    return build_csr(edges[:, 0], edges[:, 1], weights, (num_nodes, num_nodes), mirror=True)


def random_graph(num_nodes: int, weighted: bool = False) -> CSR:
    """A ring, so that all nodes have neighbors, and two random edges a node."""
    rng = np.random.default_rng(1)
    ring = np.stack([np.arange(num_nodes), np.roll(np.arange(num_nodes), 1)], 1)
    edges = np.concatenate([ring, rng.integers(0, num_nodes, (2 * num_nodes, 2))])
    return undirected(edges, num_nodes, rng.uniform(0.2, 3, len(edges)).astype(np.float32) if weighted else None)


def propagated(graph: CSR, dim: int = 8, threads: int | None = None, device: str = "cpu") -> NDArray[np.float32]:
    return whitened_propagation(graph, graph.strengths(), dim, np.random.default_rng(0), threads=threads, device=device)


def gaussian(graph: CSR, dim: int) -> NDArray[np.float32]:
    return np.random.default_rng(0).standard_normal((graph.num_rows, dim), np.float32)


@DEVICES
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("num_nodes", "dim"), [(300, 8), (301, 21), (5000, 64), (333, 83)])
def test_blocks_of_rows_give_the_definition(
    num_nodes: int, dim: int, weighted: bool, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ROUNDS", 6)
    monkeypatch.setattr(module, "CACHED_ROWS", 256)
    monkeypatch.setattr(module, "GPU_ROWS", 512)
    graph = random_graph(num_nodes, weighted)
    expected = whitened_propagation_reference(graph, gaussian(graph, dim), rounds=6)
    found = propagated(graph, dim, device=device)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=2e-3)


def test_any_number_of_threads_gives_the_same_bits() -> None:
    graph = random_graph(2 * module.CACHED_ROWS + 5)
    assert propagated(graph, threads=1).tobytes() == propagated(graph, threads=3).tobytes()


@DEVICES
def test_columns_are_white_over_the_nodes_with_neighbors_and_the_other_nodes_are_zero(device: str) -> None:
    whole = random_graph(400)
    graph = build_csr(whole.rows(), whole.indices, None, (450, 450))
    x = propagated(graph, device=device)
    assert not x[400:].any()
    np.testing.assert_allclose(x[:400].mean(axis=0), 0, atol=1e-3)
    np.testing.assert_allclose(np.cov(x[:400], rowvar=False, bias=True), np.eye(8) * 450 / 400, atol=2e-3)
    assert x.std() == pytest.approx(1, abs=1e-4)


def test_an_edge_of_weight_zero_is_no_edge() -> None:
    whole = random_graph(400)
    rows, columns = np.append(whole.rows(), [399, 400]), np.append(whole.indices, [400, 399])
    weights = np.append(np.ones(whole.nnz, np.float32), np.zeros(2, np.float32))
    x = propagated(build_csr(rows, columns, weights, (401, 401)))
    assert np.isfinite(x).all()
    assert not x[400].any()
    assert x[:400].any(axis=1).all()


STAR = np.stack([np.zeros(6000, np.int64), np.arange(1, 6001)], 1)
PAIRS = np.arange(6000).reshape(-1, 2)
GRID = np.concatenate([STAR[:, ::-1] % 2000, STAR % 2000 + [[0, 3000]]])


@DEVICES
@pytest.mark.parametrize(
    ("edges", "num_nodes"),
    [(STAR, 6001), (PAIRS, 6000), (np.array([[0, 1]]), 2), (np.array([[1, 1]]), 3), (GRID, 6000)],
    ids=["star", "pairs", "one edge", "a loop", "bipartite"],
)
def test_graphs_of_low_rank_have_finite_vectors(edges: NDArray[np.int64], num_nodes: int, device: str) -> None:
    graph = undirected(edges, num_nodes)
    x = propagated(graph, 64, device=device)
    assert x.shape == (num_nodes, 64)
    assert np.isfinite(x).all()
    assert x.std() == pytest.approx(1, abs=0.01) or not x.any()


def test_a_star_costs_as_much_as_its_edges() -> None:
    leaves = np.arange(1, 100_001)
    graph = undirected(np.stack([np.zeros_like(leaves), leaves], 1), 100_001)
    propagated(random_graph(100), 64)  # compiled
    begin = time.process_time()
    propagated(graph, 64, threads=1)
    assert time.process_time() - begin < 6
