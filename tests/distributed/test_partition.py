"""Nodes over ranks: balanced, none of them empty, with few edges between them."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from pine import Graph, InputError
from pine.datasets import load, planted_classes
from pine.distributed.partition import ROOM, cut_edges, metis, partition, streamed
from pine.graph.csr import build_csr

needs_metis = pytest.mark.skipif(importlib.util.find_spec("pymetis") is None, reason="needs pymetis")


@pytest.mark.parametrize("method", [streamed, pytest.param(metis, marks=needs_metis)])
@pytest.mark.parametrize("parts", [2, 4])
def test_parts_are_balanced_and_cut_far_fewer_edges_than_chance_does(method, parts):
    graph = load("cora").graph
    part = method(graph.links(), parts)
    sizes = np.bincount(part, minlength=parts)
    assert sizes.max() <= np.ceil(ROOM * graph.num_nodes / parts)
    assert sizes.min() >= 0.8 * graph.num_nodes / parts
    by_chance = (1 - 1 / parts) * graph.num_edges
    assert cut_edges(graph.links(), part) < 0.4 * by_chance


def test_streaming_again_cuts_fewer_edges():
    links = planted_classes(2000, classes=5)[0].links()
    once, often = (cut_edges(links, streamed(links, 4, passes)) for passes in (1, 5))
    assert often < 0.95 * once


def test_a_loop_does_not_hold_a_node_where_it_is():
    links = planted_classes(2000, classes=5)[0].links()
    every = np.arange(2000)
    rows, columns = (np.concatenate([*[every] * 20, each]) for each in (links.rows(), links.indices))
    looped = build_csr(rows, columns, None, (2000, 2000), duplicates="keep")
    np.testing.assert_array_equal(streamed(looped, 4), streamed(links, 4))


def test_every_rank_has_a_node():
    graph = Graph.from_edges([(0, k) for k in range(1, 5)])
    assert sorted(partition(graph, 5).tolist()) == [0, 1, 2, 3, 4]
    with pytest.raises(InputError, match=r"fewer nodes than there are ranks, 6; start fewer"):
        partition(graph, 6)
