"""Real processes: results come back, and what goes beyond its limits is stopped without harm to the rest."""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pine._internal import workers
from pine._internal.workers import Limits, Stopped, run_jobs
from pine.errors import DeviceError, InputError


def work(job):
    for kind, number in job:
        if kind == "sleep":
            time.sleep(60)
        elif kind == "nap":
            time.sleep(0.7)
        elif kind == "hoard":
            held = bytearray(2**30)
            held[::4096] = b"x" * len(held[::4096])
            time.sleep(60)
        elif kind == "refuse":
            raise InputError(f"no {number}")
        elif kind == "no device":
            raise DeviceError("device 'abacus' cannot be used here")
        elif kind == "fail":
            raise ValueError("a bug")
        elif kind == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        elif kind == "ctrl-c":
            signal.raise_signal(signal.SIGINT)
        yield None if kind == "nothing" else number + 1


def test_tasks_end_with_a_result_or_with_a_reason():
    jobs = [
        [("add", 1)],
        [("sleep", 2)],
        [("add", 11), ("refuse", 3), ("add", 12)],
        [("die", 5)],
        [("fail", 7)],
        [("add", 6), ("nothing", 10), ("add", 9)],
        [("no device", 8)],
        [("ctrl-c", 14)],
    ]
    made = list(run_jobs(work, jobs, 2, Limits(seconds=4, memory=2**30)))
    done = dict(made)
    assert len(made) == len(done) == sum(map(len, jobs))
    assert [done["add", number] for number in (1, 6, 9, 11)] == [2, 7, 10, 12]
    assert done["nothing", 10] is None
    assert done["ctrl-c", 14] == 15  # a terminal sends it to all processes, and who started them ends them
    assert done["refuse", 3] == done["add", 12]  # what was made before is kept, the rest of its job is not made
    assert done["refuse", 3] == Stopped("error", "no 3")
    assert done["sleep", 2].why == "time"
    assert done["fail", 7].why == done["no device", 8].why == "died"  # and may live another time
    assert "device 'abacus' cannot be used here" in done["no device", 8].message
    assert done["die", 5].why == "memory"  # killed from outside: the system was out of it


def test_a_task_that_takes_too_much_memory_is_stopped():
    """With time to spare: on a busy machine a gibibyte is not filled in a few seconds."""
    made = dict(run_jobs(work, [[("hoard", 4)], [("add", 1)]], 2, Limits(seconds=50, memory=2**30)))
    assert made["hoard", 4].why == "memory"
    assert made["add", 1] == 2


def test_a_process_that_dies_just_after_it_was_asked_loses_no_task(monkeypatch):
    asked = []

    def asked_too_early(worker, limits, ask=workers._outcome):
        asked.append(worker)
        if len(asked) == 1:
            worker.process.join()
            return None
        return ask(worker, limits)

    monkeypatch.setattr(workers, "_outcome", asked_too_early)
    [(task, outcome)] = run_jobs(work, [[("die", 5)]], 1, Limits())
    assert (task, outcome.why) == (("die", 5), "memory")


@pytest.mark.parametrize("killed_first", [False, True])
def test_a_process_that_dies_before_it_reads_its_job_is_replaced(monkeypatch, killed_first):
    given = []

    def give(worker, job, give=workers._Worker.give):
        given.append(worker)
        for kill in (killed_first, not killed_first):
            if not kill:
                give(worker, job)
            elif len(given) == 1:
                worker.process.kill()
                worker.process.join()

    monkeypatch.setattr(workers._Worker, "give", give)
    made = dict(run_jobs(work, [[("add", 1)], [("add", 2)]], 1, Limits()))
    assert made["add", 1].why == "memory"
    assert made["add", 2] == 3


@pytest.mark.parametrize("kind", ["add", "refuse"])
def test_a_worker_whose_parent_has_ended_says_nothing(kind, capfd):
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=workers._serve, args=(pickle.dumps(work), theirs))
    process.start()
    ours.send([(kind, 1)])
    ours.close()
    theirs.close()
    process.join(60)
    assert process.exitcode == 0
    assert capfd.readouterr().err == ""


SLOWLY_IMPORTED = """
import multiprocessing, time

if multiprocessing.parent_process() is not None:
    time.sleep(1)

def work(job):
    yield from (number + 1 for number in job)
"""


def test_each_result_of_a_job_has_the_whole_time():
    job = [("nap", 1), ("nap", 2), ("nap", 5), ("sleep", 3), ("add", 4)]
    *naps, late, unmade = run_jobs(work, [job], 1, Limits(seconds=1.5))
    assert naps == [(("nap", 1), 2), (("nap", 2), 3), (("nap", 5), 6)]  # 2.1 seconds in all
    assert late[1] == unmade[1] == Stopped("time", "took more than 0.025 minutes")


def test_the_start_of_a_process_takes_nothing_from_the_time_of_its_job(tmp_path, monkeypatch):
    (tmp_path / "slowly_imported.py").write_text(SLOWLY_IMPORTED)
    monkeypatch.syspath_prepend(tmp_path)
    begin = time.monotonic()
    slowly_imported = importlib.import_module("slowly_imported")
    assert list(run_jobs(slowly_imported.work, [[1]], 1, Limits(seconds=0.5))) == [(1, 2)]
    assert time.monotonic() - begin > 1


def test_nothing_to_do_starts_nothing():
    assert list(run_jobs(work, [], 2, Limits())) == []


PROGRAM = """
from pine._internal.workers import Limits, run_jobs

if __name__ == "__main__":
    from jobs import work

    list(run_jobs(work, [[120]], 1, Limits()))
"""
JOBS = """
import multiprocessing, time

def work(job):
    yield time.sleep(job[0])
"""
LONG_IMPORT = """
if multiprocessing.parent_process() is not None:
    time.sleep(120)
"""


def children(pid):
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(status.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(status.parent)
    return found


@pytest.mark.skipif(not Path("/proc").exists(), reason="needs /proc")
@pytest.mark.parametrize("jobs", [JOBS, JOBS + LONG_IMPORT], ids=["at work", "importing what work needs"])
def test_a_worker_ends_with_the_process_that_started_it(tmp_path, jobs):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "jobs.py").write_text(jobs)
    parent = subprocess.Popen([sys.executable, str(tmp_path / "program.py")])
    end = time.monotonic() + 60
    while not (workers := children(parent.pid)):
        assert time.monotonic() < end
        time.sleep(0.05)
    time.sleep(3)  # until it sleeps
    parent.kill()
    parent.wait()
    end = time.monotonic() + 20
    while any(worker.exists() for worker in workers):
        assert time.monotonic() < end
        time.sleep(0.05)
