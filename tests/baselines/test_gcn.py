"""GCN is PyTorch Geometric's layers, with an identity matrix for nodes without attributes, as its authors have it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from support.graphs import random_graph, two_groups
from torch_geometric.nn import GCNConv

from pine import Graph
from pine.baselines import GCN
from pine.baselines.gnn.gcn_network import Layer, Network
from pine.baselines.gnn.inputs import Dense, Identity, Inputs, Sparse, attributes_of, columns_of, shares

RNG, CPU = np.random.default_rng(0), torch.device("cpu")


@pytest.mark.parametrize("options", [{}, {"weighted": True}, {"self_loops": "keep"}, {"directed": True}])
def test_a_layer_is_pygs_own_in_values_and_gradients(options):
    graph = random_graph(40, 3, **options)
    csr = graph.adjacency("both" if graph.directed else None)
    edges = torch.tensor(np.stack([csr.rows(), csr.indices]).astype(np.int64))
    weights = None if csr.weights is None else torch.tensor(csr.weights)
    ours, theirs = Layer(6, 3), GCNConv(6, 3)
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(40, 6, generator=torch.Generator().manual_seed(0))
    inputs = [x.clone().requires_grad_() for _ in range(2)]
    outputs = [ours(inputs[0], Network.links(graph, CPU, None)), theirs(inputs[1], edges, weights)]
    torch.testing.assert_close(*outputs)
    for each in outputs:
        each.square().sum().backward()
    torch.testing.assert_close(inputs[0].grad, inputs[1].grad)
    torch.testing.assert_close(ours.lin.weight.grad, theirs.lin.weight.grad)


def test_nodes_without_attributes_have_the_identity_for_attributes():
    graph = random_graph(40, 3)
    eye = graph.with_features({"node": np.eye(40, dtype=np.float32)})
    columns = [columns_of(each) for each in (graph, eye)]
    network = Network(columns[0], 8, 3, 0.5)
    assert network.inputs.weights[0].shape == (40, 8)
    attributes = [attributes_of(each, kinds, CPU) for each, kinds in zip((graph, eye), columns, strict=True)]
    results = [network(x, network.links(graph, CPU, None)) for x in attributes]
    for plain, with_eye in zip(*results, strict=True):
        torch.testing.assert_close(plain, with_eye)


def test_dropout_of_the_identity_drops_rows_and_scales_the_others():
    weight = torch.rand(1000, 4, generator=torch.Generator().manual_seed(1))
    dropped = Identity().times(weight, 0.25, torch.Generator().manual_seed(0))
    kept = dropped.abs().sum(1) > 0
    assert 0.7 < kept.float().mean() < 0.8
    torch.testing.assert_close(dropped[kept], weight[kept] / 0.75)
    torch.testing.assert_close(Identity().times(weight, 0.25, None), weight)


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_sparse_attributes_give_what_dense_ones_give(share):
    features = sp.random_array((50, 30), density=0.2, rng=RNG, dtype=np.float32).tocsr()
    sparse, dense = Sparse(features, CPU), Dense(features.toarray(), CPU)
    weight = torch.rand(30, 4, generator=torch.Generator().manual_seed(1)) - 0.5
    torch.testing.assert_close(sparse.times(weight, share, None), dense.times(weight, share, None))
    many = [sparse.times(weight, share, torch.Generator().manual_seed(seed)) for seed in range(400)]
    torch.testing.assert_close(torch.stack(many).mean(0), dense.times(weight, 0.0, None), atol=0.15, rtol=0)
    assert (torch.stack(many).std(0).max() > 0.05) == (share > 0)


def test_counts_become_shares_and_other_features_stay():
    counts = np.array([[1.0, 3.0], [0.0, 0.0]], np.float32)
    assert shares(counts).tolist() == [[0.25, 0.75], [0, 0]]
    assert shares(sp.csr_array(counts)).toarray().tolist() == [[0.25, 0.75], [0, 0]]
    graph = Graph.from_edges([(0, 1)])
    for features, seen in ((counts, shares(counts)), (counts - 1, counts - 1)):
        graph = graph.with_features({"node": features})
        assert attributes_of(graph, columns_of(graph), CPU)["node"].features.tolist() == seen.tolist()


def test_types_have_attributes_of_their_own_or_none():
    graph = Graph.from_relations(
        {("a", "to", "b"): [(0, 0), (1, 1), (2, 1)], ("b", "to", "c"): [(0, 0)]},
        features={"b": np.ones((2, 5), np.float32), "c": sp.csr_array(np.ones((1, 7), np.float32))},
    )
    columns = columns_of(graph)
    inputs = Inputs(columns, 4)
    assert [tuple(weight.shape) for weight in inputs.weights] == [(3, 4), (5, 4), (7, 4)]
    x = attributes_of(graph, columns, CPU)
    assert inputs(x, 0.5, torch.Generator().manual_seed(0)).shape == (6, 4)
    model = GCN(epochs=20, threads=1).fit(graph, {"b": {0: "x", 1: "y"}})
    assert model.predict(type="b").tolist() == ["x", "y"]


def test_the_embedding_is_the_hidden_layer():
    graph, label = two_groups()
    model = GCN(dim=8, epochs=50, threads=1).fit(graph, np.where(np.arange(40) % 2, label, -1))
    assert model.embedding_.shape == (40, 8)
    assert (model.embedding_ >= 0).all()
    assert (model.embedding_ > 0).any()
    assert (model.predict()[::2] == label[::2]).mean() > 0.8


def test_numbers_are_predicted_in_their_own_units():
    graph, label = two_groups()
    known = {int(node): 1000.0 + 10 * label[node] for node in range(1, 40, 2)}
    predicted = GCN(threads=1).fit(graph, known).predict()
    np.testing.assert_allclose(predicted[::2], 1000 + 10 * label[::2], atol=5)


def test_weight_decay_shrinks_the_rows_that_no_label_holds():
    edges = [(0, 1), (1, 2), (3, 4), (4, 5)]
    graph, labels = Graph.from_edges(edges), {0: "x", 1: "y", 2: "x"}

    def differences(decay):
        """Between vectors of a part without labels: what is left of its rows of W_1, free of the bias."""
        model = GCN(weight_decay=decay, dropout=0.0, threads=1).fit(graph, labels)
        return np.ptp(model.embedding_[3:], axis=0).mean()

    assert differences(1.0) < 0.01 * differences(0.0)
