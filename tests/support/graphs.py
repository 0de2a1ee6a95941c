"""Small graphs that tests share."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pine import Graph
from pine.embedder import Embedder
from pine.graph.csr import CSR


def random_graph(count: int = 30, density: int = 2, weighted: bool = False, **options: Any) -> Graph:
    """A few random edges a node; the last three nodes have none."""
    edges = np.random.default_rng(1).integers(0, count - 3, (density * count, 2))
    weights = np.random.default_rng(2).uniform(0.5, 2, len(edges)) if weighted else None
    return Graph.from_edges(edges, nodes=range(count), weights=weights, **options)


def two_groups() -> tuple[Graph, NDArray[np.int64]]:
    """Two groups of twenty, and the label of every node."""
    label = np.repeat([0, 1], 20)
    chance = np.where(label[:, None] == label, 0.4, 0.02)
    edges = np.argwhere(np.triu(np.random.default_rng(3).random((40, 40)) < chance, 1))
    return Graph.from_edges(edges, nodes=range(40)), label


def graph_for(method: type[Embedder], graph: Graph) -> Graph:
    """A graph that a method can learn from: with a node's links, and itself, as features where it needs some."""
    if not method.needs_features:
        return graph
    links = graph.links().to_scipy() + sp.eye_array(graph.num_nodes)
    rows = sp.csr_array(links).astype(np.float32)
    return graph.with_features({type: rows[graph.nodes.slice(type)] for type in graph.node_types})


def mirrored_karate() -> nx.Graph:
    """Two karate clubs with an edge between the two copies of one member; v and v + 34 are equal in structure."""
    club = nx.karate_club_graph()
    both = nx.Graph(nx.disjoint_union(club, club).edges)
    both.add_edge(0, 34)
    return both


def graph_of(network: nx.Graph) -> Graph:
    return Graph.from_edges(list(network.edges), nodes=range(len(network)))


def weights_of(matrix: CSR) -> list[float]:
    assert matrix.weights is not None
    return matrix.weights.tolist()


def scattered(num_nodes: int) -> nx.Graph:
    """A random network with several parts and nodes without neighbors."""
    return nx.gnm_random_graph(num_nodes, num_nodes, seed=3)
