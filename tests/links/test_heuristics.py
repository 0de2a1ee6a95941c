"""Common neighbors, Adamic-Adar and personalized PageRank are those of NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from support.graphs import graph_of

from pine import Graph
from pine.links.heuristics import adamic_adar, common_neighbors, personalized_pagerank

CLUB = nx.Graph(nx.karate_club_graph().edges)
ALL = np.array([(u, v) for u in range(34) for v in range(34) if u != v])


def test_common_neighbors_and_adamic_adar_are_those_of_networkx():
    links = graph_of(CLUB).links()
    counted = [len(list(nx.common_neighbors(CLUB, u, v))) for u, v in ALL.tolist()]
    assert common_neighbors(links, ALL).tolist() == counted
    expected = [score for _, _, score in nx.adamic_adar_index(CLUB, ALL.tolist())]
    np.testing.assert_allclose(adamic_adar(links, ALL), expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_pagerank_is_the_mean_of_both_ways_of_networkx(weighted):
    network = nx.Graph(CLUB)
    for u, v in network.edges:
        network[u][v]["weight"] = 1.0 + (u + v) % 3 if weighted else 1.0
    edges = list(network.edges)
    weights = [network[u][v]["weight"] for u, v in edges]
    graph = Graph.from_edges(edges, nodes=range(34), weights=weights if weighted else None)
    ranks = {u: nx.pagerank(network, alpha=0.85, personalization={u: 1}, tol=1e-12) for u in range(34)}
    expected = [np.sqrt(ranks[u][v] * ranks[v][u]) for u, v in ALL.tolist()]
    found = personalized_pagerank(graph.links(), ALL, tolerance=1e-10)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_what_is_missing_of_pagerank_is_within_the_tolerance():
    links = graph_of(CLUB).links()
    exact, quick = (personalized_pagerank(links, ALL, tolerance=tolerance) for tolerance in (1e-12, 1e-5))
    degrees = links.degrees()
    bound = 1e-5 * np.sqrt(degrees[ALL[:, 0]] * degrees[ALL[:, 1]])
    assert ((exact - quick >= -1e-12) & (exact - quick <= bound)).all()


def test_nodes_without_neighbors_and_in_other_parts_have_no_pagerank():
    graph = Graph.from_edges([(0, 1), (2, 3)], nodes=range(6))
    pairs = np.array([(0, 2), (0, 5), (4, 5), (0, 1)])
    assert (personalized_pagerank(graph.links(), pairs) > 0).tolist() == [False, False, False, True]


@pytest.mark.parametrize("score", [common_neighbors, adamic_adar, personalized_pagerank])
def test_scores_are_symmetric_and_do_not_depend_on_threads_or_on_the_numbering(score):
    links = graph_of(CLUB).links()
    found = score(links, ALL)
    np.testing.assert_array_equal(found, score(links, ALL[:, ::-1]))
    np.testing.assert_array_equal(found, score(links, ALL, 3))
    new = np.random.default_rng(0).permutation(34)
    renumbered = graph_of(nx.relabel_nodes(CLUB, dict(enumerate(new.tolist()))))
    np.testing.assert_allclose(score(renumbered.links(), new[ALL]), found, atol=2e-4)
