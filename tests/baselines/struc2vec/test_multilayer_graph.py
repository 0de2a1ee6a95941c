"""Walks through the multilayer graph choose neighbors and layers by the probabilities of struc2vec's paper."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from support.graphs import graph_of, scattered

from pine import Graph
from pine.baselines.struc2vec.distances import all_pairs, structural_distances
from pine.baselines.struc2vec.multilayer_graph import MultilayerGraph
from pine.baselines.struc2vec.rings import RingSizes, find_rings


def layers_of(graph: Graph, farthest: int = -1, stay: float = 0.3) -> tuple[MultilayerGraph, np.ndarray, np.ndarray]:
    """The layers of a graph with all pairs, those pairs, and their distances."""
    links, pairs = graph.links(), all_pairs(graph.num_nodes)
    rings = find_rings(links, RingSizes.of(links, farthest, 1), farthest, 1)
    far = structural_distances(rings, pairs, int(rings.counts().max()), 1)
    return MultilayerGraph.of(graph.num_nodes, pairs, far, stay), pairs, far


def shares(layers: MultilayerGraph, row: int) -> dict[int, float]:
    """The probabilities of a row's links, read back from the alias tables."""
    entries = range(layers.indptr[row], layers.indptr[row + 1])
    found: dict[int, float] = defaultdict(float)
    for entry in entries:
        found[int(layers.indices[entry])] += layers.keep[entry] / len(entries)
        found[int(layers.indices[layers.indptr[row] + layers.other[entry]])] += (1 - layers.keep[entry]) / len(entries)
    return found


def probabilities(num_nodes: int, pairs: np.ndarray, far: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By the definition: within each layer (layers, nodes, nodes), and to go up (layers, nodes)."""
    weights = np.zeros((far.shape[1], num_nodes, num_nodes))
    weights[:, pairs[:, 0], pairs[:, 1]] = weights[:, pairs[:, 1], pairs[:, 0]] = np.exp(-far.T.astype(float))
    linked = np.isfinite(far)
    mean = [np.exp(-far[linked[:, k], k].astype(float)).mean() for k in range(far.shape[1])]
    gamma = (weights > np.array(mean)[:, None, None]).sum(axis=2)
    total = weights.sum(axis=2, keepdims=True)
    up = np.log(gamma + np.e) / (np.log(gamma + np.e) + 1)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0), up


def test_links_are_drawn_by_exp_of_minus_distance_and_their_probabilities_sum_to_one():
    layers, pairs, far = layers_of(graph_of(scattered(12)))
    within, up = probabilities(12, pairs, far)
    for row in range(len(layers.indptr) - 1):
        found = shares(layers, row)
        layer, node = divmod(row, 12)
        assert not found or sum(found.values()) == pytest.approx(1, abs=1e-6)
        np.testing.assert_allclose([found[other] for other in range(12)], within[layer, node], atol=1e-6)
        if found:
            assert layers.up[row] == pytest.approx(up[layer, node], abs=1e-6)


def test_probabilities_sum_to_one_where_every_weight_underflows():
    pairs, far = np.array([[0, 1], [0, 2]]), np.array([[5000.0], [5001.0]], np.float32)
    found = shares(MultilayerGraph.of(3, pairs, far, 0.3), 0)
    assert found[1] == pytest.approx(1 / (1 + np.exp(-1)))
    assert found[1] + found[2] == pytest.approx(1)


def first_steps(num_nodes: int, pairs: np.ndarray, far: np.ndarray, start: int, stay: float) -> np.ndarray:
    """The probability of every node to be the second of a walk, from the chain of layers that ends at a step."""
    within, up = probabilities(num_nodes, pairs, far)
    top = int((within[:, start].sum(axis=1) > 0).sum()) - 1
    change = np.zeros((top + 1, top + 1))
    for k in range(top + 1):
        change[k, min(k + 1, top)] += (1 - stay) * up[k, start]
        change[k, max(k - 1, 0)] += (1 - stay) * (1 - up[k, start])
    visits = np.linalg.inv(np.eye(top + 1) - change)[0]
    return stay * visits @ within[: top + 1, start]


@pytest.mark.parametrize("stay", [0.3, 1.0])
def test_walks_change_layers_and_nodes_by_their_probabilities(stay):
    layers, pairs, far = layers_of(graph_of(nx.lollipop_graph(4, 4)), stay=stay)
    for start in (0, 7):
        steps = layers.walks(np.full(40_000, start), 2, 5, 1)[:, 1]
        found = np.bincount(steps, minlength=8) / len(steps)
        wanted = first_steps(8, pairs, far, start, stay)
        assert wanted.sum() == pytest.approx(1)
        np.testing.assert_allclose(found, wanted, atol=0.01)


def test_walks_begin_at_their_start_and_go_along_links():
    layers, pairs, _ = layers_of(graph_of(scattered(60)), 3)
    walks = layers.walks(np.arange(60), 30, 1, 1)
    linked = {tuple(pair) for pair in pairs.tolist()}
    assert walks[:, 0].tolist() == list(range(60))
    assert all((min(u, v), max(u, v)) in linked for walk in walks for u, v in pairwise(walk))
