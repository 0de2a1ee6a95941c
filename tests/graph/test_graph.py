"""Graph: the ids it keeps, what cannot be changed, what it says of its size, types and relations that do not exist."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from pine import Graph
from pine.errors import InputError

PAIRS = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]
LIBRARY = {
    ("author", "writes", "paper"): [("ann", 1), ("bob", 1), ("bob", 2)],
    ("paper", "cites", "paper"): [(1, 2), (2, 3)],
}


def test_a_graph_keeps_the_users_ids_in_order_of_first_appearance():
    graph = Graph.from_edges(PAIRS)
    assert graph.ids().tolist() == ["a", "b", "c", "d"]
    assert graph.neighbors("c") == {"node": ["a", "b", "d"]}


def test_the_size_of_a_graph_is_that_of_its_ids_and_its_matrices():
    graph = Graph.from_relations(LIBRARY)
    matrices = sum(graph.matrix(relation).nbytes for relation in graph.relations)
    assert graph.nbytes == matrices + sum(graph.nodes.of(type).nbytes for type in graph.node_types) > matrices


def test_directed_edges_go_one_way():
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 1)], directed=True)
    assert graph.num_edges == 3
    assert graph.neighbors(1) == {"node": [2]}
    assert graph.neighbors(1, direction="in") == {"node": [0, 2]}
    assert graph.neighbors(1, direction="both") == {"node": [0, 2, 2]}
    assert graph.neighbors(1, direction="split") == {"node:out": [2], "node:in": [0, 2]}


def test_a_graph_of_isolated_nodes_only_is_ordinary():
    graph = Graph.from_edges(np.empty((0, 2), np.int64), nodes=[5, 6])
    assert (graph.num_nodes, graph.num_edges) == (2, 0)
    assert graph.adjacency().nnz == 0


def test_nothing_about_a_graph_can_be_changed():
    features = np.ones((4, 2), np.float32)
    nodes = np.arange(4)
    edges, data = {("node", "to", "node"): np.array([[0, 1], [2, 3]])}, {"node": {"year": np.arange(4)}}
    weights = {("node", "to", "node"): [1.0, 2.0]}
    graph = Graph.from_relations(
        edges, nodes={"node": nodes}, features={"node": features}, weights=weights, node_data=data
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.directed = True  # type: ignore[misc]
    with pytest.raises(TypeError):
        graph.features["node"] = features  # type: ignore[index]
    matrix = graph.adjacency()
    arrays: tuple[Any, ...] = (matrix.indptr, matrix.indices, matrix.weights, graph.ids(), graph.features["node"])
    for array in (*arrays, graph.node_data["node"]["year"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    features[0] = nodes[0] = 7  # the user's own arrays stay the user's
    assert graph.features["node"][0, 0] == 1
    assert graph.ids()[0] == 0


def test_the_repr_says_how_large_a_graph_is():
    assert repr(Graph.from_edges(PAIRS)) == "Graph(4 nodes, 4 edges)"
    assert repr(Graph.from_relations(LIBRARY, directed=True)) == (
        "Graph(2 author, 3 paper; directed edges: 3 author-writes-paper, 2 paper-cites-paper)"
    )


def test_features_of_one_type_are_an_array_and_those_of_several_are_told_apart():
    plain = Graph.from_edges([(0, 1), (1, 2)])
    assert plain.with_features(np.ones((3, 2))).features["node"].shape == (3, 2)
    typed = Graph.from_relations({("a", "to", "b"): [(0, 1)]})
    with pytest.raises(InputError, match=r"features must be {type: array}"):
        typed.with_features(np.ones((2, 2)))


def test_types_and_relations_that_do_not_exist_are_refused():
    graph = Graph.from_relations({("author", "writes", "paper"): [("ann", 1)]})
    with pytest.raises(InputError, match="node type 'venue' does not exist; there are 'author', 'paper'"):
        graph.ids("venue")
    with pytest.raises(InputError, match=r"relation \('a', 'b', 'c'\) does not exist"):
        graph.matrix(("a", "b", "c"))
    with pytest.raises(InputError, match="there are the node types 'author', 'paper'; say which"):
        graph.ids()
    with pytest.raises(InputError, match="node type 'venue' does not exist"):
        Graph.from_relations({("a", "r", "a"): [(0, 1)]}, features={"venue": [[1]]})
    with pytest.raises(InputError, match="weights for relation"):
        Graph.from_relations({("a", "r", "a"): [(0, 1)]}, weights={("a", "s", "a"): [1]})
    with pytest.raises(InputError, match="a relation is a tuple of strings"):
        Graph.from_relations({"a-r-a": [(0, 1)]})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="there are no nodes 'bob' of one type here"):
        graph.neighbors("bob")
    with pytest.raises(InputError, match="there is no node 'bob' of type 'author'"):
        graph.nodes.find(["ann", "bob"], "author")
