"""GAT is attention over a node and its neighbors, trained for as long as held-out labels say."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from support.graphs import random_graph, two_groups
from support.training import steps_of
from torch_geometric.nn import GATConv

from pine import Graph
from pine.baselines.gnn.gat import GAT, GATLayer, GATNetwork, edges_with_loops
from pine.baselines.gnn.inputs import columns_of, features_of

CPU = torch.device("cpu")


def quick(**settings) -> GAT:
    return GAT(**({"epochs": 60, "threads": 1} | settings))


def network_of(graph: Graph, *settings) -> tuple[GATNetwork, tuple]:
    """A network that is not trained, and what it sees of the graph."""
    columns = columns_of(graph)
    return GATNetwork(columns, *settings), (features_of(graph, columns, CPU), GATNetwork.adjacency(graph, CPU, None))


def attention_reference(w: np.ndarray, near: np.ndarray, a_own: np.ndarray, a_other: np.ndarray) -> np.ndarray:
    """One head, node by node: softmax over v and its neighbors u of leaky_relu(a . [W x_v, W x_u]), times W x_u."""
    rows = []
    for v in range(len(w)):
        among = np.flatnonzero(near[v])
        logit = w[v] @ a_own + w[among] @ a_other
        share = np.exp(np.where(logit > 0, logit, 0.2 * logit))
        rows.append(share @ w[among] / share.sum())
    return np.array(rows)


@pytest.mark.parametrize("options", [{}, {"self_loops": "keep"}, {"directed": True}])
def test_both_layers_are_attention_over_a_node_and_its_neighbors(options):
    graph = random_graph(**options)
    network, seen = network_of(graph, 6, 2, 3, 0.6, 2)
    hidden, outputs = (each.detach().numpy() for each in network(*seen))
    near = (graph.links().to_scipy().toarray() > 0) | np.eye(30, dtype=bool)
    x = network.inputs.weights[0].detach().numpy()
    vectors = [layer.detach().numpy()[0] for layer in (network.hidden.att_dst, network.hidden.att_src)]
    heads = [attention_reference(x[:, 3 * h : 3 * h + 3], near, vectors[0][h], vectors[1][h]) for h in range(2)]
    before = np.concatenate(heads, axis=1)
    np.testing.assert_allclose(hidden, np.where(before > 0, before, np.expm1(before)), atol=1e-6)
    last = network.output
    w = hidden @ last.lin.weight.detach().numpy().T
    vectors = [each.detach().numpy()[0] for each in (last.att_dst, last.att_src)]
    heads = [attention_reference(w[:, 3 * h : 3 * h + 3], near, vectors[0][h], vectors[1][h]) for h in range(2)]
    np.testing.assert_allclose(outputs, np.mean(heads, axis=0), atol=1e-6)


def test_a_layer_without_dropout_is_pygs_own():
    edges = edges_with_loops(random_graph())
    ours, theirs = GATLayer(5, 4, 2, 0.6), GATConv(5, 4, 2)
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(30, 5, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(ours(x, edges, None), theirs(x, edges))


def test_attention_is_dropped_by_our_generator_and_keeps_its_mean():
    graph = random_graph()
    layer, edges = GATLayer(5, 4, 2, 0.6), edges_with_loops(graph)
    x = torch.randn(30, 5, generator=torch.Generator().manual_seed(0))
    before = torch.get_rng_state()
    with torch.no_grad():
        many = torch.stack([layer(x, edges, torch.Generator().manual_seed(seed)) for seed in range(1000)])
    assert torch.equal(torch.get_rng_state(), before)
    error = many.std(0) / len(many) ** 0.5
    assert ((many.mean(0) - layer(x, edges, None)).abs() < 5 * error + 1e-4).all()
    alone = graph.links().degrees() == 0
    kept = (many[:, alone].abs().sum(-1) > 0).float().mean()
    assert kept == pytest.approx(1 - 0.6**2, abs=0.02), "a node alone hears itself unless both of its heads are dropped"


def test_training_drops_rows_of_the_identity_and_entries_of_the_hidden_layer():
    graph = random_graph(300)
    (network, seen), zeros = network_of(graph, 16, 2, 3, 0.6), []
    network.hidden.dropout = 0.0  # attention has a test of its own
    for layer in (network.hidden, network.output):
        layer.register_forward_pre_hook(lambda layer, given: zeros.append((given[0] == 0).float()))
    network(*seen)
    network(*seen, torch.Generator().manual_seed(0))
    assert zeros[0].mean() == zeros[1].mean() == 0
    assert zeros[2].all(1).float().mean() == pytest.approx(0.6, abs=0.1)
    assert zeros[2].mean() == zeros[2].all(1).float().mean()
    heard = ~zeros[3].all(1)  # whoever has no row left in the neighborhood is zero anyway
    assert heard.float().mean() > 0.5
    assert zeros[3][heard].mean() == pytest.approx(0.6, abs=0.05)


def test_every_node_attends_to_itself_and_to_each_neighbor_once():
    graph = Graph.from_edges([(0, 0), (0, 1), (1, 0), (2, 1)], nodes=range(4), self_loops="keep", directed=True)
    pairs = sorted(zip(*edges_with_loops(graph).tolist(), strict=True))
    assert pairs == [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 1), (2, 2), (3, 3)]


def test_a_second_training_takes_the_number_of_epochs_that_the_first_found():
    graph, _ = two_groups()
    label = np.random.default_rng(0).integers(0, 2, 40)  # nothing to learn: the held-out loss soon grows
    first, second = steps_of(lambda: quick(patience=5, learning_rate=0.05).fit(graph, label))
    assert second + 5 <= first < 60, "the first waits"
    few = np.where(np.arange(40) % 5 == 0, label, -1)
    assert steps_of(lambda: quick().fit(graph, few)) == [60], "eight labels cannot spare any"
    assert steps_of(lambda: quick(epochs=250, dim=8).fit(graph, few)) == [200], "as GCN's authors have"


def test_the_second_training_sees_all_labels():
    graph, label = two_groups()
    model = quick(epochs=1, dropout=0.0, dim=8)  # of one epoch, the first is the best whatever is held out
    whole = model.fit(graph, label).embedding_
    for node in range(40):
        changed = model.fit(graph, np.where(np.arange(40) == node, 1 - label, label)).embedding_
        assert not np.array_equal(changed, whole), node


def test_the_embedding_is_the_hidden_layer_and_tells_groups_apart():
    graph, label = two_groups()
    model = quick(dim=16).fit(graph, np.where(np.arange(40) % 2, label, -1))
    assert model.embedding_.shape == (40, 16)
    assert (model.embedding_ > -1).all(), "elu is above -1"
    assert (model.predict()[::2] == label[::2]).mean() > 0.8


def test_numbers_and_label_sets_are_predicted():
    graph, label = two_groups()
    known = {int(node): 1000.0 + 10 * label[node] for node in range(1, 40, 2)}
    predicted = quick(learning_rate=0.05).fit(graph, known).predict()
    assert np.corrcoef(predicted[::2], label[::2])[0, 1] > 0.8
    assert ((predicted > 995) & (predicted < 1015)).all()
    rows = np.where(np.arange(40)[:, None] % 2, np.eye(2, dtype=int)[label], -1)
    assert (quick(learning_rate=0.05).fit(graph, rows).predict()[::2] == np.eye(2)[label[::2]]).mean() > 0.8


def test_weight_decay_shrinks_vectors():
    graph, label = two_groups()
    free, held = (quick(weight_decay=decay, learning_rate=0.05).fit(graph, label).embedding_ for decay in (0.0, 0.1))
    assert np.abs(held).mean() < 0.3 * np.abs(free).mean()
