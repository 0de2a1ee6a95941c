"""A layer of GCNII mixes in the first one, and its weights with the identity."""

from __future__ import annotations

import numpy as np
import pytest
from support.graphs import random_graph, two_groups
from support.networks import array, dense_s, inputs_of, network_on

from pine.baselines import GCNII
from pine.baselines.gnn.gcnii import GCNIINetwork
from pine.baselines.gnn.inputs import InputColumns


@pytest.mark.parametrize("layers", [1, 4])
def test_layers_are_as_the_paper_defines_them(layers):
    graph = random_graph(weighted=True)
    settings = {"dim": 5, "num_outputs": 3, "dropout": 0.5, "alpha": 0.2, "lam": 0.7}
    network, seen = network_on(graph, GCNIINetwork, layers=layers, **settings)
    first = h = np.maximum(inputs_of(network) + array(network.bias), 0)
    for number, w in enumerate(array(network.weights), 1):
        b = np.log(0.7 / number + 1)
        h = np.maximum((0.8 * dense_s(graph) @ h + 0.2 * first) @ ((1 - b) * np.eye(5) + b * w), 0)
    outputs = h @ array(network.output.weight).T + array(network.output.bias)
    np.testing.assert_allclose(array(network(*seen)[0]), h, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(array(network(*seen)[1]), outputs, rtol=1e-4, atol=1e-4)


def test_layers_and_linear_maps_decay_each_at_their_own_rate():
    graph, label = two_groups()
    graph = graph.with_features({"node": np.random.default_rng(0).random((40, 5))})

    def sizes(weight_decay: float = 0.0, linear_decay: float = 0.0) -> list[float]:
        model = GCNII(layers=3, epochs=40, threads=1, weight_decay=weight_decay, linear_decay=linear_decay)
        trained = model.fit(graph, label).trained_
        assert trained is not None
        return [float(np.abs(trained.weights[name]).mean()) for name in ("weights", "output.weight")]

    free, layers, maps = sizes(), sizes(weight_decay=10.0), sizes(linear_decay=10.0)
    assert layers[0] < 0.8 * free[0]
    assert layers[1] > 0.8 * free[1]
    assert maps[1] < 0.8 * free[1]


def test_the_first_map_begins_as_a_linear_layer_of_its_width():
    columns = [InputColumns("node", 400, "counts")]
    network = GCNIINetwork(columns, dim=64, num_outputs=3, layers=1, alpha=0.2, lam=0.7, dropout=0.5)
    (first,) = (array(each) for each in network.inputs.weights)
    assert np.abs(first).max() == pytest.approx(1 / 20, rel=0.01)  # Glorot's would be twice that
