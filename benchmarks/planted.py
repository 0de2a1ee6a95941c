"""Planted graphs: nodes in groups that are linked more within than between, in random order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pine.graph import EDGE, NODE, Graph
from pine.graph.csr import CSR, build_csr
from pine.graph.ids.node_ids import ids_from
from pine.graph.nodes import Nodes


def planted_graph(
    num_nodes: int, groups: int | None = None, inside: float = 0.6, seed: int = 0, edges: int = 5
) -> tuple[CSR, NDArray[np.int64]]:
    """So many edges a node, a share of them inside groups (of 400 if not said): adjacency, each node's group."""
    rng = np.random.default_rng(seed)
    groups, num_edges = groups or max(2, num_nodes // 400), edges * num_nodes
    members = rng.permutation(num_nodes)
    place = np.argsort(members)  # node members[p] stands at p and belongs to group p % groups
    source = rng.integers(0, num_nodes, num_edges)
    own = place[source] % groups
    size = (num_nodes - own + groups - 1) // groups
    near = members[own + groups * (rng.random(num_edges) * size).astype(np.int64)]
    target = np.where(rng.random(num_edges) < inside, near, rng.integers(0, num_nodes, num_edges))
    adjacency = build_csr(source, target, None, (num_nodes, num_nodes), mirror=True, drop_loops=True)
    return adjacency, place % groups


def as_graph(adjacency: CSR) -> Graph:
    """A Graph of one node type whose ids are the rows."""
    return Graph.assemble(Nodes({NODE: ids_from(np.arange(adjacency.num_rows))}), {EDGE: adjacency}, directed=False)
