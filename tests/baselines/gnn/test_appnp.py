"""APPNP is an MLP whose outputs are carried by personalized PageRank; the MLP alone looks at no edge."""

from __future__ import annotations

import numpy as np
import torch
from support.graphs import random_graph
from support.networks import array, dense_s, inputs_of, network_on

from pine.baselines.gnn.appnp import APPNPNetwork
from pine.baselines.gnn.mlp import MLPNetwork


def mlp(network) -> tuple[np.ndarray, np.ndarray]:
    hidden = np.maximum(inputs_of(network) + array(network.bias), 0)
    return hidden, hidden @ array(network.output.weight).T + array(network.output.bias)


def test_an_mlp_is_two_linear_maps_with_relu_between_them():
    network, seen = network_on(random_graph(), MLPNetwork, dim=5, num_outputs=3, dropout=0.5)
    for found, expected in zip(network(*seen), mlp(network), strict=True):
        np.testing.assert_allclose(array(found), expected, atol=1e-5)


def test_outputs_are_a_power_iteration_from_the_outputs_of_an_mlp():
    graph = random_graph(weighted=True)
    settings = {"dim": 5, "num_outputs": 3, "dropout": 0.5, "alpha": 0.2}
    network, seen = network_on(graph, APPNPNetwork, hops=10, **settings)
    hidden, local = mlp(network)
    z = local
    for _ in range(10):
        z = 0.8 * dense_s(graph) @ z + 0.2 * local
    np.testing.assert_allclose(array(network(*seen)[0]), hidden, atol=1e-5)
    np.testing.assert_allclose(array(network(*seen)[1]), z, atol=1e-5)


def test_many_hops_are_personalized_pagerank():
    graph = random_graph()
    network, seen = network_on(graph, APPNPNetwork, dim=5, num_outputs=3, dropout=0.5, hops=200, alpha=0.2)
    pagerank = 0.2 * np.linalg.inv(np.eye(30) - 0.8 * dense_s(graph))
    np.testing.assert_allclose(array(network(*seen)[1]), pagerank @ mlp(network)[1], atol=1e-4)


def test_training_drops_entries_of_s_in_every_hop_and_keeps_the_mean():
    graph = random_graph()
    s = APPNPNetwork.adjacency(graph, torch.device("cpu"), None)
    eye = torch.eye(30)
    drawn = [s.times(eye, 0.5, torch.Generator().manual_seed(seed)) for seed in range(2000)]
    entries = array(torch.stack(drawn))
    there = dense_s(graph) > 0
    assert abs((entries[:, there] == 0).mean() - 0.5) < 0.01
    np.testing.assert_allclose(entries.mean(axis=0), dense_s(graph), atol=0.12)
