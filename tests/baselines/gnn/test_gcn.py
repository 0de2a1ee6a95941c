"""GCN is PyTorch Geometric's layers, with an identity matrix for nodes without features, as its authors have it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from support.graphs import random_graph, two_groups
from torch_geometric.nn import GCNConv

from pine import Graph
from pine.baselines import GCN
from pine.baselines.gnn.gcn import GCNLayer, GCNNetwork
from pine.baselines.gnn.inputs import columns_of, features_of

CPU = torch.device("cpu")


@pytest.mark.parametrize("options", [{}, {"weighted": True}, {"self_loops": "keep"}, {"directed": True}])
def test_a_layer_is_pygs_own_in_values_and_gradients(options):
    graph = random_graph(40, 3, **options)
    csr = graph.adjacency("both" if graph.directed else None)
    edges = torch.tensor(np.stack([csr.rows(), csr.indices]).astype(np.int64))
    weights = None if csr.weights is None else torch.tensor(csr.weights)
    ours, theirs = GCNLayer(6, 3), GCNConv(6, 3)
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(40, 6, generator=torch.Generator().manual_seed(0))
    inputs = [x.clone().requires_grad_() for _ in range(2)]
    outputs = [ours(inputs[0], GCNNetwork.adjacency(graph, CPU, None)), theirs(inputs[1], edges, weights)]
    torch.testing.assert_close(*outputs)
    for each in outputs:
        each.square().sum().backward()
    torch.testing.assert_close(inputs[0].grad, inputs[1].grad)
    torch.testing.assert_close(ours.lin.weight.grad, theirs.lin.weight.grad)


def test_nodes_without_features_have_the_identity_for_features():
    graph = random_graph(40, 3)
    eye = graph.with_features({"node": np.eye(40, dtype=np.float32)})
    columns = [columns_of(each) for each in (graph, eye)]
    network = GCNNetwork(columns[0], 8, 3, 0.5)
    assert network.inputs.weights[0].shape == (40, 8)
    features = [features_of(each, kinds, CPU) for each, kinds in zip((graph, eye), columns, strict=True)]
    results = [network(x, network.adjacency(graph, CPU, None)) for x in features]
    for plain, with_eye in zip(*results, strict=True):
        torch.testing.assert_close(plain, with_eye)


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
