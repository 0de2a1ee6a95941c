"""GRAND carries the vectors of some nodes, drawn at random, and asks predictions to agree between draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from support.graphs import random_graph, two_groups
from support.networks import array, dense_s, inputs_of, network_on

from pine.baselines import GRAND
from pine.baselines.gnn.grand import GRANDNetwork, sharpened
from pine.labels import read_labels
from pine.nn.targets import Targets

SETTINGS: dict[str, Any] = {
    "dim": 5, "num_outputs": 3, "hops": 4, "node_dropout": 0.4, "input_dropout": 0.0, "dropout": 0.0,
    "batch_norm": False, "samples": 3, "lam": 0.5, "temperature": 0.5,
}  # fmt: skip


def mean_of_powers(graph, hops: int) -> np.ndarray:
    return np.mean([np.linalg.matrix_power(dense_s(graph), k) for k in range(hops + 1)], axis=0)


def test_without_a_generator_all_nodes_are_carried_at_their_expected_size():
    graph = random_graph(weighted=True)
    network, seen = network_on(graph, GRANDNetwork, **SETTINGS)
    hidden = np.maximum(mean_of_powers(graph, 4) @ (0.6 * inputs_of(network)) + array(network.bias), 0)
    outputs = hidden @ array(network.output.weight).T + array(network.output.bias)
    np.testing.assert_allclose(array(network(*seen)[0]), hidden, atol=1e-5)
    np.testing.assert_allclose(array(network(*seen)[1]), outputs, atol=1e-5)


def test_training_drops_nodes_whole_and_keeps_the_mean():
    graph = random_graph()
    network, seen = network_on(graph, GRANDNetwork, **SETTINGS)
    torch.nn.init.constant_(network.bias, 100.0)  # where relu does nothing
    with torch.no_grad():
        many = torch.stack([network(*seen, torch.Generator().manual_seed(seed))[0] for seed in range(2000)])
    error = many.std(0) / len(many) ** 0.5
    assert ((many.mean(0) - network(*seen)[0]).abs() < 5 * error + 1e-3).all()
    alone = array(many[:, -1] - 100) * 5 / inputs_of(network)[-1]  # a node without neighbors hears itself, 1 + K times
    whole = np.isclose(alone, 0, atol=1e-3) | np.isclose(alone, 5, atol=1e-3)
    assert whole.all()
    assert (whole & (alone < 1)).mean() == pytest.approx(0.4, abs=0.04)
    assert np.ptp(np.round(alone, 2), axis=1).max() < 0.02, "all coordinates together"


def test_the_loss_is_that_of_labels_plus_the_distance_to_the_sharpened_mean():
    graph = random_graph()
    network, seen = network_on(graph, GRANDNetwork, **SETTINGS)
    targets = Targets.of(graph, read_labels(graph, np.arange(30) % 3), torch.device("cpu"))
    generator = torch.Generator().manual_seed(3)
    drawn = [array(network(*seen, generator)[1]).astype(np.float64) for _ in range(3)]
    p = np.stack([np.exp(z) / np.exp(z).sum(axis=1, keepdims=True) for z in drawn])
    known = np.mean([-np.log(each[np.arange(30), np.arange(30) % 3]).mean() for each in p])
    center = p.mean(axis=0) ** 2 / (p.mean(axis=0) ** 2).sum(axis=1, keepdims=True)
    expected = known + 0.5 * np.mean([np.square(each - center).sum(axis=1).mean() for each in p])
    loss = network.loss(*seen, targets, torch.Generator().manual_seed(3))
    assert loss.item() == pytest.approx(expected, rel=1e-4)


def test_a_low_temperature_sharpens_probabilities():
    p = torch.tensor([[0.6, 0.4], [0.5, 0.5]])
    torch.testing.assert_close(sharpened("classes", p, 0.5), torch.tensor([[9 / 13, 4 / 13], [0.5, 0.5]]))
    torch.testing.assert_close(sharpened("label-sets", p, 0.5), torch.tensor([[9 / 13, 4 / 13], [0.5, 0.5]]))
    torch.testing.assert_close(sharpened("numbers", p, 0.5), p)


def test_batch_norm_is_that_of_training_while_training_and_its_averages_are_saved(tmp_path):
    graph, label = two_groups()
    graph = graph.with_features({"node": np.random.default_rng(0).random((40, 5))})
    model = GRAND(batch_norm=True, epochs=5, hops=2, threads=1).fit(graph, label)
    np.testing.assert_allclose(model.transform(graph), model.embedding_, atol=1e-6)
    model.save(tmp_path)
    np.testing.assert_array_equal(GRAND.load(tmp_path).transform(graph), model.transform(graph))
    assert model.trained_ is not None
    assert not np.allclose(model.trained_.weights["norm.running_mean"], 0)
