"""Features of links are what their definitions say, own labels apart, and hubs cost no more than their edges."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from support.graphs import random_graph

from pine import Graph
from pine.baselines.link_based.features import label_shares, neighbor_counts, neighbor_sides
from pine.labels import read_labels

RNG = np.random.default_rng(0)
COAUTHOR, USES = ("author", "coauthor", "author"), ("author", "uses", "term")
TYPED = Graph.from_relations(
    {COAUTHOR: RNG.integers(0, 9, (14, 2)), USES: np.column_stack([RNG.integers(0, 9, 20), RNG.integers(0, 5, 20)])},
    nodes={"author": range(10), "term": range(6)},
    weights={COAUTHOR: RNG.integers(1, 4, 14), USES: RNG.integers(1, 4, 20)},
    duplicates="sum",
)


def divided(counts, sizes):
    return counts / np.where(sizes > 0, sizes, 1)[:, None]


def dense_shares(ways, labels, count):
    """The definition: for each node the average of the known labels of the others, weighted by how it is linked."""
    targets, shares = labels.targets(), np.empty((count, labels.num_outputs))
    for node in range(count):
        others = labels.known != node
        weights = ways[node, labels.known[others]]
        total = weights.sum()
        shares[node] = weights @ targets[others] / total if total > 0 else targets.mean(axis=0)
    return shares


def test_counts_are_the_neighbors_of_each_relation_and_the_other_types_of_neighbors_of_the_same():
    blocks = neighbor_counts(neighbor_sides(TYPED, "author"), "author")
    coauthors, terms = (TYPED.to_scipy(each).toarray().astype(float) for each in (COAUTHOR, USES))
    unit = divided(terms, np.linalg.norm(terms, axis=1))
    expected = {
        "coauthors": divided(coauthors, np.linalg.norm(coauthors, axis=1)),
        "terms": unit,
        "coauthors' terms": divided(coauthors, coauthors.sum(axis=1)) @ unit,
    }
    assert len(blocks) == 3
    for block, (name, dense) in zip(blocks, expected.items(), strict=True):
        np.testing.assert_allclose(block.times(np.eye(block.num_columns)), dense, atol=1e-12, err_msg=name)
        np.testing.assert_allclose(block.transposed_times(np.eye(10)), dense.T, atol=1e-12, err_msg=name)
        some = np.array([3, 7])
        np.testing.assert_allclose(block.rows(some).times(np.eye(block.num_columns)), dense[some], atol=1e-12)


OPTIONS = [{}, {"weighted": True}, {"self_loops": "keep"}, {"duplicates": "keep"}, {"directed": True}]


@pytest.mark.parametrize("options", OPTIONS)
def test_shares_are_averages_over_neighbors_and_over_nodes_with_a_neighbor_in_common(options):
    graph = random_graph(**options)
    known = np.where(np.arange(30) % 3 == 2, -1, np.arange(30) % 4)
    labels = read_labels(graph, known)
    dense = graph.to_scipy().toarray().astype(float)
    mean = [divided(each, each.sum(axis=1)) for each in ((dense, dense.T) if graph.directed else (dense,))]
    back = mean[::-1] if graph.directed else mean
    ways = [*mean, *(there @ again for there, again in zip(mean, back, strict=True))]
    expected = np.hstack([dense_shares(each, labels, 30) for each in ways])
    shares = label_shares(neighbor_sides(graph, "node"), "node", labels, 30)
    np.testing.assert_allclose(shares, expected, atol=1e-9)


def test_shares_of_a_typed_graph_go_through_other_types_and_back():
    labels = read_labels(TYPED, {"author": {node: float(node) for node in range(7)}})
    coauthors, terms = (TYPED.to_scipy(each).toarray().astype(float) for each in (COAUTHOR, USES))
    mean, there, back = (divided(each, each.sum(axis=1)) for each in (coauthors, terms, terms.T))
    expected = np.hstack([dense_shares(each, labels, 10) for each in (mean, mean @ mean, there @ back)])
    shares = label_shares(neighbor_sides(TYPED, "author"), "author", labels, 10)
    np.testing.assert_allclose(shares, expected, atol=1e-9)


@pytest.mark.parametrize("options", OPTIONS)
def test_the_own_label_of_a_node_is_not_among_its_features(options):
    graph = random_graph(**options)
    sides, numbers = neighbor_sides(graph, "node"), RNG.random(30)
    before = label_shares(sides, "node", read_labels(graph, numbers), 30)
    for node in range(27):  # the others have no links, and the average of all labels
        changed = np.where(np.arange(30) == node, 1000.0, numbers)
        after = label_shares(sides, "node", read_labels(graph, changed), 30)
        reached = before[node] != numbers.mean()  # which stands for labels that are not there, and is the same for all
        np.testing.assert_allclose(after[node][reached], before[node][reached], atol=1e-9)
        assert np.abs(after - before).max() > 1, "those of others change"


def test_a_term_that_all_authors_use_costs_no_more_than_its_edges():
    count = 20_000
    graph = Graph.from_relations(
        {USES: np.column_stack([np.arange(count), np.zeros(count, int)]), COAUTHOR: [(0, i) for i in range(1, count)]}
    )
    labels = read_labels(graph, {"author": np.arange(count) % 2})
    sides = neighbor_sides(graph, "author")
    tracemalloc.start()
    blocks = [block.times(np.ones((block.num_columns, 1))) for block in neighbor_counts(sides, "author")]
    shares = label_shares(sides, "author", labels, count)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [block.shape for block in blocks] == [(count, 1)] * 3
    assert shares.shape == (count, 6)
    assert peak < 40e6, "pairs of authors would take gigabytes"
