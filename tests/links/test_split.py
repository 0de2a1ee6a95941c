"""Held-out edges leave the training graph, negatives are no edges, and the same seed gives the same split."""

from __future__ import annotations

import numpy as np
import pytest
from support.graphs import random_graph
from support.links import WRITES, graph_of_types

from pine import Graph, InputError
from pine.links import LinkSplit, hold_out, hold_out_latest
from pine.links.pairs import codes, draw_non_edges, edge_pairs
from pine.links.split import earliest_times


def coded(graph: Graph, pairs: np.ndarray) -> set[int]:
    return set(codes(pairs, graph.num_nodes).tolist())


def parts(split: LinkSplit) -> list[np.ndarray]:
    return [split.train, split.valid, split.test, split.valid_negatives, split.test_negatives]


@pytest.mark.parametrize("relation", [None, WRITES, ("paper", "cites", "paper")])
@pytest.mark.parametrize("directed", [False, True])
def test_parts_are_disjoint_and_no_held_out_edge_is_in_the_training_graph(relation, directed):
    graph = random_graph(60, 4, directed=directed) if relation is None else graph_of_types()
    split = hold_out(graph, 3, relation=relation)
    edges = coded(graph, edge_pairs(graph, split.relation))
    found = [coded(graph, part) for part in parts(split)]
    assert sum(map(len, found)) == len(set.union(*found))
    assert set.union(*found[:3]) == edges
    assert not edges & (found[3] | found[4])
    assert coded(graph, edge_pairs(split.graph, split.relation)) == found[0]
    assert len(split.test) == len(split.test_negatives) == round(0.1 * len(edges))
    assert split.graph.nodes.equals(graph.nodes)
    assert split.graph.directed == graph.directed


def test_pairs_of_a_relation_are_of_its_types_source_first():
    graph = graph_of_types()
    split = hold_out(graph, 0, relation=WRITES)
    author, paper = graph.nodes.slice("author"), graph.nodes.slice("paper")
    for part in parts(split):
        assert ((part[:, 0] >= author.start) & (part[:, 0] < author.stop)).all()
        assert ((part[:, 1] >= paper.start) & (part[:, 1] < paper.stop)).all()
    assert split.graph.edge_count(("paper", "cites", "paper")) == graph.edge_count(("paper", "cites", "paper"))


def test_rivals_have_no_edge_to_the_end_that_is_kept():
    graph = random_graph(60, 4)
    split = hold_out(graph, 1, rivals=20)
    pairs = np.column_stack([np.repeat(split.ranked, 20), split.rivals.ravel()])
    assert (pairs[:, 0] != pairs[:, 1]).all()
    assert not coded(graph, pairs) & coded(graph, edge_pairs(graph, split.relation))
    assert all(kept in pair for kept, pair in zip(split.ranked, split.test, strict=True))


def test_the_same_seed_gives_the_same_bits_and_another_seed_another_split():
    graph = random_graph(60, 4)
    one, two, other = hold_out(graph, 1), hold_out(graph, 1), hold_out(graph, 2)
    for first, second in zip([*parts(one), one.rivals], [*parts(two), two.rivals], strict=True):
        np.testing.assert_array_equal(first, second)
    assert coded(graph, one.test) != coded(graph, other.test)


def test_weights_stay_with_their_edges():
    graph = random_graph(60, 4, weighted=True)
    split = hold_out(graph, 1)
    whole, left = graph.links().to_scipy().todense(), split.graph.links().to_scipy().todense()
    assert (left[left > 0] == whole[left > 0]).all()


def test_the_latest_edges_are_held_out_by_the_time_they_first_came():
    graph = Graph.from_edges([(i, i + 1) for i in range(40)])
    rows = np.array([(i, i + 1) for i in range(40)] + [(1, 0)])
    times = earliest_times(graph, graph.relations[0], rows, np.append(np.arange(40.0), 99.0))
    split = hold_out_latest(graph, times, test=0.1, valid=0.05)
    assert split.test[:, 0].tolist() == [36, 37, 38, 39]
    assert split.valid[:, 0].tolist() == [34, 35]
    assert coded(graph, edge_pairs(split.graph, split.relation)) == coded(graph, split.train)


def test_negatives_are_drawn_alike_where_pairs_are_listed_and_where_they_are_not(monkeypatch):
    graph = random_graph(12, 2)
    relation = graph.relations[0]
    edges = edge_pairs(graph, relation)
    free = 12 * 11 // 2 - len(edges)
    listed = draw_non_edges(graph, relation, edges, free, np.random.default_rng(0))
    monkeypatch.setattr("pine.links.pairs.MOST_LISTED", 0)
    drawn = draw_non_edges(graph, relation, edges, free, np.random.default_rng(0))
    assert coded(graph, listed) == coded(graph, drawn)
    assert len(coded(graph, drawn)) == free


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": 0}, "leaves none to test"),
        ({"test": 0.9, "valid": 0.2}, "leaves none"),
        ({"test": "a"}, "test must be a share"),
        ({"relation": ("a", "b", "c")}, "does not exist"),
    ],
)
def test_what_cannot_be_split_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        hold_out(random_graph(), 0, **options)


def test_a_complete_graph_has_no_pairs_without_an_edge():
    edges = [(i, j) for i in range(6) for j in range(i)]
    with pytest.raises(InputError, match="pairs without an edge are needed"):
        hold_out(Graph.from_edges(edges), 0, test=0.3)


def test_times_must_be_one_number_for_each_edge():
    with pytest.raises(InputError, match="one number for each of"):
        hold_out_latest(random_graph(), [1.0])
    with pytest.raises(InputError, match="say which: relation"):
        hold_out(graph_of_types(), 0)
