"""Graph: what it holds, what its defaults do, and which neighbors it answers."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from pine import Graph
from pine.errors import InputError
from pine.graph.csr import build_csr

PAIRS = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]
LIBRARY = {
    ("author", "writes", "paper"): [("ann", 1), ("bob", 1), ("bob", 2)],
    ("paper", "cites", "paper"): [(1, 2), (2, 3)],
}


def test_a_graph_keeps_the_users_ids_in_order_of_first_appearance():
    graph = Graph.from_edges(PAIRS)
    assert graph.ids().tolist() == ["a", "b", "c", "d"]
    assert graph.neighbors("c") == {"node": ["a", "b", "d"]}


def test_integer_ids_are_numbered_in_ascending_order_so_that_0_to_n_are_their_own_positions():
    graph = Graph.from_edges(np.array([[3, 1], [0, 2], [2, 3]]))
    assert graph.ids().tolist() == [0, 1, 2, 3]
    assert Graph.from_edges([(70, 5), (5, -2)]).ids().tolist() == [-2, 5, 70]


def test_scattered_integer_ids_are_numbered_in_ascending_order_too():
    ids = np.array([2**62, -(2**61), 7, 10**15])
    graph = Graph.from_edges(np.array([[ids[0], ids[1]], [ids[2], ids[3]], [ids[1], ids[3]]]))
    assert graph.ids().tolist() == sorted(ids.tolist())
    assert graph.neighbors(10**15) == {"node": [-(2**61), 7]}


def test_any_hashable_can_be_an_id():
    graph = Graph.from_edges([((1, 2), "x"), ("x", 3), (3, frozenset({4}))])
    assert graph.ids().tolist() == [(1, 2), "x", 3, frozenset({4})]
    assert graph.neighbors("x") == {"node": [(1, 2), 3]}


def test_the_integer_1_and_the_text_1_are_two_nodes():
    graph = Graph.from_edges([(1, "1"), ("1", 2)])
    assert graph.num_nodes == 3
    assert graph.neighbors("1") == {"node": [1, 2]}


def test_by_default_edges_are_undirected_without_loops_and_without_duplicates():
    graph = Graph.from_edges([(0, 1), (1, 0), (0, 1), (1, 1), (1, 2)])
    assert graph.num_edges == 2
    assert graph.neighbors(1) == {"node": [0, 2]}


def test_self_loops_are_kept_when_asked_for_and_count_once():
    graph = Graph.from_edges([(0, 1), (1, 1)], self_loops="keep")
    assert graph.num_edges == 2
    assert graph.neighbors(1) == {"node": [0, 1]}


def test_a_node_whose_only_edge_is_a_dropped_loop_stays_as_an_isolated_node():
    graph = Graph.from_edges([(0, 1), (2, 2)])
    assert graph.num_nodes == 3
    assert graph.neighbors(2) == {"node": []}


@pytest.mark.parametrize(
    ("duplicates", "edges", "weights"), [("merge", 1, [5.0]), ("sum", 1, [8.0]), ("keep", 3, [1.0, 5.0, 2.0])]
)
def test_duplicates_merge_to_the_largest_weight_or_add_up_or_stay(duplicates, edges, weights):
    graph = Graph.from_edges([(0, 1), (1, 0), (0, 1)], weights=[1, 5, 2], duplicates=duplicates)
    assert graph.num_edges == edges
    assert graph.adjacency().weights.tolist() == weights * 2


def test_summing_duplicates_of_unweighted_edges_counts_them():
    graph = Graph.from_edges([(0, 1), (1, 0), (1, 2)], duplicates="sum")
    assert graph.adjacency().weights.tolist() == [2, 2, 1, 1]


def test_a_closed_list_of_nodes_gives_the_order_and_the_isolated_nodes():
    graph = Graph.from_edges(PAIRS, nodes=["z", "d", "c", "b", "a"])
    assert graph.ids().tolist() == ["z", "d", "c", "b", "a"]
    assert graph.neighbors("z") == {"node": []}
    assert graph.adjacency().degrees().tolist() == [0, 1, 3, 2, 2]


@pytest.mark.parametrize(
    "nodes", [[3, 1, 2, 0], [10**17, -5, 0, 1], ["a", "b", "c", "d"], [(1,), "b", 3, None.__class__]]
)
def test_closed_lists_of_every_kind_of_id_find_their_nodes(nodes):
    edges = [(nodes[0], nodes[1]), (nodes[2], nodes[0])]
    graph = Graph.from_edges(edges, nodes=nodes)
    assert graph.ids().tolist() == nodes
    assert graph.adjacency().row(0).tolist() == [1, 2]


def test_directed_edges_go_one_way():
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 1)], directed=True)
    assert graph.num_edges == 3
    assert graph.neighbors(1) == {"node": [2]}
    assert graph.neighbors(1, direction="in") == {"node": [0, 2]}
    assert graph.neighbors(1, direction="both") == {"node": [0, 2, 2]}
    assert graph.neighbors(1, direction="split") == {"node:out": [2], "node:in": [0, 2]}


def test_a_typed_graph_has_one_group_per_neighbor_type():
    graph = Graph.from_relations(LIBRARY)
    assert [group.name for group in graph.groups()] == ["author", "paper"]
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
    assert group.matrix.weights.tolist() == [1.0, 3.0, 2.0]


def test_the_same_id_may_occur_in_two_types_and_then_the_type_must_be_said():
    graph = Graph.from_relations({("a", "r", "b"): [(1, 1), (1, 2)]})
    assert graph.neighbors(1, type="b") == {"a": [1], "b": []}
    with pytest.raises(InputError, match="1: found in the types 'a', 'b'; say which"):
        graph.neighbors(1)


def test_a_graph_of_isolated_nodes_only_is_ordinary():
    graph = Graph.from_edges(np.empty((0, 2), np.int64), nodes=[5, 6])
    assert (graph.num_nodes, graph.num_edges) == (2, 0)
    assert graph.adjacency().nnz == 0


def test_indices_are_32_bit_where_they_fit():
    graph = Graph.from_relations(LIBRARY)
    assert all(group.matrix.indices.dtype == np.int32 for group in graph.groups())
    assert graph.matrix(graph.relations[0]).indices.dtype == np.int32


def test_nothing_about_a_graph_can_be_changed():
    features = np.ones((4, 2), np.float32)
    nodes = np.arange(4)
    graph = Graph.from_edges(np.array([[0, 1], [2, 3]]), nodes=nodes, features=features, weights=[1.0, 2.0])
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.directed = True
    with pytest.raises(TypeError):
        graph.features["node"] = features
    matrix = graph.adjacency()
    for array in (matrix.indptr, matrix.indices, matrix.weights, graph.ids(), graph.features["node"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    features[0] = nodes[0] = 7  # the user's own arrays stay the user's
    assert graph.features["node"][0, 0] == 1
    assert graph.ids()[0] == 0


def test_features_may_be_dense_or_sparse_and_become_float32():
    edges = np.array([[0, 1]])
    assert Graph.from_edges(edges, features=[[1], [2]]).features["node"].dtype == np.float32
    sparse = Graph.from_edges(edges, features=sp.csr_matrix([[0, 1], [2, 0]])).features["node"]
    assert sp.issparse(sparse)
    assert sparse.dtype == np.float32


def test_the_repr_says_how_large_a_graph_is():
    assert repr(Graph.from_edges(PAIRS)) == "Graph(4 nodes, 4 edges)"
    assert repr(Graph.from_relations(LIBRARY, directed=True)) == (
        "Graph(2 author, 3 paper; directed edges: 3 author-writes-paper, 2 paper-cites-paper)"
    )


@settings(max_examples=60, deadline=None)
@given(
    edges=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=120),
    directed=st.booleans(),
    loops=st.sampled_from(["drop", "keep"]),
    duplicates=st.sampled_from(["merge", "sum", "keep"]),
    weighted=st.booleans(),
)
def test_rows_equal_what_a_plain_count_gives(edges, directed, loops, duplicates, weighted):
    weights = [float(i % 5) for i in range(len(edges))] if weighted else None
    graph = Graph.from_edges(
        edges, nodes=range(13), weights=weights, directed=directed, self_loops=loops, duplicates=duplicates
    )
    expected: dict[tuple[int, int], list[float]] = {}
    for i, (source, target) in enumerate(edges):
        if source == target and loops == "drop":
            continue
        for pair in {(source, target)} if directed else {(source, target), (target, source)}:
            expected.setdefault(pair, []).append(weights[i] if weighted else 1.0)
    fold = {"merge": lambda w: [max(w)], "sum": lambda w: [sum(w)], "keep": lambda w: w}[duplicates]
    rows = {pair: sorted(fold(given)) for pair, given in expected.items()}
    matrix = graph.adjacency()
    found: dict[tuple[int, int], list[float]] = {}
    values = np.ones(matrix.nnz) if matrix.weights is None else matrix.weights
    for pair, value in zip(zip(matrix.rows().tolist(), matrix.indices.tolist(), strict=True), values, strict=True):
        found.setdefault(pair, []).append(float(value))
    assert {pair: sorted(given) for pair, given in found.items()} == rows
    assert all((np.diff(matrix.row(i)) >= 0).all() for i in range(13))
    assert (matrix.weights is None) == (not weighted and duplicates != "sum")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), min_size=1, max_size=200))
def test_text_ids_are_numbered_as_a_dictionary_would(pairs):
    graph = Graph.from_edges(pairs, self_loops="keep")
    assert graph.ids().tolist() == list(dict.fromkeys(end for pair in pairs for end in pair))


def test_high_degree_rows_are_sorted_with_their_weights():
    targets = np.random.default_rng(0).permutation(np.arange(1, 200))
    edges = np.column_stack([np.zeros(199, np.int64), targets])
    graph = Graph.from_edges(edges, weights=targets.astype(float), directed=True)
    assert graph.adjacency().row(0).tolist() == list(range(1, 200))
    assert graph.adjacency().weights[:199].tolist() == [float(i) for i in range(1, 200)]


def test_strings_whose_hashes_are_alike_stay_apart(monkeypatch):
    import pine.graph.ids.hash_table as intern

    monkeypatch.setattr(intern, "_hash", lambda data, offsets, hashes: hashes.fill(7))
    pairs = [(f"v{i}", f"v{(3 * i) % 50}") for i in range(50)]
    assert Graph.from_edges(pairs).ids().tolist() == list(dict.fromkeys(end for pair in pairs for end in pair))


def test_features_of_one_type_are_an_array_and_those_of_several_are_told_apart():
    plain = Graph.from_edges([(0, 1), (1, 2)])
    assert plain.with_features(np.ones((3, 2))).features["node"].shape == (3, 2)
    typed = Graph.from_relations({("a", "to", "b"): [(0, 1)]})
    with pytest.raises(InputError, match=r"features must be {type: array}"):
        typed.with_features(np.ones((2, 2)))


@pytest.mark.parametrize("weighted", [False, True])
def test_some_rows_and_some_columns_of_a_matrix_are_those_of_scipy(weighted):
    rng = np.random.default_rng(0)
    row, column = rng.integers(9, size=30), rng.integers(3, 7, size=30)
    csr = build_csr(row, column, rng.random(30).astype(np.float32) if weighted else None, (9, 10))
    whole = csr.to_scipy().toarray()
    for rows in (slice(0, 9), slice(2, 5), slice(4, 4), slice(8, 9)):
        np.testing.assert_array_equal(csr.some_rows(rows).to_scipy().toarray(), whole[rows])
    for columns in (slice(0, 10), slice(3, 7), slice(2, 9)):
        np.testing.assert_array_equal(csr.some_columns(columns).to_scipy().toarray(), whole[:, columns])
