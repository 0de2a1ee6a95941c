"""R-GCN is its formula and PyTorch Geometric's layer, with the identity matrix for nodes without features."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from support.graphs import two_groups
from torch_geometric.nn import RGCNConv

from pine import Graph, InputError
from pine.baselines import RGCN
from pine.baselines.gnn.inputs import columns_of, features_of
from pine.baselines.gnn.rgcn import RGCNNetwork, relation_groups

CPU = torch.device("cpu")
COAUTHOR, USES = ("author", "coauthor", "author"), ("author", "uses", "term")


def typed(weighted=False, **options):
    """Eight authors and six terms, the last of both without links."""
    rng = np.random.default_rng(0)
    uses = np.column_stack([rng.integers(0, 7, 15), rng.integers(0, 5, 15)])
    edges = {COAUTHOR: rng.integers(0, 7, (9, 2)), USES: uses}
    weights = {each: rng.uniform(0.5, 2, len(pairs)) for each, pairs in edges.items()} if weighted else None
    return Graph.from_relations(edges, nodes={"author": range(8), "term": range(6)}, weights=weights, **options)


def network_of(graph, bases, dim=5):
    """A network with random weights, and what it takes of a graph."""
    columns = columns_of(graph)
    relations = [group.name for group in relation_groups(graph)]
    network = RGCNNetwork(columns, dim=dim, num_outputs=3, dropout=0.5, relations=relations, bases=bases)
    generator = torch.Generator().manual_seed(1)
    for each in network.parameters():
        torch.nn.init.normal_(each, generator=generator)
    return network, (features_of(graph, columns, CPU), network.adjacency(graph, CPU, None))


def weights_of(network):
    """W_0 and the matrices by basis or relation, of both layers, and each layer's weights of bases and bias."""
    first = [torch.cat(list(each.weights)) for each in (network.inputs, *network.inputs_by_basis)]
    second = [each.weight.T for each in (network.root, *network.outputs_by_basis)]
    return (first, network.hidden, network.bias), (second, network.output, network.root.bias)


@pytest.mark.parametrize("bases", [None, 2])
@pytest.mark.parametrize("directed", [False, True])
def test_layers_are_the_formula_written_with_dense_matrices(bases, directed):
    graph = typed(weighted=True, directed=directed)
    network, seen = network_of(graph, bases)
    means = []
    for group in relation_groups(graph):
        dense = group.matrix.to_scipy().toarray().astype(np.float64)
        total = dense.sum(axis=1, keepdims=True)
        means.append(dense / np.where(total > 0, total, 1))
    assert len(means) == (4 if directed else 3), "a relation within a type is its own opposite, if it is not directed"
    made = [np.eye(14)]
    for tables, sums, bias in weights_of(network):
        root, *by_basis = (each.detach().numpy() for each in tables)
        rows = np.eye(len(means)) if bases is None else sums.coefficients.detach().numpy()
        matrices = [sum(a * v for a, v in zip(row, by_basis, strict=True)) for row in rows]
        x = np.maximum(made[-1], 0)
        made.append(
            x @ root + bias.detach().numpy() + sum(mean @ x @ w for mean, w in zip(means, matrices, strict=True))
        )
    np.testing.assert_allclose(network(*seen)[0].detach().numpy(), np.maximum(made[1], 0), atol=1e-5)
    np.testing.assert_allclose(network(*seen)[1].detach().numpy(), made[2], atol=1e-5)


@pytest.mark.parametrize("bases", [None, 2])
def test_layers_are_pygs_own_in_values_and_gradients(bases):
    graph = typed()
    network, seen = network_of(graph, bases)
    groups = [group.matrix for group in relation_groups(graph)]
    pairs = np.concatenate([np.stack([each.indices, each.rows()]) for each in groups], axis=1)
    edges, kinds = (
        torch.tensor(pairs.astype(np.int64)),
        torch.tensor(np.repeat(range(3), [each.nnz for each in groups])),
    )
    x, theirs = torch.eye(14), []
    for number, (tables, sums, bias) in enumerate(weights_of(network)):
        layer = RGCNConv(x.shape[1], len(bias), 3, num_bases=bases)
        state = {"weight": torch.stack(tables[1:]), "root": tables[0], "bias": bias}
        state |= {} if bases is None else {"comp": sums.coefficients}
        layer.load_state_dict({name: each.detach().clone() for name, each in state.items()})
        x = layer(x, edges, kinds)
        x = x.relu() if number == 0 else x
        theirs.append(layer)
    outputs = network(*seen)[1]
    torch.testing.assert_close(outputs, x)
    for each in (outputs, x):
        each.square().sum().backward()
    for layer, of_basis in zip(theirs, (network.inputs_by_basis, network.outputs_by_basis), strict=True):
        ours = [
            torch.cat([w.grad for w in each.weights]) if layer is theirs[0] else each.weight.grad.T for each in of_basis
        ]
        torch.testing.assert_close(torch.stack(ours), layer.weight.grad)
    if bases is not None:
        torch.testing.assert_close(network.hidden.coefficients.grad, theirs[0].comp.grad)


def test_relations_are_told_apart_where_sums_over_all_neighbors_are_not():
    # Each of 20 people likes one of two films and dislikes the other: the class is which one is liked.
    likes = {("person", "likes", "film"): [(i, i % 2) for i in range(20)]}
    dislikes = {("person", "dislikes", "film"): [(i, 1 - i % 2) for i in range(20)]}
    known = {"person": {i: i % 2 for i in range(10)}}
    predicted = RGCN(threads=1).fit(Graph.from_relations(likes | dislikes), known).predict()
    assert predicted.tolist() == [i % 2 for i in range(20)]


def test_the_embedding_is_the_hidden_layer():
    graph, label = two_groups()
    model = RGCN(dim=8, threads=1).fit(graph, np.where(np.arange(40) % 2, label, -1))
    assert model.embedding_.shape == (40, 8)
    assert (model.embedding_ >= 0).all()
    assert (model.predict()[::2] == label[::2]).mean() > 0.8


def test_weight_decay_is_of_the_tables_of_nodes_alone():
    network, _ = network_of(two_groups()[0], None)
    groups = RGCN(weight_decay=0.5)._parameter_groups(network)
    assert {each["weight_decay"]: len(each["params"]) for each in groups} == {0.5: 2, 0.0: 4}


def test_another_graph_must_not_have_a_relation_without_weights(tmp_path):
    rng = np.random.default_rng(0)
    features = {"author": rng.random((8, 4)), "term": rng.random((6, 3))}
    graph = typed().with_features(features)
    model = RGCN(epochs=2, threads=1).fit(graph, {"author": {0: "x", 1: "y"}})
    nodes = {"author": range(8), "term": range(6)}
    fewer = Graph.from_relations({USES: [(0, 0)]}, nodes=nodes, features=features)
    assert np.isfinite(model.transform(fewer)["author"]).all()
    model.save(tmp_path / "run")
    more = Graph.from_relations({("author", "likes", "term"): [(0, 0)]}, nodes=nodes, features=features)
    for each in (model, RGCN.load(tmp_path / "run")):
        with pytest.raises(InputError, match="there are no weights for relation 'author-likes-term'"):
            each.transform(more)
