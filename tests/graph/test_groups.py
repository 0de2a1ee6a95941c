"""Groups of neighbors: by type, by relation and side, or all in one."""

from __future__ import annotations

import numpy as np
from support.graphs import weights_of

from pine import Graph

LIBRARY = {
    ("author", "writes", "paper"): [("ann", 1), ("bob", 1), ("bob", 2)],
    ("paper", "cites", "paper"): [(1, 2), (2, 3)],
}


def test_a_typed_graph_has_one_group_per_neighbor_type():
    graph = Graph.from_relations(LIBRARY)
    assert [(group.name, group.type) for group in graph.groups()] == [("author", "author"), ("paper", "paper")]
    assert graph.neighbors("bob") == {"author": [], "paper": [1, 2]}
    assert graph.neighbors(2) == {"author": ["bob"], "paper": [1, 3]}


def test_groups_by_relation_tell_the_two_sides_of_a_relation_apart():
    graph = Graph.from_relations(LIBRARY)
    names = ["author-writes-paper", "author-writes-paper:in", "paper-cites-paper"]
    assert [group.name for group in graph.groups("relation")] == names
    assert [group.type for group in graph.groups("relation")] == ["paper", "author", "paper"]
    assert graph.neighbors(2, by="relation") == dict(zip(names, [[], ["bob"], [1, 3]], strict=True))


def test_the_untyped_view_has_one_group_of_all_neighbors():
    graph = Graph.from_relations(LIBRARY)
    (group,) = graph.groups("all")
    assert graph.neighbors(2, by="all") == {"all": ["bob", 1, 3]}
    dense = graph.adjacency().to_scipy().toarray()
    np.testing.assert_array_equal(dense, dense.T)
    assert group.matrix.nnz == 2 * graph.num_edges


def test_relations_of_a_directed_typed_graph_go_one_way():
    graph = Graph.from_relations(LIBRARY, directed=True)
    assert graph.neighbors(2) == {"author": [], "paper": [3]}
    split = [(group.name, group.type) for group in graph.groups(direction="split")]
    assert split == [(f"{type}:{side}", type) for type in ("author", "paper") for side in ("out", "in")]
    assert graph.neighbors(2, direction="split", by="relation") == {
        "author-writes-paper:out": [],
        "author-writes-paper:in": ["bob"],
        "paper-cites-paper:out": [3],
        "paper-cites-paper:in": [1],
    }


def test_two_relations_between_the_same_types_are_one_group_by_type():
    relations = {("user", "likes", "item"): [("u", "i")], ("user", "buys", "item"): [("u", "j"), ("u", "i")]}
    graph = Graph.from_relations(relations, weights={("user", "buys", "item"): [2.0, 3.0]})
    group = graph.groups()[1]
    assert [graph.nodes.id_at(i) for i in group.matrix.row(0)] == ["i", "i", "j"]
    assert weights_of(group.matrix) == [1.0, 3.0, 2.0]
