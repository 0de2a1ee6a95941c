"""Contexts are nodes within a window on random walks, and nodes with the same label."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from pine import Graph
from pine.baselines.planetoid.contexts import (
    ContextSampler,
    endless_batches,
    graph_contexts,
    label_contexts,
    within_window,
)


def test_a_window_holds_all_pairs_within_its_reach_and_the_node_itself():
    walk = np.array([[5, 6, 7, 8, 9]])
    wanted = {(a, b) for a in range(5, 10) for b in range(5, 10) if abs(a - b) <= 2}
    centers, contexts = within_window(walk, 2)
    assert len(centers) == len(wanted)
    assert set(zip(centers.tolist(), contexts.tolist(), strict=True)) == wanted
    assert len(within_window(walk, 100)[0]) == 25


def test_graph_contexts_stay_within_reach_of_the_walks():
    path = Graph.from_edges([(i, i + 1) for i in range(30)], nodes=range(33))
    for centers, contexts in islice(graph_contexts(path, 7, 10, 3, np.random.default_rng(0)), 10):
        assert abs(centers - contexts).max() == 3
        assert max(centers.max(), contexts.max()) <= 30


def test_label_contexts_have_the_label_of_their_center():
    nodes, values = np.array([4, 9, 2, 7, 30]), np.array([1, 0, 1, 0, 2])
    label = dict(zip(nodes.tolist(), values.tolist(), strict=True))
    centers, contexts = next(label_contexts(nodes, values, 1000, np.random.default_rng(0)))
    assert [label[c] for c in centers.tolist()] == [label[c] for c in contexts.tolist()]
    seen = set(zip(centers.tolist(), contexts.tolist(), strict=True))
    assert seen == {(a, b) for a in label for b in label if label[a] == label[b]}


def test_sources_without_pairs_give_none():
    rng = np.random.default_rng(0)
    assert list(label_contexts(np.arange(3), np.zeros(3, np.int64), 5, rng)) == []
    assert list(graph_contexts(Graph.from_edges([(0, 1)][:0], nodes=range(3)), 5, 10, 3, rng)) == []


def test_batches_go_over_all_items_again_and_again():
    parts = list(islice(endless_batches(np.arange(7), 3, np.random.default_rng(0)), 6))
    assert [len(part) for part in parts] == [3, 3, 1] * 2
    assert sorted(np.concatenate(parts[:3])) == sorted(np.concatenate(parts[3:])) == list(range(7))


@pytest.mark.parametrize(
    ("graph_batch", "graph_steps", "nodes", "steps"),
    [
        (200, None, 41, 70),  # as in the authors' code
        (200, None, 20_000, 500),  # five walks from every node
        (100, None, 20_001, 1001),
        (200, 3, 20_000, 3),
    ],
)
def test_large_graphs_are_walked_as_often_from_every_node_as_small_ones(graph_batch, graph_steps, nodes, steps):
    graph = Graph.from_edges([(0, 1), (1, 2)], nodes=range(nodes))
    sampler = ContextSampler(200, 0, 300, graph_batch, graph_steps, 10, 3)
    known = np.array([0, 1])
    assert sum(1 for _ in sampler.batches(graph, known, known, np.random.default_rng(0))) == steps


@pytest.mark.parametrize(
    ("label_batch", "label_steps", "labels", "plan"),
    [
        (200, None, 140, (200, 2000)),  # as in the authors' code
        (200, None, 1333, (200, 2000)),
        (200, None, 1334, (3 * 1334, 100)),  # 300 pairs of each label
        (600, None, 1334, (600, 2000)),
        (200, 7, 10_000, (200, 7)),  # as set
        (200, 0, 10_000, (200, 0)),
    ],
)
def test_every_label_is_in_enough_pairs_however_many_there_are(label_batch, label_steps, labels, plan):
    assert ContextSampler(label_batch, label_steps, 300, 200, None, 10, 3).label_plan(labels) == plan


def test_batches_of_many_labels_have_three_pairs_for_each():
    graph, nodes = Graph.from_edges([(0, 1), (2, 3)], nodes=range(20)), np.arange(20)
    sampler = ContextSampler(1, None, 299, 50, 0, 10, 3)  # 2,000 pairs would be 100 for each
    sizes = [len(centers) for centers, _ in sampler.batches(graph, nodes, nodes % 2, np.random.default_rng(0))]
    assert sizes == [60] * 100


def test_label_contexts_come_first_and_graph_contexts_next():
    graph = Graph.from_edges([(0, 1), (2, 3)], nodes=range(4))
    values = np.array([0, 1, 0, 1])  # the label of a node is never its neighbor's
    sampler = ContextSampler(50, 3, 300, 50, 2, 10, 3)
    batches = list(sampler.batches(graph, np.arange(4), values, np.random.default_rng(0)))
    same = [(values[centers] == values[contexts]).all() for centers, contexts in batches]
    assert same == [True] * 3 + [False] * 2
