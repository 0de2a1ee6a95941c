"""To other libraries and back: ids, types, weights and features stay what they were."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data, HeteroData

from pine import Graph
from pine.errors import InputError


def same(one: Graph, other: Graph) -> bool:
    """Whether two graphs are equal in everything they hold."""

    def arrays(values):
        return values.toarray() if sp.issparse(values) else np.asarray(values)

    def equal(left, right):
        return (left is None) == (right is None) and (left is None or np.array_equal(arrays(left), arrays(right)))

    return (
        one.node_types == other.node_types
        and one.relations == other.relations
        and one.directed == other.directed
        and all(one.ids(type).tolist() == other.ids(type).tolist() for type in one.node_types)
        and all(
            equal(getattr(one.matrix(relation), part), getattr(other.matrix(relation), part))
            for relation in one.relations
            for part in ("indptr", "indices", "weights")
        )
        and one.features.keys() == other.features.keys()
        and all(equal(one.features[type], other.features[type]) for type in one.features)
    )


FEATURES = np.arange(8, dtype=np.float32).reshape(4, 2)
PLAIN = {
    "undirected": Graph.from_edges([("a", "b"), ("b", "c")], nodes=["a", "b", "c", "alone"]),
    "directed": Graph.from_edges([(2, 1), (1, 2), (1, 0)], directed=True),
    "weighted": Graph.from_edges(
        [("a", "b"), ("c", "b")], weights=[0.5, 2.0], nodes=["c", "b", "a", "z"], features=FEATURES
    ),
    "loops": Graph.from_edges([(0, 0), (0, 1)], self_loops="keep", weights=[3.0, 1.0]),
    "parallel": Graph.from_edges([(0, 1), (0, 1), (1, 2)], duplicates="keep"),
    "objects": Graph.from_edges([((1, 2), "x"), ("x", 3)]),
}
TYPED = {
    "library": Graph.from_relations(
        {("author", "writes", "paper"): [("ann", 1), ("bob", 2)], ("paper", "cites", "paper"): [(1, 2)]},
        weights={("author", "writes", "paper"): [2.0, 3.0]},
        nodes={"author": ["ann", "bob", "eve"]},
        features={"paper": [[1.0], [2.0]]},
    ),
    "ids in two types": Graph.from_relations({("a", "r", "b"): [(1, 1), (2, 1)]}),
    "directed": Graph.from_relations(
        {("u", "likes", "i"): [("x", "y")], ("u", "buys", "i"): [("x", "y")]}, directed=True
    ),
}
OPTIONS = {"loops": {"self_loops": "keep"}, "parallel": {"duplicates": "keep"}}


@pytest.mark.parametrize("name", [*PLAIN, *(f"typed {name}" for name in TYPED)])
def test_networkx_gives_back_what_it_got(name):
    graph = PLAIN[name] if name in PLAIN else TYPED[name.removeprefix("typed ")]
    assert same(Graph.from_networkx(graph.to_networkx(), **OPTIONS.get(name, {})), graph)


@pytest.mark.parametrize("name", [*PLAIN, *(f"typed {name}" for name in TYPED)])
def test_pyg_gives_back_what_it_got(name):
    graph = PLAIN[name] if name in PLAIN else TYPED[name.removeprefix("typed ")]
    options = OPTIONS.get(name, {}) | ({"directed": graph.directed} if name != "parallel" else {"directed": True})
    back = Graph.from_pyg(graph.to_pyg(), **options)
    if name == "parallel":
        assert back.adjacency().indices.tolist() == graph.adjacency().indices.tolist()
    else:
        assert same(back, graph)


@pytest.mark.parametrize("name", [name for name in PLAIN if name != "parallel"])
def test_scipy_gives_back_what_it_got(name):
    graph = PLAIN[name]
    back = Graph.from_scipy(graph.to_scipy(), ids=graph.ids(), directed=graph.directed, **OPTIONS.get(name, {}))
    assert same(back, graph.with_features({}))


def test_scipy_gives_one_matrix_for_each_relation_of_a_typed_graph():
    graph = TYPED["library"]
    np.testing.assert_array_equal(graph.to_scipy(("author", "writes", "paper")).toarray(), [[2, 0], [0, 3], [0, 0]])
    assert graph.to_scipy().shape == (5, 5)


def test_networkx_graphs_of_every_kind_are_taken():
    assert Graph.from_networkx(nx.path_graph(4)).num_edges == 3
    assert Graph.from_networkx(nx.DiGraph([(0, 1), (1, 0)])).directed
    multi = nx.MultiGraph([(0, 1), (0, 1)])
    assert Graph.from_networkx(multi).num_edges == 2
    assert Graph.from_networkx(multi, duplicates="merge").num_edges == 1
    weighted = nx.Graph()
    weighted.add_edge("a", "b", weight=0.25)
    weighted.add_edge("b", "c")
    assert sorted(Graph.from_networkx(weighted).adjacency().weights.tolist()) == [0.25, 0.25, 1.0, 1.0]
    assert Graph.from_networkx(weighted, weight=None).adjacency().weights is None


def test_a_node_attribute_gives_the_types():
    graph = nx.Graph()
    graph.add_nodes_from(["ann", "bob"], kind="person")
    graph.add_nodes_from(["jazz"], kind="taste")
    graph.add_edges_from([("ann", "jazz"), ("jazz", "bob"), ("ann", "bob")])
    taken = Graph.from_networkx(graph, type="kind")
    assert taken.node_types == ("person", "taste")
    assert taken.relations == (("person", "to", "taste"), ("person", "to", "person"))
    assert taken.neighbors("bob") == {"person": ["ann"], "taste": ["jazz"]}
    graph.add_node("stray")
    with pytest.raises(InputError, match="node 'stray' lacks the attribute 'kind'"):
        Graph.from_networkx(graph, type="kind")


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


def test_things_that_are_no_graph_are_refused():
    with pytest.raises(InputError, match="from_networkx takes a NetworkX graph, got list"):
        Graph.from_networkx([(0, 1)])
    with pytest.raises(InputError, match="from_scipy takes a sparse matrix, got ndarray"):
        Graph.from_scipy(np.eye(2))
    with pytest.raises(InputError, match=r"the matrix must be square.*got shape \(2, 3\)"):
        Graph.from_scipy(sp.csr_array((2, 3)))
    with pytest.raises(InputError, match="the weight is negative"):
        Graph.from_scipy(sp.csr_array([[0, -1], [0, 0]]))
    with pytest.raises(InputError, match="from_pyg takes"):
        Graph.from_pyg([1])
    with pytest.raises(InputError, match="points outside the 2 nodes"):
        Graph.from_pyg(Data(edge_index=torch.tensor([[0], [5]]), num_nodes=2))
