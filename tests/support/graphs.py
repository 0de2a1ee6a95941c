"""Small graphs that tests share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine import Graph


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
