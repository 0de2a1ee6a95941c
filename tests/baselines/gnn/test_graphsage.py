"""GraphSAGE adds to a node what the best or the mean of its neighbors say, and learns from samples of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from support.graphs import random_graph, two_groups
from torch.nn.modules.module import register_module_forward_pre_hook

import pine
from pine import Graph
from pine.baselines.gnn.graphsage import GraphSAGE, GraphSAGENetwork
from pine.baselines.gnn.inputs import FeatureBlock, columns_of, features_of
from pine.evaluation import evaluate
from pine.graph.sampling.neighbors import NeighborSampler


def quick(**settings) -> GraphSAGE:
    return GraphSAGE(**({"epochs": 60, "threads": 1} | settings))


def network_of(graph: Graph, *settings) -> tuple[GraphSAGENetwork, Mapping[str, FeatureBlock]]:
    """A network that is not trained, and what stands for the graph's nodes."""
    columns = columns_of(graph)
    return GraphSAGENetwork(columns, *settings), features_of(graph, columns, torch.device("cpu"))


def linear(layer: torch.nn.Module, x: np.ndarray) -> np.ndarray:
    return layer(torch.tensor(x)).detach().numpy()


def sage_reference(layer: Any, x: np.ndarray, graph: Graph, aggregator: str) -> np.ndarray:
    """W x_v + U a_v, node by node; a_v of no neighbors is 0."""
    spoken = np.maximum(linear(layer.lin, x), 0) if aggregator == "pool" else x
    together = np.zeros_like(x)
    for node in range(len(x)):
        near = spoken[graph.links().row(node)]
        if len(near):
            together[node] = near.max(axis=0) if aggregator == "pool" else near.mean(axis=0)
    return linear(layer.lin_r, x) + linear(layer.lin_l, together)


@pytest.mark.parametrize("aggregator", ["pool", "mean"])
def test_two_layers_are_what_the_paper_prints(aggregator):
    graph = random_graph()
    network, own = network_of(graph, 6, 3, aggregator, 0.5)
    csr = graph.links()
    pairs = torch.tensor(np.stack([csr.indices, csr.rows()]).astype(np.int64))
    vectors, outputs = (each.detach().numpy() for each in network(own, (pairs, pairs)))
    x = network.inputs.weights[0].detach().numpy()
    first = np.maximum(sage_reference(network.first, x, graph, aggregator), 0)
    second = sage_reference(network.second, first, graph, aggregator)
    second /= np.linalg.norm(second, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors, second, atol=1e-6)
    np.testing.assert_allclose(outputs, linear(network.output, second), atol=1e-6)


def test_training_drops_some_of_what_enters_layers_and_classifier():
    graph = random_graph(300)
    (network, x), zeros = network_of(graph, 16, 3, "pool", 0.5), []
    pairs = [torch.tensor(NeighborSampler.of(graph.links(), 5).draw(0))] * 2
    for layer in (network.first, network.second, network.output):
        layer.register_forward_pre_hook(lambda layer, given: zeros.append((given[0] == 0).float()))
    network(x, pairs)
    network(x, pairs, torch.Generator().manual_seed(0))
    assert zeros[0].mean() == zeros[2].mean() == 0
    assert zeros[3].all(1).float().mean() == pytest.approx(0.5, abs=0.1), "rows of the identity"
    assert zeros[4].mean() > zeros[1].mean() + 0.15
    assert zeros[5].mean() == pytest.approx(0.5, abs=0.05)


def test_training_samples_neighbors_anew_and_prediction_sees_all():
    graph, label = two_groups()
    seen = []

    def watch(module, given):
        if isinstance(module, GraphSAGENetwork):
            seen.append([edges.numpy() for edges in given[1]])

    hook = register_module_forward_pre_hook(watch)
    try:
        quick(samples_1=4, samples_2=2, epochs=3).fit(graph, label)
    finally:
        hook.remove()
    assert len(seen) == 4
    for first, second in seen[:3]:
        np.testing.assert_array_equal(np.bincount(first[1]), np.minimum(graph.links().degrees(), 4))
        np.testing.assert_array_equal(np.bincount(second[1]), np.minimum(graph.links().degrees(), 2))
    assert not np.array_equal(seen[0][0], seen[1][0])
    for everyone in seen[3]:
        np.testing.assert_array_equal(np.bincount(everyone[1]), graph.links().degrees())


@pytest.mark.parametrize("aggregator", ["pool", "mean"])
def test_vectors_have_unit_length_and_tell_groups_apart(aggregator):
    graph, label = two_groups()
    model = quick(dim=16, aggregator=aggregator).fit(graph, np.where(np.arange(40) % 2, label, -1))
    assert model.embedding_.shape == (40, 16)
    np.testing.assert_allclose(np.linalg.norm(model.embedding_, axis=1), 1, atol=1e-5)
    assert (model.predict()[::2] == label[::2]).mean() > 0.8


def test_numbers_and_label_sets_are_predicted():
    graph, label = two_groups()
    known = {int(node): 1000.0 + 10 * label[node] for node in range(1, 40, 2)}
    predicted = quick().fit(graph, known).predict()
    assert np.abs(predicted[::2] - (1000 + 10 * label[::2])).mean() < 4
    rows = np.where(np.arange(40)[:, None] % 2, np.eye(2, dtype=int)[label], -1)
    assert (quick().fit(graph, rows).predict()[::2] == np.eye(2)[label[::2]]).mean() > 0.8


def test_directed_edges_go_both_ways_and_a_neighbor_counts_once():
    edges = [(3, 1), (1, 2), (2, 0), (0, 3), (4, 1), (1, 4)]
    mean = quick(epochs=5, aggregator="mean")
    both = [mean.fit(Graph.from_edges(edges, directed=way), {0: 0, 1: 1}).embedding_ for way in (True, False)]
    np.testing.assert_array_equal(*both)


@pytest.mark.slow
def test_cora_without_its_words_is_classified_by_links_alone():
    # There is no outside figure for this setting; measured here: .69 .81 .86 at 10, 50 and 90 %.
    results = list(evaluate(pine.datasets.load("cora"), {"graphsage": GraphSAGE}, [0.1, 0.5, 0.9], 1))
    accuracy = [result.scores["accuracy"] for result in results]
    assert (np.array(accuracy) > [0.66, 0.79, 0.82]).all(), accuracy
