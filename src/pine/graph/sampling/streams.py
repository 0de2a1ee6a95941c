"""Random draws that need no order among them: the numbers of stream s are hashes of (key, s, 1), (key, s, 2), ...

A stream is a 64-bit state; `state = advanced(state)` moves it on and `mixed(state)` is the number there (splitmix64).
Whoever works on streams in parallel gets the same bits for any number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine._internal.parallel import compiled

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S8, S11, S27, S30, S31, S32 = (np.uint64(shift) for shift in (8, 11, 27, 30, 31, 32))
LOW = np.uint64(0xFFFFFFFF)


@compiled
def mixed(state: Any) -> Any:
    """The 64 pseudorandom bits of a state."""
    state = (state ^ (state >> S30)) * FIRST
    state = (state ^ (state >> S27)) * SECOND
    return state ^ (state >> S31)


@compiled
def advanced(state: Any) -> Any:
    """The next state of a stream."""
    return state + GOLDEN


@compiled
def stream(key: Any, number: int) -> Any:
    """The first state of a stream."""
    return mixed(np.uint64(key) + mixed(np.uint64(number) + GOLDEN))


@compiled
def below(bits: Any, count: int) -> Any:
    """An integer drawn uniformly from 0 to count - 1, from the upper half of 64 bits."""
    return np.int64(((bits >> S32) * np.uint64(count)) >> S32)


@compiled
def unit(bits: Any) -> Any:
    """A number drawn uniformly from [0, 1)."""
    return np.float64(bits >> S11) * 2.0**-53


@compiled
def chosen(bits: Any, first: int, count: int, keep: NDArray[Any], alias: NDArray[Any]) -> Any:
    """The position of an entry of the row [first, first + count), drawn by weight with the tables of alias_rows.

    Empty tables stand for equal weights.
    """
    position = first + below(bits, count)
    if len(keep) == 0:
        return position
    # The lower half of the bits decides between the entry and its alias.
    if np.float32((bits & LOW) >> S8) * np.float32(2.0**-24) < keep[position]:
        return position
    return first + alias[position]


def alias_rows(indptr: NDArray[np.int64], weights: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Walker's alias tables of every row of weights: the probability to keep an entry, and its alias otherwise.

    Both (nnz,). A draw takes constant time, however long the row. In a row of zeros all entries are equally likely.
    """
    keep, alias = np.ones(len(weights), np.float32), np.zeros(len(weights), np.int32)
    _fill_rows(indptr, np.asarray(weights, np.float64), keep, alias)
    return keep, alias


@compiled
def _fill_rows(indptr: NDArray[Any], weights: NDArray[Any], keep: NDArray[Any], alias: NDArray[Any]) -> None:
    longest = 0
    for row in range(len(indptr) - 1):
        longest = max(longest, indptr[row + 1] - indptr[row])
    small, large, share = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest)
    for row in range(len(indptr) - 1):
        first, count = indptr[row], indptr[row + 1] - indptr[row]
        total = weights[first : first + count].sum()
        smalls, larges = 0, 0
        for k in range(count):
            alias[first + k] = k
            share[k] = weights[first + k] * count / total if total > 0.0 else 1.0
            if share[k] < 1.0:
                small[smalls] = k
                smalls += 1
            else:
                large[larges] = k
                larges += 1
        while smalls > 0 and larges > 0:
            smalls -= 1
            poor, rich = small[smalls], large[larges - 1]
            keep[first + poor], alias[first + poor] = share[poor], rich
            share[rich] -= 1.0 - share[poor]
            if share[rich] < 1.0:
                larges -= 1
                small[smalls] = rich
                smalls += 1
