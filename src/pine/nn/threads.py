"""Work on blocks of nodes by threads that sleep while they wait, each with one thread of torch's.

torch's own threads spin at the end of every operation until the last of them is done: beside another busy process an
operation of microseconds takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
import torch
from torch import Tensor

from pine._internal.parallel import number_of_threads, over_ranges, parts

_OWN: ContextVar[int | None] = ContextVar("threads", default=None)


def own_threads() -> int:
    """How many threads share the blocks: as many as a fit asked for, otherwise as many as torch has."""
    return _OWN.get() or torch.get_num_threads()


@contextmanager
def sleeping_threads(threads: int | None) -> Iterator[None]:
    """Share blocks among so many threads (None: as many as torch has), torch itself having one meanwhile."""
    token = _OWN.set(own_threads() if threads is None else number_of_threads(threads))
    try:
        with torch_alone():
            yield
    finally:
        _OWN.reset(token)


@contextmanager
def torch_alone() -> Iterator[None]:
    """Let torch use one thread, and afterwards as many as before. Its number belongs to the thread that calls."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def over_nodes(kernel: Callable[[int, int], None], count: int, size: int) -> None:
    """Run kernel(lo, hi), of which nothing is differentiated, over the same parts for any number of threads."""

    def alone(lo: int, hi: int) -> None:
        if torch.get_num_threads() > 1:
            torch.set_num_threads(1)  # in a thread of ours, for good
        with torch.no_grad():  # each thread has a mode of its own
            kernel(lo, hi)

    threads = own_threads()
    with torch_alone():
        over_ranges(alone, parts(count, size), threads)


def empty(*shape: int, like: Tensor) -> Tensor:
    """Uninitialized, in NumPy's memory, which asks for huge pages: first touching small ones takes as long as a sum."""
    return torch.from_numpy(np.empty(shape, like.detach().numpy().dtype))
