"""Pairs (center, context) for Planetoid: nodes within a window on random walks, and nodes with the same label.

They are drawn for several fits on one graph at a time, each from a generator of its own: B of them in a batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pine.graph import Graph
from pine.graph.sampling.walks import Walker

Generators = Sequence[np.random.Generator]


class Labeled(NamedTuple):
    """Nodes with their labels, both (n,)."""

    nodes: NDArray[np.int64]
    values: NDArray[np.int64]


class ContextBatch(NamedTuple):
    """The pairs of a step: centers (B, M), and for each pair its center's column there and its context, both (B, P).

    A node may be a center more than once. What all B have in common may have a first axis of 1.
    """

    centers: NDArray[np.int64]
    columns: NDArray[np.int64]
    contexts: NDArray[np.int64]


# Of the code of Planetoid's authors: 70 steps are five walks from each node of Cora. On pubmed they would be less than
# one, after which predictions are those of the most frequent class; so from every node, on average, at least five.
MIN_GRAPH_STEPS, MIN_WALKS_PER_NODE = 70, 5
# Also of that code: 2,000 steps on label contexts, a thousand pairs and more for each of the 60 to 140 labels of public
# splits. With 90 % of pubmed's labels they would be 22 for each, after which vectors hardly differ from those of walks
# alone, and accuracy falls as labels are added; so for every label at least label_pairs. Then three of each are in a
# step: so many are stable, and a node that is in several pairs costs no more than in one.
LABEL_STEPS, PAIRS_PER_LABEL_IN_STEP = 2000, 3
DRAWN_AT_ONCE = 2**16  # numbers for each fit


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

    def batches(self, graph: Graph, labeled: Sequence[Labeled], rngs: Generators) -> Iterator[ContextBatch]:
        """Pairs for each step of B fits, given what each has labels of; all are of one group."""
        size, label_steps = self.label_plan(labeled[0])
        yield from islice(label_contexts(labeled, size, rngs), label_steps)
        steps = self.graph_steps
        if steps is None:
            steps = max(MIN_GRAPH_STEPS, ceil(MIN_WALKS_PER_NODE * graph.num_nodes / self.graph_batch))
        yield from islice(graph_contexts(graph, self.graph_batch, self.length, self.window, rngs), steps)

    def label_plan(self, labeled: Labeled) -> tuple[int, int]:
        """How many pairs a batch of label contexts has, and how many batches there are."""
        num_labels = len(labeled.nodes)
        if (labeled.values == labeled.values[0]).all():  # contexts without any contrast
            return self.label_batch, 0
        if self.label_steps is not None:
            return self.label_batch, self.label_steps
        if self.label_batch * LABEL_STEPS >= self.label_pairs * num_labels:
            return self.label_batch, LABEL_STEPS
        return PAIRS_PER_LABEL_IN_STEP * num_labels, ceil(self.label_pairs / PAIRS_PER_LABEL_IN_STEP)

    def group(self, labeled: Labeled) -> tuple[int, int, bool]:
        """What fits side by side have in common: their plan, and whether each label is a center once, as where labels
        are fewer than pairs.
        """
        size, steps = self.label_plan(labeled)
        return size, steps, len(labeled.nodes) < size


def label_contexts(labeled: Sequence[Labeled], size: int, rngs: Generators) -> Iterator[ContextBatch]:
    """So many pairs of labeled nodes with equal labels at a time, without end."""
    each_once = all(len(some.nodes) < size for some in labeled)
    own = np.arange(size)[None]
    for pairs in zip(*(_label_pairs(some, size, rng) for some, rng in zip(labeled, rngs, strict=True)), strict=True):
        drawn, contexts = map(np.stack, zip(*pairs, strict=True))
        if each_once:
            yield ContextBatch(_padded([some.nodes for some in labeled]), drawn, contexts)
        else:
            centers = np.stack([some.nodes[row] for some, row in zip(labeled, drawn, strict=True)])
            yield ContextBatch(centers, own, contexts)


def _label_pairs(labeled: Labeled, size: int, rng: np.random.Generator) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """The places of centers among the labeled nodes, and their contexts, without end."""
    nodes, values = labeled
    by_label = nodes[np.argsort(values, kind="stable")]
    counts = np.bincount(values)
    firsts = np.cumsum(counts) - counts
    steps = max(1, DRAWN_AT_ONCE // size)
    while True:
        drawn = rng.integers(len(nodes), size=(steps, size))
        label = values[drawn]
        yield from zip(drawn, by_label[firsts[label] + rng.integers(counts[label])], strict=True)


def _padded(rows: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Rows of different lengths, the shorter ones with their first entry after the last."""
    made = np.stack([np.resize(row, max(map(len, rows))) for row in rows])
    for row, given in zip(made, rows, strict=True):
        row[len(given) :] = given[0]
    return made


def graph_contexts(graph: Graph, size: int, length: int, window: int, rngs: Generators) -> Iterator[ContextBatch]:
    """Pairs of so many walks at a time, without end; no walk starts at a node without neighbors.

    A node is in its own window, as in the code of Planetoid's authors.
    """
    walker = Walker.of(graph.links())
    linked = np.flatnonzero(walker.neighbors.degrees() > 0)
    if not len(linked):
        return
    for starts in zip(*(endless_batches(len(linked), size, rng) for rng in rngs), strict=True):
        walks = np.stack(
            [
                walker.walks(linked[some[some >= 0]], length + 1, int(rng.integers(2**63)), threads=1).ravel()
                for some, rng in zip(starts, rngs, strict=True)
            ]
        ).astype(np.int64)
        columns, contexts = within_window(walks.shape[1] // (length + 1), length + 1, window)
        yield ContextBatch(walks, columns[None], walks[:, contexts])


@lru_cache(maxsize=8)
def within_window(count: int, length: int, window: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All pairs of positions in so many walks, one after another, at a distance of at most the window in their walk."""
    positions = np.arange(count * length).reshape(count, length)
    reach = min(window, length - 1)
    centers, contexts = [], []
    for offset in range(-reach, reach + 1):
        lo, hi = max(0, -offset), min(length, length - offset)
        centers.append(positions[:, lo:hi].ravel())
        contexts.append(positions[:, lo + offset : hi + offset].ravel())
    return np.concatenate(centers), np.concatenate(contexts)


def endless_batches(count: int, size: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Batches (size,) of the numbers below a count without end: all of them in a new order, and again.

    The last batch of each order has -1 where there are no more.
    """
    steps = -(-count // size)
    orders = max(1, DRAWN_AT_ONCE // (steps * size))
    while True:
        drawn = np.full((orders, steps * size), -1)
        drawn[:, :count] = np.arange(count)
        rng.permuted(drawn[:, :count], axis=1, out=drawn[:, :count])
        yield from drawn.reshape(-1, size)
