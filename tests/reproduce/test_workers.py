"""Real processes: results come back, and what goes beyond its limits is stopped without harm to the rest."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pine import InputError
from pine.nn.device import device_of
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
    elif kind == "no device":
        device_of("abacus")
    elif kind == "fail":
        raise ValueError("a bug")
    elif kind == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    return number + 1


def test_jobs_end_with_a_result_or_with_a_reason():
    jobs = [
        ("add", 1),
        ("sleep", 2),
        ("refuse", 3),
        ("hoard", 4),
        ("die", 5),
        ("fail", 7),
        ("add", 6),
        ("no device", 8),
    ]
    done = dict(run_jobs(work, jobs, 2, Limits(seconds=8, memory=500 * 2**20)))
    assert len(done) == len(jobs)
    assert (done["add", 1], done["add", 6]) == (2, 7)
    assert done["refuse", 3] == Stopped("error", "no 3")
    assert done["sleep", 2].why == "time"
    assert done["hoard", 4].why == "memory"
    assert done["fail", 7].why == done["no device", 8].why == "died"  # and may live another time
    assert "device 'abacus' cannot be used here" in done["no device", 8].said
    assert done["die", 5].why == "memory"  # killed from outside: the system was out of it


def test_nothing_to_do_starts_nothing():
    assert list(run_jobs(work, [], 2, Limits())) == []


PROGRAM = """
import time
from pine.reproduce.workers import Limits, run_jobs
if __name__ == "__main__":
    list(run_jobs(time.sleep, [120], 1, Limits()))
"""


def children(pid):
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(status.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(status.parent)
    return found


@pytest.mark.skipif(not Path("/proc").exists(), reason="needs /proc")
def test_a_worker_at_work_ends_with_the_process_that_started_it(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    parent = subprocess.Popen([sys.executable, str(tmp_path / "program.py")])
    time.sleep(8)  # until it sleeps
    workers = children(parent.pid)
    assert workers
    parent.kill()
    parent.wait()
    end = time.monotonic() + 20
    while any(worker.exists() for worker in workers):
        assert time.monotonic() < end
        time.sleep(0.05)
