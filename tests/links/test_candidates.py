"""Candidates for missing edges are those that a look at all pairs would name first."""

from __future__ import annotations

import numpy as np
import pytest
from support.graphs import random_graph
from support.links import WRITES, graph_of_types

from pine.links import candidates
from pine.links.heuristics import adamic_adar
from pine.links.pairs import codes, edge_pairs


@pytest.mark.parametrize("relation", [None, WRITES])
@pytest.mark.parametrize("directed", [False, True])
def test_pairs_of_a_whole_graph_are_the_first_by_adamic_adar_of_all_without_an_edge(monkeypatch, relation, directed):
    graph = random_graph(60, 4, directed=directed) if relation is None else graph_of_types()
    relation = relation or graph.relations[0]
    monkeypatch.setattr(candidates, "SHARING", 25)
    monkeypatch.setattr(candidates, "ROWS_AT_ONCE", 7)
    first, second = (np.arange(graph.num_nodes)[graph.nodes.slice(type)] for type in relation[::2])
    pairs = np.array([(u, v) for u in first for v in second if u < v or relation[0] != relation[2]])
    linked = np.isin(codes(pairs, graph.num_nodes), codes(edge_pairs(graph, relation), graph.num_nodes))
    pairs = pairs[~linked]
    scores = adamic_adar(graph.links(), pairs)
    found = candidates._sharing(graph, relation)
    own = adamic_adar(graph.links(), found)
    assert len(found) == min(25, int(np.count_nonzero(scores))) > 5
    np.testing.assert_allclose(np.sort(own)[::-1], np.sort(scores)[::-1][: len(found)])
    assert set(map(tuple, found.tolist())) <= set(map(tuple, pairs.tolist()))


def test_hubs_bring_no_pairs_together(monkeypatch):
    graph = random_graph(60, 4)
    monkeypatch.setattr(candidates, "HUB", 0)
    assert len(candidates._sharing(graph, graph.relations[0])) == 0
