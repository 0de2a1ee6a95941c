"""Walks along metapaths visit the types that the metapath names, and end where it cannot be followed."""

from __future__ import annotations

import numpy as np
import pytest

from pine import Graph
from pine.graph.sampling.metapath_walks import MetapathWalker
from pine.graph.sampling.walks import Walker

AUTHOR, PAPER, VENUE = range(3)


def library(seed: int = 0, weighted: bool = False) -> Graph:
    """30 authors, 40 papers and 5 venues; the last author wrote nothing, the last paper came out nowhere."""
    rng = np.random.default_rng(seed)
    edges = {
        ("author", "writes", "paper"): np.stack([rng.integers(0, 29, 90), rng.integers(0, 40, 90)], axis=1),
        ("paper", "in", "venue"): np.stack([np.arange(39), rng.integers(0, 5, 39)], axis=1),
        ("paper", "cites", "paper"): rng.integers(0, 39, (60, 2)),
    }
    nodes = {"author": range(30), "paper": range(40), "venue": range(5)}
    weights = {relation: rng.uniform(0.5, 2, len(pairs)) for relation, pairs in edges.items()} if weighted else None
    return Graph.from_relations(edges, nodes=nodes, weights=weights)


def bounds_of(graph: Graph) -> np.ndarray:
    return np.cumsum([0, *(graph.count(type) for type in graph.node_types)])


def walked(graph: Graph, cycles: list[list[int]], length: int = 12, rounds: int = 20, key: int = 1, threads=None):
    walker = MetapathWalker.of(graph.links(), bounds_of(graph), cycles)
    starts = np.tile(np.arange(graph.num_nodes), rounds)
    return walker.walks(starts, length, key, threads)


def types_of(graph: Graph, walks: np.ndarray) -> np.ndarray:
    """The type of every node of some walks, -1 after an end."""
    return np.where(walks < 0, -1, np.searchsorted(bounds_of(graph)[1:], walks, side="right"))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "cycle", [[AUTHOR, PAPER], [PAPER, AUTHOR], [AUTHOR, PAPER, VENUE, PAPER], [PAPER], [PAPER, PAPER, AUTHOR]]
)
def test_walks_obey_the_metapath_from_wherever_their_start_stands_in_it(cycle, weighted):
    graph = library(weighted=weighted)
    walks = walked(graph, [cycle])
    rotations = {tuple(np.resize(np.roll(cycle, -turn), walks.shape[1])) for turn in range(len(cycle))}
    linked = graph.links().to_scipy().toarray() > 0
    lengths = []
    for walk, types in zip(walks, types_of(graph, walks), strict=True):
        length = int((walk >= 0).sum())
        assert (walk[length:] == -1).all(), "nothing comes after an end"
        assert linked[walk[: length - 1], walk[1:length]].all()
        if types[0] not in cycle:
            assert length == 1
            continue
        fits = [turn for turn in rotations if turn[:length] == tuple(types[:length])]
        assert fits
        if length < len(walk):  # ended because the next type has no neighbor there
            of_type = np.flatnonzero(linked[walk[length - 1]])
            there = set(types_of(graph, of_type).tolist())
            assert any(turn[length] not in there for turn in fits)
        lengths.append(length)
    assert max(lengths) == walks.shape[1]


def test_neighbors_of_the_wanted_type_are_visited_in_proportion_to_the_weights():
    relations = {("a", "x", "b"): [(0, 0), (0, 1), (0, 2)], ("a", "y", "c"): [(0, 0), (0, 1)]}
    weights = {("a", "x", "b"): [1.0, 2.0, 3.0], ("a", "y", "c"): [100.0, 200.0]}
    graph = Graph.from_relations(relations, weights=weights)
    walker = MetapathWalker.of(graph.links(), bounds_of(graph), [[0, 1]])
    second = walker.walks(np.zeros(20_000, int), 2, key=5)[:, 1]
    expected = 20_000 * np.array([1, 2, 3]) / 6
    counts = np.bincount(second, minlength=6)
    assert counts[4:].sum() == 0
    assert ((counts[1:4] - expected) ** 2 / expected).sum() < 13.8  # 2 degrees of freedom, 1 in 1,000


def test_metapaths_get_equal_shares_of_a_nodes_walks_whatever_their_length():
    # Papers stand once in the first cycle, twice in the second and once in the third.
    graph = library()
    walks = walked(graph, [[AUTHOR, PAPER], [PAPER, VENUE, PAPER, AUTHOR], [PAPER]], length=3, rounds=3000)
    types = types_of(graph, walks)
    cited = np.flatnonzero((types[:, 0] == PAPER) & (np.diff(graph.links().indptr)[walks[:, 0]] > 6))
    assert len(cited) > 1000
    second = np.bincount(types[cited, 1][types[cited, 1] >= 0], minlength=3) / len(cited)
    # toward authors: all of the first and half of the second; venues: the other half; papers: the third.
    np.testing.assert_allclose(second, [1 / 2, 1 / 3, 1 / 6], atol=0.02)


def test_with_one_type_they_are_first_order_walks_number_for_number():
    edges = [(i, (i + 1) % 40) for i in range(40)] + [(i, (7 * i + 3) % 40) for i in range(40)]
    graph = Graph.from_edges(edges)
    np.testing.assert_array_equal(
        walked(graph, [[0]], length=30, key=2),
        Walker.of(graph.links()).walks(np.tile(np.arange(40), 20), 30, key=2),
    )


def test_without_a_metapath_every_walk_is_its_start():
    graph = library()
    walks = walked(graph, [], length=4, rounds=1)
    np.testing.assert_array_equal(walks[:, 0], np.arange(75))
    assert (walks[:, 1:] == -1).all()


def test_a_type_without_nodes_is_no_trouble():
    graph = Graph.from_relations(
        {("a", "to", "c"): [(0, 0), (1, 0)]}, nodes={"empty": [], "a": [0, 1], "none": [], "c": [0]}
    )
    walks = walked(graph, [[1, 3], [1, 2]], length=5)
    assert set(walks[walks[:, 0] == 2][:, 1].tolist()) == {0, 1}
    assert set(walks[:, 0].tolist()) == {0, 1, 2}


@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_key_gives_the_same_walks_for_any_number_of_threads(weighted):
    graph = library(weighted=weighted)
    cycles = [[AUTHOR, PAPER], [PAPER, VENUE], [PAPER]]
    one = walked(graph, cycles, rounds=60, threads=1)
    for threads in (2, 3):
        np.testing.assert_array_equal(walked(graph, cycles, rounds=60, threads=threads), one)
    assert (walked(graph, cycles, rounds=60, key=2) != one).mean() > 0.3
