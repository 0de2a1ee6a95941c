"""Planted graphs: nodes in groups that are linked more within than between, in random order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine.graph import EDGE, NODE, Graph
from pine.graph.csr import CSR, build_csr
from pine.graph.ids.node_ids import ids_from
from pine.graph.nodes import Nodes


def planted_graph(
    num_nodes: int, groups: int | None = None, inside: float = 0.6, seed: int = 0
) -> tuple[CSR, NDArray[np.int64]]:
    """5 edges a node, a share of them inside groups (of 400 nodes if not said): adjacency and each node's group."""
    rng = np.random.default_rng(seed)
    groups, num_edges = groups or max(2, num_nodes // 400), 5 * num_nodes
    members = rng.permutation(num_nodes)
    place = np.argsort(members)  # node members[p] stands at p and belongs to group p % groups
    source = rng.integers(0, num_nodes, num_edges)
    own = place[source] % groups
    size = (num_nodes - own + groups - 1) // groups
    near = members[own + groups * (rng.random(num_edges) * size).astype(np.int64)]
    target = np.where(rng.random(num_edges) < inside, near, rng.integers(0, num_nodes, num_edges))
    adjacency = build_csr(source, target, None, (num_nodes, num_nodes), mirror=True, drop_loops=True)
    return adjacency, place % groups


def planted_classes(
    num_nodes: int, classes: int = 50, inside: float = 0.51, sigma: float = 0.75, seed: int = 0
) -> tuple[CSR, NDArray[np.int64]]:
    """5 edges a node, a share of them inside classes, lognormal(sigma) expected degrees: adjacency and classes."""
    rng, num_edges = np.random.default_rng(seed), 5 * num_nodes
    label = rng.integers(0, classes, num_nodes)
    order = np.argsort(label, kind="stable")  # the members of a class stand side by side
    total = np.concatenate([[0], np.cumsum(rng.lognormal(0, sigma, num_nodes))])
    first = np.searchsorted(label[order], np.arange(classes + 1))

    def drawn(low: NDArray[Any], high: NDArray[Any]) -> NDArray[np.int64]:
        """A node for every entry, by expected degree, out of those that stand from low to high."""
        at = total[low] + rng.random(num_edges) * (total[high] - total[low])
        return order[np.clip(np.searchsorted(total, at, side="right") - 1, low, high - 1)]

    everyone = np.zeros(num_edges, np.int64), np.full(num_edges, num_nodes)
    source, own = drawn(*everyone), rng.random(num_edges) < (inside - 1 / classes) / (1 - 1 / classes)
    low, high = (np.where(own, first[label[source] + k], everyone[k]) for k in (0, 1))
    adjacency = build_csr(source, drawn(low, high), None, (num_nodes, num_nodes), mirror=True, drop_loops=True)
    return adjacency, label


def as_graph(adjacency: CSR) -> Graph:
    """A Graph of one node type whose ids are the rows."""
    return Graph.assemble(Nodes({NODE: ids_from(np.arange(adjacency.num_rows))}), {EDGE: adjacency}, directed=False)
