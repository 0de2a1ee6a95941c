"""What becomes of self-loops, duplicates, closed lists of nodes and features when a graph is built."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from support.graphs import weights_of

from pine import Graph
from pine.errors import InputError
from pine.graph.build import _joined

PAIRS = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]


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
    assert weights_of(graph.adjacency()) == weights * 2


def test_summing_duplicates_of_unweighted_edges_counts_them():
    graph = Graph.from_edges([(0, 1), (1, 0), (1, 2)], duplicates="sum")
    assert weights_of(graph.adjacency()) == [2, 2, 1, 1]


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


def test_features_may_be_dense_or_sparse_and_become_float32():
    edges = np.array([[0, 1]])
    assert Graph.from_edges(edges, features=[[1], [2]]).features["node"].dtype == np.float32
    sparse = Graph.from_edges(edges, features=sp.csr_matrix([[0, 1], [2, 0]])).features["node"]
    assert sp.issparse(sparse)
    assert sparse.dtype == np.float32


def test_an_edge_to_a_node_outside_a_closed_list_is_refused_with_its_line(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\na,b\nb,z\n")
    with pytest.raises(InputError, match=r"e\.csv, line 3: 'z' is not among the given nodes of type 'node'"):
        Graph.from_edges(tmp_path / "e.csv", nodes=["a", "b"])
    with pytest.raises(InputError, match=r"edges, row 0: 9 is not among the given nodes of type 'paper'"):
        Graph.from_relations({("author", "writes", "paper"): [("ann", 9)]}, nodes={"paper": [1, 2]})
    with pytest.raises(InputError, match=r"row 0: 'a' is not among"):
        Graph.from_edges([("a", "b")], nodes=[1, 2])


@pytest.mark.parametrize("nodes", [[1, 2, 1], ["a", "b", "a"], [(1,), "x", (1,)]])
def test_duplicate_ids_are_refused(nodes):
    with pytest.raises(InputError, match=r"stands at positions 0 and 2"):
        Graph.from_edges(np.empty((0, 2), int), nodes=nodes)


@pytest.mark.parametrize("count", range(4))
def test_parts_are_joined_to_what_they_hold_and_freed(count):
    parts: list[Any] = [np.arange(k + 1, dtype=np.int32) for k in range(4)]
    assert _joined(parts, range(count)).tolist() == [i for k in range(count) for i in range(k + 1)]
    assert [part is None for part in parts] == [k < count for k in range(4)]


def test_options_that_do_not_exist_are_refused_with_those_that_do():
    with pytest.raises(InputError, match="duplicates must be one of 'merge', 'sum', 'keep', got 'add'"):
        Graph.from_edges([(0, 1)], duplicates="add")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="self_loops must be one of"):
        Graph.from_edges([(0, 1)], self_loops=True)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="direction='in' is for directed graphs"):
        Graph.from_edges([(0, 1)]).groups(direction="in")
    with pytest.raises(InputError, match="by must be one of"):
        Graph.from_edges([(0, 1)]).groups(by="color")  # type: ignore[arg-type]
