"""A benchmark graph, with what is known of its nodes beside it and never inside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine.errors import InputError
from pine.graph import NODE, Graph

Labels = NDArray[np.int64] | NDArray[np.uint8] | NDArray[np.float32]
Counts = Mapping[str, int | Mapping[str, int]]


@dataclass(frozen=True, repr=False, eq=False)
class Dataset:
    """What pine.datasets.load gives. In a graph of several node types, labels and features are {type: array}.

    graph: undirected and simple, without labels and without node attributes (the paper mutes them); see with_features.
    labels: (num_nodes,) classes with -1 for unlabeled, (num_nodes, num_classes) label sets of 0 and 1, or (num_nodes,)
        numbers as float32 with NaN for unlabeled.
    label_names: the name of every class; its number as text where the source gives no name; empty for numbers.
    features: (num_nodes, num_features) node attributes as float32, dense or CSR; None if there are none.
    splits: the public split where there is one: {"train": node numbers, "val": ..., "test": ...}.
    source: where it comes from, and its license.
    raw: what the source lists, before loops and repeated edges are dropped: {"nodes": 2708, "edges": 5429,
        "self_loops": 0}; each of them {name: count} in a graph of several types.
    graph_ids: which of several graphs a node is in (PPI), else None.
    """

    name: str
    graph: Graph
    labels: Any  # an array, or {type: array}: what fit takes
    label_names: tuple[str, ...]
    features: Any
    splits: Mapping[str, NDArray[np.int64]]
    source: str
    raw: Counts
    graph_ids: NDArray[np.int64] | None = None

    def with_features(self) -> Graph:
        """The graph with its node attributes attached."""
        if self.features is None:
            raise InputError(f"dataset {self.name!r} has no node attributes; use its .graph")
        return self.graph.with_features(self.features if isinstance(self.features, Mapping) else {NODE: self.features})

    def __repr__(self) -> str:
        labels = f"{len(self.label_names)} classes" if self.label_names else "numbers"
        return f"Dataset({self.name!r}, {self.graph!r}, {labels})"


def counts(nodes: int, edges: NDArray[np.int64]) -> dict[str, int]:
    """The raw counts of a graph of one node type, as its source lists it."""
    return {"nodes": nodes, "edges": len(edges), "self_loops": int((edges[:, 0] == edges[:, 1]).sum())}


def typed_counts(
    nodes: Mapping[str, int], edges: Mapping[tuple[str, str, str], NDArray[np.int64]]
) -> dict[str, Mapping[str, int]]:
    """The raw counts of a graph of several node types: by type, and by the name of the relation."""
    loops = {
        name: int((rows[:, 0] == rows[:, 1]).sum()) if source == target else 0
        for (source, name, target), rows in edges.items()
    }
    return {"nodes": dict(nodes), "edges": {key[1]: len(rows) for key, rows in edges.items()}, "self_loops": loops}
