"""SGD on a batch of walks in parallel: each walk updates copies of the rows that it needs, then each row moves by the
mean of its updates."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pine._internal.parallel import compiled
from pine.baselines.skip_gram.simd import dot, mutual_update
from pine.graph.sampling.streams import advanced, below, chosen, mixed, stream

START_RATE, END_RATE = 0.025, 0.0001  # word2vec's own
# The sigmoid is read from a table, at the nearest of 256 points a unit; beyond +-8 it is as good as 0 or 1.
SIGMOID_RESOLUTION, SIGMOID_LAST = 256, 4096
SIGMOID = (1 / (1 + np.exp(8.0 - np.arange(SIGMOID_LAST + 1) / SIGMOID_RESOLUTION))).astype(np.float32)
NO_SLOT = -1


class Outputs(NamedTuple):
    """What words are predicted by: paths as HuffmanPaths has them, or sampled words (negatives > 0)."""

    indptr: NDArray[np.int64]
    nodes: NDArray[np.int32]
    left: NDArray[np.float32]
    max_targets: int  # rows of y that predict one pair, at most
    negatives: int
    type: NDArray[np.int32]  # of each word; negatives are drawn among the words of its type
    bounds: NDArray[np.int64]  # where the words of a type start and end
    keep: NDArray[np.float32]  # alias tables of the negatives (graph/sampling/streams)
    other: NDArray[np.int32]


class RowCopies(NamedTuple):
    """Rows of a matrix that each walk of a batch has copied into its slots.

    used (walks,): slots in use. rows (walks, capacity): which row is in a slot. values (walks, capacity, width).
    order (walks, capacity): slots sorted by shard, a range of the matrix's rows that one thread writes.
    shard_starts (walks, shards + 1): where the slots of a shard start in order.
    """

    used: NDArray[np.int64]
    rows: NDArray[np.int32]
    values: NDArray[np.float32]
    order: NDArray[np.int32]
    shard_starts: NDArray[np.int64]


@compiled
def train_walks(
    thread: int,
    lo: int,
    hi: int,
    walks: NDArray[Any],
    first: int,
    num_walks: int,
    key: Any,
    window: int,
    x: NDArray[Any],
    y: NDArray[Any],
    outputs: Outputs,
    slots: NDArray[Any],
    of_x: RowCopies,
    of_y: RowCopies,
) -> None:
    """Train on the walks lo to hi of a batch, and leave their updates in the copies.

    slots (2, threads, num_words): the slot of the walk at hand for each row of x and of y, or NO_SLOT.
    """
    slot_x, slot_y = slots[0, thread], slots[1, thread]
    at = np.empty(walks.shape[1], np.int64)
    target, label = np.empty(outputs.max_targets, np.int64), np.zeros(outputs.max_targets, np.float32)
    g = np.empty(outputs.max_targets, np.float32)
    for walk in range(lo, hi):
        own_x, own_y = of_x.values[walk], of_y.values[walk]
        of_x.used[walk] = of_y.used[walk] = 0
        rate = np.float32(START_RATE + (END_RATE - START_RATE) * ((first + walk) / num_walks))
        state = stream(key, first + walk)
        end = 0
        while end < len(at) and walks[walk, end] >= 0:
            node = walks[walk, end]
            if slot_x[node] == NO_SLOT:
                _copy(node, walk, x, slot_x, of_x)
            at[end] = slot_x[node]
            end += 1
        for center in range(end):
            word = walks[walk, center]
            num_targets = outputs.indptr[word + 1] - outputs.indptr[word]
            for k in range(num_targets):
                node = outputs.nodes[outputs.indptr[word] + k]
                if slot_y[node] == NO_SLOT:
                    _copy(node, walk, y, slot_y, of_y)
                target[k], label[k] = slot_y[node], outputs.left[outputs.indptr[word] + k]
            if outputs.negatives > 0:
                if slot_y[word] == NO_SLOT:
                    _copy(word, walk, y, slot_y, of_y)
                target[0], label[0] = slot_y[word], 1.0
            type_start = outputs.bounds[outputs.type[word]]
            type_size = outputs.bounds[outputs.type[word] + 1] - type_start
            state = advanced(state)
            reach = 1 + below(mixed(state), window)
            for near in range(max(0, center - reach), min(end, center + reach + 1)):
                if near == center:
                    continue
                if outputs.negatives > 0:
                    num_targets = 1
                    for _ in range(outputs.negatives):
                        state = advanced(state)
                        node = chosen(mixed(state), type_start, type_size, outputs.keep, outputs.other)
                        if node != word:
                            if slot_y[node] == NO_SLOT:
                                _copy(node, walk, y, slot_y, of_y)
                            target[num_targets] = slot_y[node]
                            num_targets += 1
                for k in range(num_targets):
                    score = dot(own_x, at[near], own_y, target[k])
                    point = int(score * np.float32(SIGMOID_RESOLUTION) + np.float32(SIGMOID_LAST / 2 + 0.5))
                    g[k] = rate * (label[k] - SIGMOID[min(max(point, 0), SIGMOID_LAST)])
                mutual_update(g, own_x, at[near], own_y, target, num_targets)
        _subtract(walk, x, slot_x, of_x)
        _subtract(walk, y, slot_y, of_y)


@compiled
def _copy(row: int, walk: int, matrix: NDArray[Any], slot: NDArray[Any], copies: RowCopies) -> None:
    """Give a walk its copy of a row."""
    free = copies.used[walk]
    slot[row], copies.rows[walk, free] = free, row
    for column in range(matrix.shape[1]):
        copies.values[walk, free, column] = matrix[row, column]
    copies.used[walk] = free + 1


@compiled
def _subtract(walk: int, matrix: NDArray[Any], slot: NDArray[Any], copies: RowCopies) -> None:
    """Turn copies into updates, their difference from the rows, and release the slots."""
    for k in range(copies.used[walk]):
        row = copies.rows[walk, k]
        slot[row] = NO_SLOT
        for column in range(matrix.shape[1]):
            copies.values[walk, k, column] -= matrix[row, column]
    sort_by_shard(walk, matrix.shape[0], copies)


@compiled
def sort_by_shard(walk: int, num_rows: int, copies: RowCopies) -> None:
    """Order a walk's slots by shard, so that the thread of a shard sees its own rows alone."""
    rows, order, starts = copies.rows[walk], copies.order[walk], copies.shard_starts[walk]
    shards = len(starts) - 1
    starts[:] = 0
    for k in range(copies.used[walk]):
        starts[rows[k] * shards // num_rows + 1] += 1
    for shard in range(shards):
        starts[shard + 1] += starts[shard]
    free = starts.copy()
    for k in range(copies.used[walk]):
        shard = rows[k] * shards // num_rows
        order[free[shard]] = k
        free[shard] += 1


@compiled
def average_rows(
    shard: int,
    _lo: int,
    _hi: int,
    walks: int,
    x: NDArray[Any],
    y: NDArray[Any],
    touched: NDArray[Any],
    of_x: RowCopies,
    of_y: RowCopies,
) -> None:
    """Move the rows of a shard of x and y, each by the mean of its updates; touched (num_words,) is zero in the end."""
    _average(shard, walks, x, touched, of_x)
    _average(shard, walks, y, touched, of_y)


@compiled
def _average(shard: int, walks: int, matrix: NDArray[Any], touched: NDArray[Any], copies: RowCopies) -> None:
    rows, order, starts = copies.rows, copies.order, copies.shard_starts
    for walk in range(walks):
        for at in range(starts[walk, shard], starts[walk, shard + 1]):
            touched[rows[walk, order[walk, at]]] += 1
    for walk in range(walks):
        for at in range(starts[walk, shard], starts[walk, shard + 1]):
            k = order[walk, at]
            row = rows[walk, k]
            share = np.float32(1.0) / np.float32(touched[row])
            for column in range(matrix.shape[1]):
                matrix[row, column] += share * copies.values[walk, k, column]
    for walk in range(walks):
        for at in range(starts[walk, shard], starts[walk, shard + 1]):
            touched[rows[walk, order[walk, at]]] = 0
