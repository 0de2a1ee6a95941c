"""Rings hold the degrees of the nodes at each distance."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import pytest
from support.graphs import graph_of, scattered

from pine.baselines.struc2vec.rings import Rings, RingSizes, find_rings
from pine.graph.csr import CSR


def rings_of(links: CSR, farthest: int = -1) -> Rings:
    return find_rings(links, RingSizes.of(links, farthest, 1), farthest, 1)


@pytest.mark.parametrize("farthest", [-1, 0, 2])
def test_rings_hold_the_degrees_that_networkx_finds_at_each_distance(farthest):
    network = scattered(60)
    rings = rings_of(graph_of(network).links(), farthest)
    for node in network:
        found = nx.single_source_shortest_path_length(network, node, None if farthest < 0 else farthest)
        assert rings.counts()[node] == max(found.values()) + 1
        for distance in range(rings.counts()[node]):
            there = Counter(network.degree(other) for other, steps in found.items() if steps == distance)
            assert rings.ring(node, distance) == sorted(there.items())


def test_the_first_search_for_rings_finds_their_size():
    links = graph_of(scattered(60)).links()
    sizes, rings = RingSizes.of(links, 2, 1), rings_of(links, 2)
    assert sizes.entries.sum() == len(rings.degree)
    assert sizes.nbytes == rings.degree.nbytes + rings.count.nbytes + rings.start[1:].nbytes
