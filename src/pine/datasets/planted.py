"""A graph with planted classes (a degree-corrected block model): what is hidden in it is known, at any size."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine.errors import InputError
from pine.graph import EDGE, NODE, Graph
from pine.graph.csr import build_csr
from pine.graph.ids.node_ids import ids_from
from pine.graph.nodes import Nodes


def planted_classes(
    num_nodes: int, classes: int = 50, inside: float = 0.51, sigma: float = 0.75, seed: int = 0
) -> tuple[Graph, NDArray[np.int64]]:
    """5 edges a node, a share of them inside classes, lognormal(sigma) expected degrees: a graph and its classes."""
    if num_nodes < 1 or classes < 2:
        raise InputError(f"num_nodes must be at least 1 and classes at least 2, got {num_nodes} and {classes}")
    if not 1 / classes <= inside <= 1:
        raise InputError(f"inside must be between 1 / classes, which is no structure, and 1, got {inside}")
    rng, num_edges = np.random.default_rng(seed), 5 * num_nodes
    label = rng.integers(0, classes, num_nodes)
    order = np.argsort(label, kind="stable")  # the members of a class stand side by side
    total = np.concatenate([[0], np.cumsum(rng.lognormal(0, sigma, num_nodes))])
    first = np.searchsorted(label[order], np.arange(classes + 1))

    def drawn(low: NDArray[Any], high: NDArray[Any]) -> NDArray[np.int64]:
        """A node for every entry, by expected degree, out of those that stand from low to high."""
        at = total[low] + rng.random(num_edges) * (total[high] - total[low])
        place = np.clip(np.searchsorted(total, at, side="right") - 1, low, high - 1)
        found: NDArray[np.int64] = order[place]
        return found

    everyone = np.zeros(num_edges, np.int64), np.full(num_edges, num_nodes)
    source, own = drawn(*everyone), rng.random(num_edges) < (inside - 1 / classes) / (1 - 1 / classes)
    low, high = (np.where(own, first[label[source] + k], everyone[k]) for k in (0, 1))
    adjacency = build_csr(source, drawn(low, high), None, (num_nodes, num_nodes), mirror=True, drop_loops=True)
    return Graph.assemble(Nodes({NODE: ids_from(np.arange(num_nodes))}), {EDGE: adjacency}, directed=False), label
