"""Pairs (center, context) for Planetoid: nodes within a window on random walks, and nodes with the same label."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine.graph import Graph
from pine.graph.sampling.walks import Walker

Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]


# Of the code of Planetoid's authors: 70 steps are five walks from each node of Cora. On pubmed they would be less than
# one, after which predictions are those of the most frequent class; so from every node, on average, at least five.
MIN_GRAPH_STEPS, MIN_WALKS_PER_NODE = 70, 5
# Also of that code: 2,000 steps on label contexts, a thousand pairs and more for each of the 60 to 140 labels of public
# splits. With 90 % of pubmed's labels they would be 22 for each, after which vectors hardly differ from those of walks
# alone, and accuracy falls as labels are added; so for every label at least label_pairs. Then three of each are in a
# step: so many are stable, and a node that is in several pairs costs no more than in one.
LABEL_STEPS, PAIRS_PER_LABEL_IN_STEP = 2000, 3


@dataclass(frozen=True)
class ContextSampler:
    """What Planetoid learns contexts from: batches of label contexts, then batches of graph contexts."""

    label_batch: int  # pairs
    label_steps: int | None  # None: by the number of labels
    label_pairs: int  # for each label at least, where label_steps is None
    graph_batch: int  # walks
    graph_steps: int | None  # None: by the number of nodes
    length: int  # of a walk, in steps
    window: int

    def batches(
        self, graph: Graph, nodes: NDArray[np.int64], values: NDArray[np.int64], rng: np.random.Generator
    ) -> Iterator[Pairs]:
        """Pairs for each step, given labeled nodes and their labels."""
        size, label_steps = self.label_plan(len(nodes))
        yield from islice(label_contexts(nodes, values, size, rng), label_steps)
        steps = self.graph_steps
        if steps is None:
            steps = max(MIN_GRAPH_STEPS, ceil(MIN_WALKS_PER_NODE * graph.num_nodes / self.graph_batch))
        yield from islice(graph_contexts(graph, self.graph_batch, self.length, self.window, rng), steps)

    def label_plan(self, num_labels: int) -> tuple[int, int]:
        """How many pairs a batch of label contexts has, and how many batches there are."""
        if self.label_steps is not None:
            return self.label_batch, self.label_steps
        if self.label_batch * LABEL_STEPS >= self.label_pairs * num_labels:
            return self.label_batch, LABEL_STEPS
        return PAIRS_PER_LABEL_IN_STEP * num_labels, ceil(self.label_pairs / PAIRS_PER_LABEL_IN_STEP)


def endless_batches(items: NDArray[np.int64], size: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Batches of the items without end: all of them in a new order, and again."""
    while True:
        order = rng.permutation(items)
        for lo in range(0, len(order), size):
            yield order[lo : lo + size]


def graph_contexts(graph: Graph, size: int, length: int, window: int, rng: np.random.Generator) -> Iterator[Pairs]:
    """Pairs of so many walks at a time, without end; no walk starts at a node without neighbors.

    A node is in its own window, as in the code of Planetoid's authors.
    """
    walker = Walker.of(graph.links())
    linked = np.flatnonzero(walker.neighbors.degrees() > 0)
    if not len(linked):
        return
    for starts in endless_batches(linked, size, rng):
        yield within_window(walker.walks(starts, length + 1, int(rng.integers(2**63))), window)


def within_window(walks: NDArray[Any], window: int) -> Pairs:
    """All pairs of walks (count, length) at a distance of at most the window."""
    length = walks.shape[1]
    reach = min(window, length - 1)
    centers, contexts = [], []
    for offset in range(-reach, reach + 1):
        lo, hi = max(0, -offset), min(length, length - offset)
        centers.append(walks[:, lo:hi].ravel())
        contexts.append(walks[:, lo + offset : hi + offset].ravel())
    return np.concatenate(centers).astype(np.int64), np.concatenate(contexts).astype(np.int64)


def label_contexts(
    nodes: NDArray[np.int64], values: NDArray[np.int64], size: int, rng: np.random.Generator
) -> Iterator[Pairs]:
    """Pairs of labeled nodes with equal labels, without end; none where all labels are the same."""
    by_label = nodes[np.argsort(values, kind="stable")]
    counts = np.bincount(values)
    firsts = np.cumsum(counts) - counts
    if np.count_nonzero(counts) < 2:
        return
    while True:
        drawn = rng.integers(len(nodes), size=size)
        label = values[drawn]
        yield nodes[drawn], by_label[firsts[label] + rng.integers(counts[label])]
