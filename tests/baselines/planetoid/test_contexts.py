"""Contexts are nodes within a window on random walks, and nodes with the same label."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pine import Graph
from pine.baselines.planetoid.contexts import (
    ContextBatch,
    ContextSampler,
    Labeled,
    endless_batches,
    graph_contexts,
    label_contexts,
    within_window,
)

# Of different numbers of nodes and classes.
SEVERAL = [
    Labeled(np.array([4, 9, 2, 7, 30]), np.array([1, 0, 1, 0, 2])),
    Labeled(np.array([0, 5, 6]), np.array([3, 3, 0])),
    Labeled(np.array([8, 3, 1, 2]), np.array([2, 2, 0, 0])),
]
PATH = Graph.from_edges([(i, i + 1) for i in range(30)], nodes=range(33))


def rngs_of(count: int) -> list[np.random.Generator]:
    return [np.random.default_rng(seed) for seed in range(count)]


def first_labels(count: int) -> Labeled:
    """So many nodes with two labels in turn."""
    return Labeled(np.arange(count), np.arange(count) % 2)


def pairs_of(batch: ContextBatch) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """The centers and contexts of each fit's pairs."""
    columns = np.broadcast_to(batch.columns, batch.contexts.shape)
    centers = np.broadcast_to(batch.centers, (len(columns), batch.centers.shape[1]))
    return list(zip(np.take_along_axis(centers, columns, 1), batch.contexts, strict=True))


def as_set(centers: NDArray[Any], contexts: NDArray[Any]) -> set[tuple[int, int]]:
    return set(zip(centers.tolist(), contexts.tolist(), strict=True))


def test_a_window_holds_all_pairs_within_its_reach_and_the_node_itself():
    wanted = {(a, b) for a in range(10) for b in range(10) if a // 5 == b // 5 and abs(a - b) <= 2}
    centers, contexts = within_window(2, 5, 2)
    assert len(centers) == len(wanted)
    assert as_set(centers, contexts) == wanted
    assert len(within_window(1, 5, 100)[0]) == 25


def test_graph_contexts_stay_within_reach_of_the_walks():
    for batch in islice(graph_contexts(PATH, 7, 10, 3, rngs_of(2)), 10):
        for centers, contexts in pairs_of(batch):
            assert abs(centers - contexts).max() == 3
            assert max(centers.max(), contexts.max()) <= 30


def test_a_round_of_walks_starts_once_from_every_node_with_neighbors():
    batches = list(islice(graph_contexts(PATH, 7, 10, 3, rngs_of(3)), 10))
    assert [batch.centers.shape for batch in batches] == [(3, 77)] * 4 + [(3, 33)] + [(3, 77)] * 4 + [(3, 33)]
    for some in (batches[:5], batches[5:]):
        starts = np.concatenate([batch.centers[:, ::11] for batch in some], axis=1)
        np.testing.assert_array_equal(np.sort(starts), np.tile(np.arange(31), (3, 1)))


@pytest.mark.parametrize("several", [SEVERAL, SEVERAL[:1]])
@pytest.mark.parametrize("size", [1000, 4])  # with more pairs than labels, each node is a center once
def test_label_contexts_have_the_label_of_their_center(size, several):
    seen: list[set[tuple[int, int]]] = [set() for _ in several]
    for batch in islice(label_contexts(several, size, rngs_of(len(several))), 100):
        for pairs, (centers, contexts) in zip(seen, pairs_of(batch), strict=True):
            assert len(centers) == size
            pairs |= as_set(centers, contexts)
    for (nodes, values), pairs in zip(several, seen, strict=True):
        label = dict(zip(nodes.tolist(), values.tolist(), strict=True))
        assert pairs == {(a, b) for a in label for b in label if label[a] == label[b]}


def test_with_more_pairs_than_labels_each_node_is_a_center_once_and_its_pairs_are_added_up():
    batch = next(label_contexts(SEVERAL, 6, rngs_of(3)))
    assert batch.centers.shape == (3, 5)
    for (nodes, _), centers, columns in zip(SEVERAL, batch.centers, batch.columns, strict=True):
        np.testing.assert_array_equal(centers[: len(nodes)], nodes)
        assert columns.max() < len(nodes), "what fills a row is in no pair"


def test_nodes_without_neighbors_are_in_no_graph_contexts():
    assert next(graph_contexts(Graph.from_edges([(0, 1)][:0], nodes=range(3)), 5, 10, 3, rngs_of(2)), None) is None


@pytest.mark.parametrize(("count", "size"), [(7, 3), (6, 3), (2, 3)])
def test_batches_go_over_all_items_again_and_again(count, size):
    steps = -(-count // size)
    parts = list(islice(endless_batches(count, size, np.random.default_rng(0)), 40 * steps))
    assert all(len(part) == size for part in parts)
    rounds = np.concatenate(parts).reshape(40, steps * size)
    np.testing.assert_array_equal(np.sort(rounds[:, :count]), np.tile(np.arange(count), (40, 1)))
    assert (rounds[:, count:] == -1).all()
    assert len(np.unique(rounds, axis=0)) > 1, "in a new order"


@pytest.mark.parametrize("count", [1, 20])
def test_batches_are_drawn_without_end_also_where_few_numbers_are_drawn_at_once(count, monkeypatch):
    monkeypatch.setattr("pine.baselines.planetoid.contexts.DRAWN_AT_ONCE", count)
    rounds = np.concatenate(list(islice(endless_batches(7, 3, np.random.default_rng(0)), 15))).reshape(5, 9)
    np.testing.assert_array_equal(np.sort(rounds), [[-1, -1, *range(7)]] * 5)
    assert len(list(islice(label_contexts(SEVERAL, 15, rngs_of(3)), 5))) == 5


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
    assert len(list(sampler.batches(graph, [first_labels(2)], rngs_of(1)))) == steps


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
    sampler = ContextSampler(label_batch, label_steps, 300, 200, None, 10, 3)
    assert sampler.label_plan(first_labels(labels)) == plan


@pytest.mark.parametrize("label_steps", [None, 7])
@pytest.mark.parametrize("count", [1, 20_000])
def test_labels_that_are_all_alike_give_no_contexts(label_steps, count):
    sampler = ContextSampler(50, label_steps, 300, 50, 2, 10, 3)
    alike = Labeled(np.arange(count), np.ones(count, np.int64))
    assert sampler.label_plan(alike)[1] == 0
    assert len(list(sampler.batches(PATH, [alike], rngs_of(1)))) == 2, "those of the graph"


def test_batches_of_many_labels_have_three_pairs_for_each():
    graph = Graph.from_edges([(0, 1), (2, 3)], nodes=range(20))
    sampler = ContextSampler(1, None, 299, 50, 0, 10, 3)  # 2,000 pairs would be 100 for each
    sizes = [batch.contexts.shape for batch in sampler.batches(graph, [first_labels(20)] * 2, rngs_of(2))]
    assert sizes == [(2, 60)] * 100


def test_label_contexts_come_first_and_graph_contexts_next():
    graph = Graph.from_edges([(0, 1), (2, 3)], nodes=range(4))
    labeled = first_labels(4)  # the label of a node is never its neighbor's
    sampler = ContextSampler(50, 3, 300, 50, 2, 10, 3)
    batches = list(sampler.batches(graph, [labeled, labeled], rngs_of(2)))
    same = [[(labeled.values[a] == labeled.values[b]).all() for a, b in pairs_of(batch)] for batch in batches]
    assert same == [[True, True]] * 3 + [[False, False]] * 2


@pytest.mark.parametrize("label_batch", [50, 3])
def test_each_of_several_fits_draws_what_it_draws_alone(label_batch):
    sampler = ContextSampler(label_batch, 6, 300, 7, 9, 10, 3)

    def drawn(some: Sequence[Labeled], rngs: Sequence[np.random.Generator]) -> list[Any]:
        return [pairs_of(batch) for batch in sampler.batches(PATH, some, rngs)]

    together = drawn(SEVERAL, rngs_of(3))
    assert len(together) == 15
    for i, (labeled, rng) in enumerate(zip(SEVERAL, rngs_of(3), strict=True)):
        for several, (alone,) in zip(together, drawn([labeled], [rng]), strict=True):
            np.testing.assert_array_equal(several[i], alone)


def test_a_group_has_one_plan_and_each_node_is_a_center_once_in_all_of_it_or_in_none():
    sampler = ContextSampler(200, None, 300, 200, None, 10, 3)
    counts = [100, 120, 200, 201, 1333, 1334, 1335]
    groups = [sampler.group(first_labels(count)) for count in counts]
    assert groups[0] == groups[1] != groups[2]
    assert groups[2] == groups[3] == groups[4]
    assert len(set(groups)) == 4
    assert sampler.group(first_labels(100)) == groups[0]
    assert sampler.group(Labeled(np.arange(100), np.zeros(100, np.int64))) != groups[0], "it has no label contexts"
