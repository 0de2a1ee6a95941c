"""word2vec's skip-gram: a word c in the window of w predicts w, log P(w | c) = sum of log sigmoid(+-x_c . y_j) over j.

j are the inner nodes on w's path in a Huffman tree (output "hierarchical"), or w and a few words drawn by their
frequency^.75 ("negative"), from all words or from those of w's type. It is trained as word2vec is: SGD pair after
pair, windows shortened at random, a learning rate that decays linearly.

On a graph, random walks are the sentences and nodes their words (embed_walks).

Walks are trained in batches, in parallel: every walk starts from the vectors as the batch found them, and a vector then
moves by the mean of the updates of those walks that changed it. The size of a batch depends on the output and the
number of words alone, so any number of threads gives the same bits. Below 2 * WORDS_PER_BATCHED_WALK words it is one:
plain SGD.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pine._internal.parallel import number_of_threads
from pine.baselines.skip_gram.huffman import huffman_paths
from pine.baselines.skip_gram.sgd import NO_SLOT, Outputs, RowCopies, average_rows, train_walks
from pine.baselines.skip_gram.simd import aligned_zeros, padded
from pine.errors import InputError
from pine.graph.sampling.streams import alias_rows

# Large batches cost Cora, Citeseer and Wikipedia (about 3,000 words) nothing, but Email-eu (1,005 words, of which a
# walk meets one in 30) accuracy.
WORDS_PER_BATCHED_WALK, MAX_WALKS_PER_BATCH = 512, 256
# A walk has thousands of negatives: walks of a batch share them, and the mean slows training down.
MAX_WALKS_PER_BATCH_WITH_NEGATIVES = 8
NEGATIVES, NEGATIVE_POWER = 5, 0.75  # word2vec's own


class RandomWalker(Protocol):
    """A walk from each start, (len(starts), length) with -1 after an end; the same key gives the same walks."""

    def walks(
        self, starts: NDArray[Any], length: int, key: int, threads: int | None = None
    ) -> NDArray[np.integer[Any]]: ...


def embed_walks(
    walker: RandomWalker,
    num_nodes: int,
    *,
    walks: int,
    length: int,
    dim: int,
    window: int,
    output: str,
    negatives: int = NEGATIVES,
    rng: np.random.Generator,
    threads: int | None,
    bounds: NDArray[np.int64] | None = None,
    epochs: int = 1,
) -> NDArray[np.float32]:
    """Train vectors (num_nodes, dim) on so many walks from each node, for so many epochs over the same walks.

    Walks are made twice, first to count nodes and then to train on, instead of being kept: they take a small part of
    the time that training takes. The other arguments are skip_gram's.
    """
    seed = int(rng.integers(2**63))

    def passes() -> Iterator[NDArray[np.integer[Any]]]:
        """A walk from every node, in a new order each time."""
        again = np.random.default_rng(seed)
        for _ in range(walks):
            yield walker.walks(again.permutation(num_nodes), length, int(again.integers(2**63)), threads)

    counts = np.zeros(num_nodes, np.int64)
    for sampled in passes():
        counts += np.bincount(sampled[sampled >= 0], minlength=num_nodes)
    return skip_gram(
        (sampled for _ in range(epochs) for sampled in passes()),
        epochs * walks * num_nodes,
        counts,
        dim=dim,
        window=window,
        rng=rng,
        output=output,
        negatives=negatives,
        bounds=bounds,
        threads=threads,
    )


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
    """Train vectors (num_words, dim), going once over passes: arrays (walks, length) of words, with -1 after an end.

    num_walks: of all passes together, for the decay of the learning rate. counts (num_words,): how often each word is
    in them. bounds (num_types + 1,): where the words of a type start and end, for negatives of the same type; None: one
    type.
    """
    assert output in ("hierarchical", "negative")
    assert min(dim, window, negatives) >= 1
    types = np.array([0, len(counts)]) if bounds is None else np.asarray(bounds, np.int64)
    outputs = outputs_of(np.asarray(counts), negatives if output == "negative" else 0, types)
    x, y = aligned_zeros((len(counts), padded(dim))), aligned_zeros((len(counts), padded(dim)))
    x[:, :dim] = (rng.random((len(counts), dim), np.float32) - np.float32(0.5)) / np.float32(dim)
    key = np.uint64(rng.integers(2**63))
    first = 0
    max_walks = MAX_WALKS_PER_BATCH_WITH_NEGATIVES if output == "negative" else MAX_WALKS_PER_BATCH
    batch_size = max(1, min(max_walks, len(counts) // WORDS_PER_BATCHED_WALK))
    with _ThreadTeam(max(1, min(batch_size // 2, number_of_threads(threads)))) as team:  # two walks a thread, at least
        for walks in passes:
            if walks.size and not -1 <= walks.min() <= walks.max() < len(counts):
                raise InputError(f"words must be numbers under {len(counts)}, or -1 after the end of a walk")
            _train_pass(team, batch_size, walks, first, num_walks, key, window, x, y, outputs)
            first += len(walks)
    return np.ascontiguousarray(x[:, :dim])


def outputs_of(counts: NDArray[Any], negatives: int, bounds: NDArray[np.int64]) -> Outputs:
    """What a word is predicted by: its path (negatives 0), or itself and so many others of its type."""
    type = np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), np.diff(bounds))
    assert len(type) == len(counts)
    if negatives:
        keep, other = alias_rows(bounds, counts.astype(np.float64) ** NEGATIVE_POWER)
        no_paths = (np.zeros(len(counts) + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32))
        return Outputs(*no_paths, negatives + 1, negatives, type, bounds, keep, other)
    paths = huffman_paths(counts)
    deepest = int(np.diff(paths.indptr).max())
    no_table = (np.empty(0, np.float32), np.empty(0, np.int32))
    return Outputs(paths.indptr, paths.nodes, paths.left, deepest, 0, type, bounds, *no_table)


def _train_pass(
    team: _ThreadTeam,
    batch_size: int,
    walks: NDArray[Any],
    first: int,
    num_walks: int,
    key: Any,
    window: int,
    x: NDArray[np.float32],
    y: NDArray[np.float32],
    outputs: Outputs,
) -> None:
    """Train on walks, batch by batch; first is the number of the first of them among all."""
    num_words, length = len(x), walks.shape[1]
    targets_per_word = 1 + 2 * window * outputs.negatives if outputs.negatives else outputs.max_targets
    capacities = (min(num_words, capacity) for capacity in (length, length * targets_per_word))
    of_x, of_y = (_row_copies(batch_size, capacity, x.shape[1], team.size) for capacity in capacities)
    slots = np.full((2, team.size, num_words), NO_SLOT, np.int32)
    touched = np.zeros(num_words, np.int32)
    for lo in range(0, len(walks), batch_size):
        batch = walks[lo : lo + batch_size]
        team.run(train_walks, len(batch), batch, first + lo, num_walks, key, window, x, y, outputs, slots, of_x, of_y)
        team.run(average_rows, team.size, len(batch), x, y, touched, of_x, of_y)


def _row_copies(walks: int, capacity: int, width: int, shards: int) -> RowCopies:
    return RowCopies(
        used=np.zeros(walks, np.int64),
        rows=np.empty((walks, capacity), np.int32),
        values=aligned_zeros((walks, capacity, width)),
        order=np.empty((walks, capacity), np.int32),
        shard_starts=np.zeros((walks, shards + 1), np.int64),
    )


@dataclass
class _ThreadTeam:
    """Threads that each take an equal range: kernel(thread, lo, hi, ...)."""

    size: int

    def __enter__(self) -> _ThreadTeam:
        self.pool = ThreadPoolExecutor(self.size)
        return self

    def __exit__(self, *problem: object) -> None:
        self.pool.shutdown()

    def run(self, kernel: Callable[..., None], count: int, *arguments: Any) -> None:
        starts = [count * thread // self.size for thread in range(self.size + 1)]
        ranges = [(thread, lo, hi) for thread, (lo, hi) in enumerate(pairwise(starts)) if lo < hi]
        others = [self.pool.submit(kernel, *each, *arguments) for each in ranges[1:]]
        kernel(*ranges[0], *arguments)
        for other in others:
            other.result()
