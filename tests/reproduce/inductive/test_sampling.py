"""Samples are neighbors, all of them as likely, and the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from support.graphs import random_graph

from pine import Graph
from pine.reproduce.inductive.sampling import NeighborRows

CPU = torch.device("cpu")


def drawn(graph, size, seed=0, nodes=None):
    nodes = torch.arange(graph.num_nodes) if nodes is None else nodes
    return NeighborRows.of(graph.adjacency(), CPU).draw(nodes, size, torch.Generator().manual_seed(seed))


def test_what_is_drawn_is_a_neighbor_and_nodes_without_any_stand_for_themselves():
    graph = random_graph(40)
    samples, degree = drawn(graph, 30)
    neighbors = [set(graph.adjacency().row(node).tolist()) for node in range(40)]
    assert degree.tolist() == [len(each) for each in neighbors]
    assert not degree.all()
    for node, own in enumerate(samples.tolist()):
        assert set(own) <= (neighbors[node] or {node})


def test_the_same_seed_gives_the_same_samples_and_another_seed_others():
    graph = random_graph(40)
    assert torch.equal(drawn(graph, 9)[0], drawn(graph, 9)[0])
    assert not torch.equal(drawn(graph, 9)[0], drawn(graph, 9, seed=1)[0])


def test_all_neighbors_are_as_likely():
    graph = Graph.from_edges([(0, other) for other in range(1, 8)])
    size = 70_000
    (samples,) = drawn(graph, size, nodes=torch.tensor([0]))[0]
    counts = np.bincount(samples.numpy(), minlength=8)[1:]
    chi_square = ((counts - size / 7) ** 2 / (size / 7)).sum()
    assert chi_square < 30  # six degrees of freedom: more than that in 4 of 100,000 cases


@pytest.mark.parametrize("nodes", [[], [2], [1, 1, 0]])
def test_a_graph_without_edges_and_any_list_of_nodes_are_taken(nodes):
    graph = Graph.from_edges([], nodes=range(3))
    samples, degree = drawn(graph, 4, nodes=torch.tensor(nodes, dtype=torch.int64))
    assert samples.tolist() == [[node] * 4 for node in nodes]
    assert not degree.any()
