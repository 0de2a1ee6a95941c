"""Compiled loops over ranges of rows on several threads; a range owns what it writes, so bits depend on no thread."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import Any, TypeVar, cast

from numba import njit

from pine.errors import InputError, quoted

MOST_THREADS = 256  # that share ranges, however many are asked for: each costs memory, and a system has a limit

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a loop over arrays on its first call, and keep it on disk; without the interpreter's lock."""
    return cast(Function, njit(nogil=True, cache=True)(function))


def vectorized(function: Function) -> Function:
    """The same for loops over floats: a b + c is rounded once and x / 0 is inf, or LLVM would not use vectors."""
    return cast(Function, njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")(function))


def number_of_threads(threads: int | None) -> int:
    """The given number; without one, the cores that this process may use."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise InputError(f"threads must be at least 1, or None for all cores, got {quoted(threads)}")
    return threads


def parts(count: int, size: int) -> list[tuple[int, int]]:
    """0 to count in ranges of a size; the last may be shorter."""
    return [(lo, min(lo + size, count)) for lo in range(0, count, size)]


def over_parts(kernel: Callable[..., None], count: int, size: int, threads: int | None, *arguments: Any) -> None:
    """Run kernel(lo, hi, ...) over parts of a size, the same ones for any number of threads."""
    over_ranges(kernel, parts(count, size), number_of_threads(threads), *arguments)


def over_ranges(kernel: Callable[..., None], ranges: Iterable[tuple[int, int]], threads: int, *arguments: Any) -> None:
    """Run kernel(lo, hi, ...) over all ranges; whoever is done takes the next. The calling thread works too."""
    left = deque(ranges)

    def work() -> None:
        while True:
            try:
                lo, hi = left.popleft()
            except IndexError:  # nothing left
                return
            kernel(lo, hi, *arguments)

    others = min(threads, MOST_THREADS, len(left)) - 1
    helpers = [_sleeping_threads(others).submit(work) for _ in range(others)]
    try:
        work()
    finally:
        # One that has not begun has nothing to do, and may stand behind whoever waits here: it is not waited for.
        begun = [helper for helper in helpers if not helper.cancel()]
        wait(begun)
    for helper in begun:
        helper.result()


@cache
def _sleeping_threads(count: int) -> ThreadPoolExecutor:
    """Kept between calls: waking a thread takes a fraction of making it."""
    return ThreadPoolExecutor(count, thread_name_prefix="pine")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_sleeping_threads.cache_clear)  # threads do not live on in a forked process
