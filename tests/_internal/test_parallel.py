"""over_ranges: every range once, by threads that are kept and may be asked for from within."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest

from pine._internal.parallel import over_ranges, parts


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_range_is_worked_on_once(threads):
    done = np.zeros(103, int)

    def work(lo: int, hi: int) -> None:
        done[lo:hi] += 1

    over_ranges(work, parts(103, 10), threads)
    over_ranges(work, [], threads)
    assert (done == 1).all()


def test_threads_are_kept_from_call_to_call():
    seen: set[str] = set()

    def work(lo: int, hi: int) -> None:
        seen.add(threading.current_thread().name)
        time.sleep(0.002)

    for _ in range(6):
        over_ranges(work, parts(12, 1), 3)
    assert len(seen) == 3  # the calling thread and two others, in every call the same


def test_work_may_ask_for_threads_itself():
    done = np.zeros(64, int)

    def inner(lo: int, hi: int) -> None:
        time.sleep(0.001)
        done[lo:hi] += 1

    def outer(lo: int, hi: int) -> None:
        over_ranges(lambda a, b: inner(lo + a, lo + b), parts(hi - lo, 2), 3)

    over_ranges(outer, parts(64, 8), 3)
    assert (done == 1).all()


@pytest.mark.parametrize("calling", [True, False])
def test_an_error_is_raised_whichever_thread_meets_it(calling):
    def work(lo: int, hi: int) -> None:
        time.sleep(0.005)
        if (threading.current_thread() is caller) == calling:
            raise KeyError("this one")

    caller = threading.current_thread()
    with pytest.raises(KeyError, match="this one"):
        over_ranges(work, parts(8, 1), 2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_makes_threads_of_its_own():
    over_ranges(lambda lo, hi: time.sleep(0.001), parts(8, 1), 2)
    child = os.fork()
    if child == 0:
        busy: set[int] = set()

        def work(lo: int, hi: int) -> None:
            time.sleep(0.01)
            busy.add(threading.get_ident())

        over_ranges(work, parts(8, 1), 2)
        os._exit(0 if len(busy) == 2 else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_no_more_threads_are_made_than_a_system_bears():
    before = threading.active_count()
    over_ranges(lambda lo, hi: time.sleep(0.001), parts(2000, 1), 1000)
    assert threading.active_count() - before < 256
