"""Node vectors from random walks: walks are sentences, nodes their words, and skip-gram gives words vectors.

Walks are made twice, first to count nodes and then to learn from, instead of being kept: they take a small part of the
time that learning takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pine.baselines.skip_gram.skip_gram import NEGATIVES, skip_gram
from pine.errors import InputError


class MakesWalks(Protocol):
    """A walk from each start, (len(starts), length) with -1 after an end; the same key gives the same walks."""

    def walks(
        self, starts: NDArray[Any], length: int, key: int, threads: int | None = None
    ) -> NDArray[np.integer[Any]]: ...


def walk_vectors(
    walker: MakesWalks,
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
    """Learn vectors (num_nodes, dim) from so many walks of each node, going over the same walks for so many epochs.

    The other settings are skip_gram's.
    """
    if walks < 1 or length < 1 or epochs < 1:
        raise InputError(f"walks, length and epochs must be at least 1, got {walks}, {length} and {epochs}")
    seed = int(rng.integers(2**63))

    def passes() -> Iterator[NDArray[np.integer[Any]]]:
        """A walk from every node, in a new order each time."""
        again = np.random.default_rng(seed)
        for _ in range(walks):
            yield walker.walks(again.permutation(num_nodes), length, int(again.integers(2**63)), threads)

    counts = np.zeros(num_nodes, np.int64)
    for made in passes():
        counts += np.bincount(made[made >= 0], minlength=num_nodes)
    return skip_gram(
        (made for _ in range(epochs) for made in passes()),
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
