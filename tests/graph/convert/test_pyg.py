"""To PyTorch Geometric and back: ids, types, weights, features, labels and masks stay what they were."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from support.convert import ALL, OPTIONS, same_graph
from torch_geometric.data import Data, HeteroData

from pine import Graph
from pine.errors import InputError


@pytest.mark.parametrize("name", ALL)
def test_pyg_gives_back_what_it_got(name):
    graph = ALL[name]
    options = OPTIONS.get(name, {}) | ({"directed": graph.directed} if name != "parallel" else {"directed": True})
    back = Graph.from_pyg(graph.to_pyg(), **options)
    if name == "parallel":
        assert back.adjacency().indices.tolist() == graph.adjacency().indices.tolist()
    else:
        assert same_graph(back, graph)


def test_pyg_data_keeps_x_y_and_masks():
    data = Data(
        x=torch.arange(6.0).reshape(3, 2),
        edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]),
        y=torch.tensor([0, 1, 0]),
        train_mask=torch.tensor([True, False, True]),
    )
    graph = Graph.from_pyg(data)
    assert not graph.directed
    assert graph.num_edges == 2
    np.testing.assert_array_equal(graph.features["node"], data.x)
    back = graph.to_pyg()
    assert torch.equal(back.y, data.y)
    assert torch.equal(back.train_mask, data.train_mask)
    assert torch.equal(back.edge_index, data.edge_index)
    assert "y" not in graph.bare().node_data.get("node", {})


def test_data_whose_edges_lack_their_mirrors_are_directed():
    assert Graph.from_pyg(Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)).directed
    assert not Graph.from_pyg(Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=3)).directed


def test_hetero_data_keeps_types_relations_x_y_and_masks():
    data = HeteroData()
    data["user"].x = torch.eye(2)
    data["user"].y = torch.tensor([1, 0])
    data["item"].num_nodes = 3
    data["user", "buys", "item"].edge_index = torch.tensor([[0, 1], [2, 0]])
    data["user", "buys", "item"].edge_weight = torch.tensor([1.0, 4.0])
    graph = Graph.from_pyg(data)
    assert graph.node_types == ("user", "item")
    back = graph.to_pyg()
    assert torch.equal(back["user"].x, data["user"].x)
    assert torch.equal(back["user"].y, data["user"].y)
    assert back["item"].num_nodes == 3
    assert torch.equal(back["user", "buys", "item"].edge_weight, data["user", "buys", "item"].edge_weight)


def test_ids_are_kept_unless_they_are_the_positions():
    assert "id" not in Graph.from_edges([(0, 1), (1, 2)]).to_pyg()
    for nodes in ([1, 2, 3], [0, 2, 1], [0, 1, 3], ["a", "b", "c"]):
        data = Graph.from_edges([(nodes[0], nodes[1])], nodes=nodes).to_pyg()
        assert list(data.id) == nodes


def test_sparse_features_and_edges_may_be_of_any_layout():
    x = torch.tensor([[0.0, 1.0], [2.0, 0.0], [0.0, 0.0]])
    for sparse in (x.to_sparse_coo(), x.to_sparse_csr(), x.to_sparse_csc()):
        features = Graph.from_pyg(Data(x=sparse, edge_index=torch.tensor([[0, 1], [1, 0]]))).features["node"]
        assert sp.issparse(features)
        np.testing.assert_array_equal(features.toarray(), x)


def test_what_is_no_pyg_data_is_refused():
    with pytest.raises(InputError, match="from_pyg takes"):
        Graph.from_pyg([1])
    with pytest.raises(InputError, match="points outside the 2 nodes"):
        Graph.from_pyg(Data(edge_index=torch.tensor([[0], [5]]), num_nodes=2))


def test_edge_attributes_that_are_not_read_are_named():
    edges = torch.tensor([[0, 1, 2], [1, 2, 0]])
    data = Data(x=torch.ones(3, 2), edge_index=edges, edge_attr=torch.ones(3, 4), y=torch.tensor([0, 1, 0]))
    with pytest.warns(UserWarning, match="from_pyg leaves out the edge attribute 'edge_attr'"):
        graph = Graph.from_pyg(data)
    assert graph.node_data["node"]["y"].tolist() == [0, 1, 0], "as many nodes as edges: y is the nodes'"
    typed = HeteroData()
    typed["a"].num_nodes = typed["b"].num_nodes = 2
    typed["a", "to", "b"].edge_index = torch.tensor([[0, 1, 1], [1, 0, 1]])
    typed["a", "to", "b"].time = torch.arange(3)
    with pytest.warns(UserWarning, match="from_pyg leaves out the edge attribute 'time'"):
        Graph.from_pyg(typed)


def test_a_relation_of_one_edge_has_attributes_and_one_without_edges_has_none():
    data = HeteroData()
    data["a"].num_nodes = data["b"].num_nodes = 2
    data["a", "to", "b"].edge_index = torch.tensor([[0], [1]])
    data["a", "to", "b"].time = torch.arange(1)
    with pytest.warns(UserWarning, match="from_pyg leaves out the edge attribute 'time'"):
        Graph.from_pyg(data)
    data["a", "to", "b"].edge_index, data["a", "to", "b"].time = torch.empty(2, 0, dtype=torch.long), torch.arange(0)
    Graph.from_pyg(data)
