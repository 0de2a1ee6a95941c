"""Graphs whose links can be predicted."""

from __future__ import annotations

import numpy as np

from pine import Graph

WRITES = ("author", "writes", "paper")


def graph_of_types() -> Graph:
    rng = np.random.default_rng(0)
    authors, papers = rng.integers(0, 20, 80), rng.integers(0, 30, 80)
    cites = rng.integers(0, 30, (60, 2))
    nodes = {"paper": [f"p{i}" for i in range(30)], "author": [f"a{i}" for i in range(20)]}
    writes = [(f"a{a}", f"p{p}") for a, p in zip(authors, papers, strict=True)]
    return Graph.from_relations(
        {WRITES: writes, ("paper", "cites", "paper"): [(f"p{a}", f"p{b}") for a, b in cites]}, nodes=nodes
    )


def planted(count: int = 120, seed: int = 0) -> Graph:
    """Four groups with edges inside."""
    rng = np.random.default_rng(seed)
    group = np.arange(count) % 4
    edges = np.argwhere(np.triu(rng.random((count, count)) < np.where(group[:, None] == group, 0.3, 0.01), 1))
    return Graph.from_edges(edges, nodes=range(count))
