"""What training sees of a data set, and what it is scored on: graphs side by side on a device.

Where a data set is several graphs (PPI), each part of its split is some of them. Where it is one, training sees its
nodes and the edges among them alone, and is scored in the whole graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from pine.datasets.dataset import Dataset
from pine.errors import InputError
from pine.graph.csr import CSR
from pine.labels import Labels
from pine.reproduce.inductive.sampling import NeighborRows

SPLIT_NAMES = ("train", "val", "test")


@dataclass(frozen=True, eq=False)
class Graphs:
    """x (n, num_features), neighbors of the n nodes, and labels at targets, which are ascending rows of x.

    starts: where each graph begins among the nodes, and n. Edges stay within a graph.
    """

    x: Tensor
    neighbors: NeighborRows
    targets: Tensor
    labels: Tensor
    starts: tuple[int, ...]

    @cached_property
    def separate(self) -> list[GraphBatch]:
        """The graphs, one by one."""
        rows = torch.arange(len(self.x), device=self.x.device)
        degree = self.neighbors.indptr.diff()
        pairs = torch.stack([self.neighbors.indices.long(), rows.repeat_interleave(degree)])
        marks = torch.tensor(self.starts, device=self.x.device)
        entries = self.neighbors.indptr[marks].tolist()
        found = torch.searchsorted(self.targets, marks).tolist()
        return [
            GraphBatch(self.x[lo:hi], pairs[:, first:last] - lo, self.targets[begin:end] - lo, self.labels[begin:end])
            for (lo, hi), (first, last), (begin, end) in zip(
                pairwise(self.starts), pairwise(entries), pairwise(found), strict=True
            )
        ]


@dataclass(frozen=True, eq=False)
class GraphBatch:
    """One graph, or several as one: edges (2, num_edges) lead from a neighbor to a node."""

    x: Tensor
    edges: Tensor
    targets: Tensor
    labels: Tensor


def collate(some: list[GraphBatch]) -> GraphBatch:
    """Graphs as one, in which no edge joins two."""
    if len(some) == 1:
        return some[0]
    offsets = np.cumsum([0, *(len(each.x) for each in some[:-1])]).tolist()
    return GraphBatch(
        torch.cat([each.x for each in some]),
        torch.cat([each.edges + at for each, at in zip(some, offsets, strict=True)], dim=1),
        torch.cat([each.targets + at for each, at in zip(some, offsets, strict=True)]),
        torch.cat([each.labels for each in some]),
    )


def graphs_of(data: Dataset, labels: Labels, device: torch.device, count: int = 0) -> Mapping[str, Graphs]:
    """{"train": ..., "val": ..., "test": ...}; features have zero mean and unit variance over the training nodes.

    count: how many training graphs to use; 0: all.
    """
    if data.features is None or set(data.splits) != set(SPLIT_NAMES):
        raise InputError(f"{data.name} needs node attributes and a public split; use a data set such as 'ppi'")
    ids = np.zeros(data.graph.num_nodes, np.int64) if data.graph_ids is None else data.graph_ids
    shown = data.splits["train"]
    if count:
        shown = shown[np.isin(ids[shown], np.unique(ids[shown])[:count])]
    features = standardized(dense(data.features), shown)
    matrix = data.graph.links().distinct().to_scipy()
    whole = np.arange(data.graph.num_nodes)

    def part(nodes: NDArray[np.int64], scored: NDArray[np.int64]) -> Graphs:
        rows = nodes[np.argsort(ids[nodes], kind="stable")]
        own = matrix if len(rows) == len(whole) else matrix[rows][:, rows]
        own.sort_indices()
        csr = CSR(own.indptr.astype(np.int64), own.indices.astype(np.int32), None, len(rows))
        targets = np.flatnonzero(np.isin(rows, np.intersect1d(scored, labels.known)))
        known = labels.values[np.searchsorted(labels.known, rows[targets])]
        kind = torch.int64 if labels.task == "classes" else torch.float32
        return Graphs(
            torch.tensor(features[rows], device=device),
            NeighborRows.of(csr, device),
            torch.tensor(targets, device=device),
            torch.tensor(known, device=device).to(kind),
            (*np.flatnonzero(np.diff(ids[rows], prepend=-1)).tolist(), len(rows)),
        )

    made = {"train": part(shown, shown)}
    for name in SPLIT_NAMES[1:]:
        own = data.splits[name]
        made[name] = part(whole if data.graph_ids is None else own, own)
    return made


def dense(features: Any) -> NDArray[Any]:
    """Attributes (num_nodes, num_features) as an array."""
    return features.toarray() if sp.issparse(features) else np.asarray(features)


def standardized(features: NDArray[Any], shown: NDArray[np.int64]) -> NDArray[np.float32]:
    """Features (num_nodes, any) at zero mean and unit variance over some nodes; a constant one is left at zero."""
    center, spread = features[shown].mean(0, dtype=np.float64), features[shown].std(0, dtype=np.float64)
    scaled: NDArray[np.float32] = ((features - center) / np.where(spread > 0, spread, 1)).astype(np.float32)
    return scaled
