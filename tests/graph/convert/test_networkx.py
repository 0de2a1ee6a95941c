"""To NetworkX and back: ids, types, weights and features stay what they were."""

from __future__ import annotations

import networkx as nx
import pytest
from support.convert import ALL, OPTIONS, same_graph
from support.graphs import weights_of

from pine import Graph
from pine.errors import InputError


@pytest.mark.parametrize("name", ALL)
def test_networkx_gives_back_what_it_got(name):
    graph = ALL[name]
    assert same_graph(Graph.from_networkx(graph.to_networkx(), **OPTIONS.get(name, {})), graph)


def test_networkx_graphs_of_every_kind_are_taken():
    assert Graph.from_networkx(nx.path_graph(4)).num_edges == 3
    assert Graph.from_networkx(nx.DiGraph([(0, 1), (1, 0)])).directed
    multi = nx.MultiGraph([(0, 1), (0, 1)])
    assert Graph.from_networkx(multi).num_edges == 2
    assert Graph.from_networkx(multi, duplicates="merge").num_edges == 1
    weighted = nx.Graph()
    weighted.add_edge("a", "b", weight=0.25)
    weighted.add_edge("b", "c")
    assert sorted(weights_of(Graph.from_networkx(weighted).adjacency())) == [0.25, 0.25, 1.0, 1.0]
    assert Graph.from_networkx(weighted, weight=None).adjacency().weights is None


def test_a_node_attribute_gives_the_types():
    graph = nx.Graph()
    graph.add_nodes_from(["ann", "bob"], kind="person")
    graph.add_nodes_from(["jazz"], kind="taste")
    graph.add_edges_from([("ann", "jazz"), ("jazz", "bob"), ("ann", "bob")])
    taken = Graph.from_networkx(graph, type="kind")
    assert taken.node_types == ("person", "taste")
    assert taken.relations == (("person", "to", "taste"), ("person", "to", "person"))
    assert taken.neighbors("bob") == {"person": ["ann"], "taste": ["jazz"]}
    graph.add_node("stray")
    with pytest.raises(InputError, match="node 'stray' lacks the attribute 'kind'"):
        Graph.from_networkx(graph, type="kind")


def test_between_two_types_the_order_of_ends_counts_in_a_directed_graph_alone():
    edges = [("ann", "jazz"), ("jazz", "bob")]
    for kind, relations in ((nx.Graph, 1), (nx.DiGraph, 2)):
        graph = kind(edges)
        nx.set_node_attributes(graph, {"ann": "person", "bob": "person", "jazz": "taste"}, "kind")
        assert len(Graph.from_networkx(graph, type="kind").relations) == relations


def test_a_network_has_parallel_edges_where_the_graph_has_some():
    assert not Graph.from_edges([(0, 1), (0, 2), (0, 3)]).to_networkx().is_multigraph()
    assert Graph.from_edges([(0, 1), (0, 1), (0, 2)], duplicates="keep").to_networkx().is_multigraph()


def test_what_is_no_networkx_graph_is_refused():
    with pytest.raises(InputError, match="from_networkx takes a NetworkX graph, got list"):
        Graph.from_networkx([(0, 1)])


def test_a_class_that_only_looks_like_a_network_is_refused():
    class Roads:
        def is_directed(self) -> bool:
            return False

    with pytest.raises(InputError, match="from_networkx takes a NetworkX graph, got Roads"):
        Graph.from_networkx(Roads())


def test_edge_attributes_that_are_not_read_are_named():
    network = nx.Graph()
    network.add_edge("a", "b", weight=2.0, since=1999, color="red")
    network.add_edge("b", "c", since=2001)
    with pytest.warns(
        UserWarning, match="from_networkx leaves out the edge attributes 'color', 'since'; weight='NAME'"
    ) as warned:
        graph = Graph.from_networkx(network)
    assert warned[0].filename == __file__, "it points at the caller"
    assert weights_of(graph.adjacency()) == [2.0, 2.0, 1.0, 1.0]
    with pytest.warns(UserWarning, match="the edge attributes 'color', 'weight'"):
        assert weights_of(Graph.from_networkx(network, weight="since").adjacency())[0] == 1999


def test_weights_that_are_turned_off_are_left_out_without_a_word():
    network = nx.Graph()
    network.add_edge("a", "b", weight=2.0)
    assert Graph.from_networkx(network, weight=None).adjacency().weights is None
