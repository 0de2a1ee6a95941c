"""One round of skip-gram: each walk learns on copies of the rows that it needs, then the rows move by the mean move."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pine._internal.compiled import compiled
from pine.baselines.skip_gram.simd import dot, exchange
from pine.graph.sampling.streams import advanced, below, chosen, mixed, stream

RATE, LAST_RATE = 0.025, 0.0001  # word2vec's own
# The sigmoid is read from a table, at the nearest of 256 points a unit; beyond +-8 it is as good as 0 or 1.
POINTS, LAST_POINT = 256, 4096
SIGMOID = (1 / (1 + np.exp(8.0 - np.arange(LAST_POINT + 1) / POINTS))).astype(np.float32)
NO_PLACE = -1


class Outputs(NamedTuple):
    """What words are predicted by: paths in a tree as huffman.Paths has them, or drawn words (negatives > 0)."""

    indptr: NDArray[np.int64]
    nodes: NDArray[np.int32]
    left: NDArray[np.float32]
    most: int  # rows of y that a pair can ask for
    negatives: int
    kind: NDArray[np.int32]  # of each word; negatives are drawn among the words of its kind
    bounds: NDArray[np.int64]  # where the words of a kind start and end
    keep: NDArray[np.float32]
    other: NDArray[np.int32]


class Copies(NamedTuple):
    """Rows of a matrix that each walk of a round has copied: used (walks,), rows (walks, room), values (.., width).

    order (walks, room) lists a walk's copies part by part of the matrix; marks (walks, parts + 1): where parts begin.
    """

    used: NDArray[np.int64]
    rows: NDArray[np.int32]
    values: NDArray[np.float32]
    order: NDArray[np.int32]
    marks: NDArray[np.int64]


@compiled
def learn_walks(
    part: int,
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
    places: NDArray[Any],
    of_x: Copies,
    of_y: Copies,
) -> None:
    """Learn the walks lo to hi of a round, and leave in the copies how far they moved.

    places (2, parts, num_words): where the walk at hand has its copy of a row of x or y.
    """
    place_x, place_y = places[0, part], places[1, part]
    at = np.empty(walks.shape[1], np.int64)
    target, label = np.empty(outputs.most, np.int64), np.zeros(outputs.most, np.float32)
    g = np.empty(outputs.most, np.float32)
    for walk in range(lo, hi):
        own_x, own_y = of_x.values[walk], of_y.values[walk]
        of_x.used[walk] = of_y.used[walk] = 0
        rate = np.float32(RATE + (LAST_RATE - RATE) * ((first + walk) / num_walks))
        state = stream(key, first + walk)
        end = 0
        while end < len(at) and walks[walk, end] >= 0:
            node = walks[walk, end]
            if place_x[node] == NO_PLACE:
                _copy(node, walk, x, place_x, of_x)
            at[end] = place_x[node]
            end += 1
        for center in range(end):
            word = walks[walk, center]
            asked = outputs.indptr[word + 1] - outputs.indptr[word]
            for k in range(asked):
                node = outputs.nodes[outputs.indptr[word] + k]
                if place_y[node] == NO_PLACE:
                    _copy(node, walk, y, place_y, of_y)
                target[k], label[k] = place_y[node], outputs.left[outputs.indptr[word] + k]
            if outputs.negatives > 0:
                if place_y[word] == NO_PLACE:
                    _copy(word, walk, y, place_y, of_y)
                target[0], label[0] = place_y[word], 1.0
            kind_start = outputs.bounds[outputs.kind[word]]
            kind_size = outputs.bounds[outputs.kind[word] + 1] - kind_start
            state = advanced(state)
            reach = 1 + below(mixed(state), window)
            for near in range(max(0, center - reach), min(end, center + reach + 1)):
                if near == center:
                    continue
                if outputs.negatives > 0:
                    asked = 1
                    for _ in range(outputs.negatives):
                        state = advanced(state)
                        node = chosen(mixed(state), kind_start, kind_size, outputs.keep, outputs.other)
                        if node != word:
                            if place_y[node] == NO_PLACE:
                                _copy(node, walk, y, place_y, of_y)
                            target[asked] = place_y[node]
                            asked += 1
                for k in range(asked):
                    score = dot(own_x, at[near], own_y, target[k])
                    point = int(score * np.float32(POINTS) + np.float32(LAST_POINT / 2 + 0.5))
                    g[k] = rate * (label[k] - SIGMOID[min(max(point, 0), LAST_POINT)])
                exchange(g, own_x, at[near], own_y, target, asked)
        _subtract(walk, x, place_x, of_x)
        _subtract(walk, y, place_y, of_y)


@compiled
def _copy(row: int, walk: int, matrix: NDArray[Any], place: NDArray[Any], copies: Copies) -> None:
    """Give a walk its copy of a row."""
    free = copies.used[walk]
    place[row], copies.rows[walk, free] = free, row
    for column in range(matrix.shape[1]):
        copies.values[walk, free, column] = matrix[row, column]
    copies.used[walk] = free + 1


@compiled
def _subtract(walk: int, matrix: NDArray[Any], place: NDArray[Any], copies: Copies) -> None:
    """Turn copies into how far they moved, and forget their places."""
    for k in range(copies.used[walk]):
        row = copies.rows[walk, k]
        place[row] = NO_PLACE
        for column in range(matrix.shape[1]):
            copies.values[walk, k, column] -= matrix[row, column]
    _sort(walk, matrix.shape[0], copies)


@compiled
def _sort(walk: int, num_rows: int, copies: Copies) -> None:
    """Order a walk's copies by part, so that whoever moves a part sees its own rows alone."""
    rows, order, marks = copies.rows[walk], copies.order[walk], copies.marks[walk]
    parts = len(marks) - 1
    marks[:] = 0
    for k in range(copies.used[walk]):
        marks[rows[k] * parts // num_rows + 1] += 1
    for part in range(parts):
        marks[part + 1] += marks[part]
    free = marks.copy()
    for k in range(copies.used[walk]):
        part = rows[k] * parts // num_rows
        order[free[part]] = k
        free[part] += 1


@compiled
def move_rows(
    part: int,
    _lo: int,
    _hi: int,
    walks: int,
    x: NDArray[Any],
    y: NDArray[Any],
    touched: NDArray[Any],
    of_x: Copies,
    of_y: Copies,
) -> None:
    """Move the rows of a part of x and y, each by the mean of its moves; touched (num_words,) stays zero."""
    _move(part, walks, x, touched, of_x)
    _move(part, walks, y, touched, of_y)


@compiled
def _move(part: int, walks: int, matrix: NDArray[Any], touched: NDArray[Any], copies: Copies) -> None:
    rows, order, marks = copies.rows, copies.order, copies.marks
    for walk in range(walks):
        for at in range(marks[walk, part], marks[walk, part + 1]):
            touched[rows[walk, order[walk, at]]] += 1
    for walk in range(walks):
        for at in range(marks[walk, part], marks[walk, part + 1]):
            k = order[walk, at]
            row = rows[walk, k]
            share = np.float32(1.0) / np.float32(touched[row])
            for column in range(matrix.shape[1]):
                matrix[row, column] += share * copies.values[walk, k, column]
    for walk in range(walks):
        for at in range(marks[walk, part], marks[walk, part + 1]):
            touched[rows[walk, order[walk, at]]] = 0
