"""GRAND carries the vectors of some nodes, drawn at random, and asks predictions to agree between draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from support.graphs import random_graph, two_groups
from support.networks import COUNTS, CPU, array, dense_s, inputs_of, network_on

from pine import Graph, InputError
from pine.baselines import GRAND
from pine.baselines.gnn import grand
from pine.baselines.gnn.grand import GRANDNetwork
from pine.baselines.gnn.inputs import columns_of, features_of, row_normalized
from pine.labels import read_labels
from pine.nn.functional import sharpened
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


def normalized(columns: np.ndarray) -> np.ndarray:
    """As batch norm with weight 1 and bias 0."""
    return (columns - columns.mean(axis=0)) / np.sqrt(columns.var(axis=0) + 1e-5)


@pytest.mark.parametrize("batch_norm", [False, True])
def test_training_normalizes_and_drops_entries_of_the_propagated_features_and_of_the_hidden_layer(batch_norm):
    graph = random_graph(weighted=True)
    chances = {"node_dropout": 0.4, "input_dropout": 0.3, "dropout": 0.2}
    network, seen = network_on(graph, GRANDNetwork, **SETTINGS | chances | {"batch_norm": batch_norm})
    for norm in (network.feature_norm, network.norm) if batch_norm else ():
        norm.reset_parameters()
    drawn = torch.Generator().manual_seed(5)
    kept, entries, hidden_entries = (
        array(torch.rand(shape, generator=drawn)) < 1 - chance
        for shape, chance in (((30, 1), 0.4), ((30, 6), 0.3), ((30, 5), 0.2))
    )
    propagated = mean_of_powers(graph, 4) @ (kept * row_normalized(COUNTS))
    inputs = (normalized(propagated) if batch_norm else propagated) * entries / 0.7
    hidden = np.maximum(inputs @ array(network.inputs.weights[0]) + array(network.bias), 0)
    hidden = normalized(hidden) if batch_norm else hidden
    outputs = (hidden * hidden_entries / 0.8) @ array(network.output.weight).T + array(network.output.bias)
    found = network(*seen, torch.Generator().manual_seed(5))
    np.testing.assert_allclose(array(found[0]), hidden, atol=2e-4)
    np.testing.assert_allclose(array(found[1]), outputs, atol=2e-4)
    found[1].sum().backward()
    expected = (hidden * hidden_entries / 0.8).sum(axis=0)
    np.testing.assert_allclose(array(network.output.weight.grad), np.tile(expected, (3, 1)), atol=2e-3)


def typed(order: str) -> Graph:
    """Two types with features, and one without; the types in an order."""
    links = {"ab": [(0, 0), (1, 1), (2, 1)], "bc": [(0, 0), (1, 2), (3, 0)], "ca": [(0, 2), (1, 1)]}
    relations: dict[Any, Any] = {(pair[0], "to", pair[1]): links[pair] for pair in links}
    counts, features = {"a": 3, "b": 4, "c": 3}, {"a": SIGNED[:3, :2], "b": SIGNED[3:7, 2:]}
    return Graph.from_relations(relations, nodes={type: range(counts[type]) for type in order}, features=features)


SIGNED = np.random.default_rng(3).standard_normal((7, 5)).astype(np.float32)


@pytest.mark.parametrize("order", ["abc", "cab", "bca"])
def test_features_of_several_types_are_a_block_diagonal_with_the_identity(order):
    graph = typed("abc")
    columns = columns_of(graph)
    network = GRANDNetwork(columns, **SETTINGS)
    torch.nn.init.normal_(network.bias, generator=torch.Generator().manual_seed(1))
    other = typed(order)
    weights = dict(zip("abc", map(array, network.inputs.weights), strict=True))
    given = {"a": SIGNED[:3, :2] @ weights["a"], "b": SIGNED[3:7, 2:] @ weights["b"], "c": weights["c"]}
    product = np.concatenate([given[type] for type in other.node_types])
    hidden = np.maximum(mean_of_powers(other, 4) @ (0.6 * product) + array(network.bias), 0)
    seen = features_of(other, columns, CPU), GRANDNetwork.adjacency(other, CPU, None)
    np.testing.assert_allclose(array(network(*seen)[0]), hidden, atol=1e-5)


def test_every_evaluation_is_of_the_graph_and_the_weights_that_it_is_given():
    network, seen = network_on(random_graph(), GRANDNetwork, **SETTINGS)
    _, other = network_on(random_graph(density=4), GRANDNetwork, **SETTINGS)
    first, second = (array(network(*each)[1]) for each in (seen, other))
    assert not np.allclose(first, second)
    np.testing.assert_array_equal(array(network(*seen)[1]), first)
    mixed = array(network(seen[0], other[1])[1])
    np.testing.assert_array_equal(mixed, second)  # both have the same features
    network(*seen, torch.Generator().manual_seed(0))
    np.testing.assert_array_equal(array(network(*seen)[1]), first)
    torch.nn.init.zeros_(network.inputs.weights[0])
    assert not np.allclose(array(network(*seen)[1]), first)


def test_features_that_would_not_fit_are_refused_with_a_way_out(monkeypatch):
    graph, label = two_groups()
    graph = graph.with_features({"node": np.ones((40, 5))})
    monkeypatch.setattr(grand, "MAX_FEATURE_BYTES", 4 * 40 * 5 * 3)
    model = GRAND(epochs=2, samples=3, threads=1).fit(graph, label)
    with pytest.raises(InputError) as refused:
        GRAND(epochs=2, samples=4, threads=1).fit(graph, label)
    assert str(refused.value) == (
        "grand propagates dense features, and 5 columns for 40 nodes need 3.2 KB, more than 2.4 KB; give it fewer "
        "columns, for example by a truncated SVD, or lower samples=4"
    )
    monkeypatch.setattr(grand, "MAX_FEATURE_BYTES", 4 * 40 * 5)
    assert model.transform(graph).shape == (40, 32)
    monkeypatch.setattr(grand, "MAX_FEATURE_BYTES", 4 * 40 * 5 - 1)
    with pytest.raises(InputError, match=r"5 columns for 40 nodes need 800 bytes, .* by a truncated SVD$"):
        model.transform(graph)


def test_a_single_node_can_be_normalized():
    graph = Graph.from_edges([], nodes=[0]).with_features({"node": np.ones((1, 3))})
    assert GRAND(batch_norm=True, epochs=2, threads=1).fit(graph, {0: "x"}).predict().tolist() == ["x"]


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
    torch.testing.assert_close(sharpened("classes", p, 2.0), torch.tensor([[9 / 13, 4 / 13], [0.5, 0.5]]))
    torch.testing.assert_close(sharpened("label-sets", p, 2.0), torch.tensor([[9 / 13, 4 / 13], [0.5, 0.5]]))
    torch.testing.assert_close(sharpened("numbers", p, 2.0), p)


def test_batch_norm_is_that_of_training_while_training_and_its_averages_are_saved(tmp_path):
    graph, label = two_groups()
    graph = graph.with_features({"node": np.random.default_rng(0).random((40, 5))})
    model = GRAND(batch_norm=True, epochs=5, hops=2, threads=1).fit(graph, label)
    np.testing.assert_allclose(model.transform(graph), model.embedding_, atol=1e-6)
    model.save(tmp_path)
    np.testing.assert_array_equal(GRAND.load(tmp_path).transform(graph), model.transform(graph))
    assert model.trained_ is not None
    for name in ("feature_norm", "norm"):
        assert not np.allclose(model.trained_.weights[f"{name}.running_mean"], 0)
