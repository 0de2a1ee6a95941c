"""word2vec's skip-gram: a word c in the window of w predicts w, log P(w | c) = sum of log sigmoid(+-x_c . y_j) over j.

j are the inner nodes on w's path in a Huffman tree (output "hierarchical"), or w and a few words drawn by their
frequency^.75 ("negative"), from all words or from those of w's kind. It is learned as word2vec does it: pair after
pair, windows cut short at random, a rate that falls in a line.

Walks (sentences) are learned in rounds of a few, side by side, each from the vectors as the round found them; a vector
then moves by the mean of the moves of those walks that moved it. How many make a round depends on the output and the
number of words alone, so any number of threads gives the same bits. Below 2 * WORDS_PER_WALK words it is one: plain
gradient ascent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine._internal.parallel import number_of_threads
from pine.baselines.skip_gram.huffman import huffman_paths
from pine.baselines.skip_gram.sgd import NO_PLACE, Copies, Outputs, learn_walks, move_rows
from pine.baselines.skip_gram.simd import aligned_zeros, padded
from pine.errors import InputError, one_of
from pine.graph.sampling.streams import alias_rows

# Many walks in a round cost Cora, Citeseer and Wikipedia (about 3,000 words) nothing, but Email-eu (1,005 words, of
# which a walk meets one in 30) accuracy.
WORDS_PER_WALK, MOST_WALKS = 512, 256
# A walk has thousands of negatives: walks of a round meet in them, and the mean slows learning down.
MOST_WALKS_WITH_NEGATIVES = 8
NEGATIVES, NEGATIVE_POWER = 5, 0.75  # word2vec's own


def skip_gram(
    passes: Iterable[NDArray[Any]],
    num_walks: int,
    counts: NDArray[Any],
    *,
    dim: int,
    window: int,
    rng: np.random.Generator,
    output: str = "hierarchical",
    negatives: int = NEGATIVES,
    bounds: NDArray[np.int64] | None = None,
    threads: int | None = None,
) -> NDArray[np.float32]:
    """Learn vectors (num_words, dim), going once over passes: arrays (walks, length) of words, with -1 after an end.

    num_walks: of all passes together, for the falling rate. counts (num_words,): how often each word is in them.
    bounds (num_kinds + 1,): where the words of a kind start and end, for negatives of the same kind; None: one kind.
    """
    one_of("output", output, ("hierarchical", "negative"))
    if dim < 1 or window < 1 or negatives < 1:
        raise InputError(f"dim, window and negatives must be at least 1, got {dim}, {window} and {negatives}")
    kinds = np.array([0, len(counts)]) if bounds is None else np.asarray(bounds, np.int64)
    outputs = _outputs(np.asarray(counts), negatives if output == "negative" else 0, kinds)
    x, y = aligned_zeros((len(counts), padded(dim))), aligned_zeros((len(counts), padded(dim)))
    x[:, :dim] = (rng.random((len(counts), dim), np.float32) - np.float32(0.5)) / np.float32(dim)
    key = np.uint64(rng.integers(2**63))
    first = 0
    most = MOST_WALKS_WITH_NEGATIVES if output == "negative" else MOST_WALKS
    together = max(1, min(most, len(counts) // WORDS_PER_WALK))
    with _Team(max(1, min(together // 2, number_of_threads(threads)))) as team:  # two walks a thread, at least
        for walks in passes:
            if walks.size and not -1 <= walks.min() <= walks.max() < len(counts):
                raise InputError(f"words must be numbers under {len(counts)}, or -1 after the end of a walk")
            _learn_pass(team, together, walks, first, num_walks, key, window, x, y, outputs)
            first += len(walks)
    return np.ascontiguousarray(x[:, :dim])


def _outputs(counts: NDArray[Any], negatives: int, bounds: NDArray[np.int64]) -> Outputs:
    """What a word is predicted by: its path (negatives 0), or itself and so many others of its kind."""
    kind = np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), np.diff(bounds))
    assert len(kind) == len(counts)
    if negatives:
        keep, other = alias_rows(bounds, counts.astype(np.float64) ** NEGATIVE_POWER)
        no_paths = (np.zeros(len(counts) + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32))
        return Outputs(*no_paths, negatives + 1, negatives, kind, bounds, keep, other)
    paths = huffman_paths(counts)
    deepest = int(np.diff(paths.indptr).max())
    no_table = (np.empty(0, np.float32), np.empty(0, np.int32))
    return Outputs(paths.indptr, paths.nodes, paths.left, deepest, 0, kind, bounds, *no_table)


def _learn_pass(
    team: _Team,
    together: int,
    walks: NDArray[Any],
    first: int,
    num_walks: int,
    key: Any,
    window: int,
    x: NDArray[np.float32],
    y: NDArray[np.float32],
    outputs: Outputs,
) -> None:
    """Learn walks, so many together; first is the number of the first of them among all."""
    num_words, length = len(x), walks.shape[1]
    asked = 1 + 2 * window * outputs.negatives if outputs.negatives else outputs.most
    rooms = (min(num_words, room) for room in (length, length * asked))
    of_x, of_y = (_copies(together, room, x.shape[1], team.size) for room in rooms)
    places = np.full((2, team.size, num_words), NO_PLACE, np.int32)
    touched = np.zeros(num_words, np.int32)
    for lo in range(0, len(walks), together):
        some = walks[lo : lo + together]
        team.run(learn_walks, len(some), some, first + lo, num_walks, key, window, x, y, outputs, places, of_x, of_y)
        team.run(move_rows, team.size, len(some), x, y, touched, of_x, of_y)


def _copies(walks: int, room: int, width: int, parts: int) -> Copies:
    return Copies(
        used=np.zeros(walks, np.int64),
        rows=np.empty((walks, room), np.int32),
        values=aligned_zeros((walks, room, width)),
        order=np.empty((walks, room), np.int32),
        marks=np.zeros((walks, parts + 1), np.int64),
    )


@dataclass
class _Team:
    """Threads that take equal parts of something: kernel(part, lo, hi, ...)."""

    size: int

    def __enter__(self) -> _Team:
        self.pool = ThreadPoolExecutor(self.size)
        return self

    def __exit__(self, *problem: object) -> None:
        self.pool.shutdown()

    def run(self, kernel: Callable[..., None], count: int, *arguments: Any) -> None:
        marks = [count * part // self.size for part in range(self.size + 1)]
        parts = [(part, marks[part], marks[part + 1]) for part in range(self.size) if marks[part] < marks[part + 1]]
        others = [self.pool.submit(kernel, *part, *arguments) for part in parts[1:]]
        kernel(*parts[0], *arguments)
        for other in others:
            other.result()
