"""Real processes: results come back, and what goes beyond its limits is stopped without harm to the rest."""

from __future__ import annotations

import os
import signal
import time

from pine import InputError
from pine.reproduce.workers import Limits, Stopped, run_jobs


def work(job):
    kind, number = job
    if kind == "sleep":
        time.sleep(60)
    elif kind == "hoard":
        held = bytearray(600 * 2**20)
        held[::4096] = b"x" * len(held[::4096])
        time.sleep(60)
    elif kind == "refuse":
        raise InputError(f"no {number}")
    elif kind == "fail":
        raise ValueError("a bug")
    elif kind == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    return number + 1


def test_jobs_end_with_a_result_or_with_a_reason():
    jobs = [("add", 1), ("sleep", 2), ("refuse", 3), ("hoard", 4), ("die", 5), ("fail", 7), ("add", 6)]
    done = dict(run_jobs(work, jobs, 2, Limits(seconds=8, memory=500 * 2**20)))
    assert len(done) == len(jobs)
    assert (done["add", 1], done["add", 6]) == (2, 7)
    assert done["refuse", 3] == Stopped("error", "no 3")
    assert done["sleep", 2].why == "time"
    assert done["hoard", 4].why == "memory"
    assert done["fail", 7].why == "died"
    assert done["die", 5].why == "memory"  # killed from outside: the system was out of it


def test_nothing_to_do_starts_nothing():
    assert list(run_jobs(work, [], 2, Limits())) == []
