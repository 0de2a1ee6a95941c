"""Work in several processes, each result within limits of time and memory; what exceeds them is stopped.

A job is a few tasks that are made together, one after another: work(job) yields the result of each.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import pickle
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from pine.errors import DeviceError, InputError

POLL_SECONDS = 0.5  # between two checks of the workers' limits


@dataclass(frozen=True)
class Limits:
    """Of one result: seconds since its job began or the result before it came, and bytes that its process holds."""

    seconds: float = 30 * 60
    memory: float = 16 * 2**30

    @property
    def text(self) -> str:
        """The budget in words."""
        return f"{self.seconds / 60:g} minutes and {self.memory / 2**30:g} GiB"


@dataclass(frozen=True)
class Stopped:
    """Why there is no result, and a sentence: "time", "memory", "error" (refused) or "died" (next time it may live)."""

    why: str
    message: str


class _Begun:
    """What a process sends before it begins a job."""


class _Worker:
    """A process that takes one job after another."""

    def __init__(self, work: Callable[[Any], Iterable[Any]]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        # Pickled here, so that the process is one that ends with its parent before it imports what work needs.
        self.process = context.Process(target=_serve, args=(pickle.dumps(work), theirs), daemon=True)
        with _without_ctrl_c():
            self.process.start()
        theirs.close()
        self.left: deque[Any] = deque()  # tasks of its job without a result
        self.begin = 0.0

    def give(self, job: Sequence[Any]) -> None:
        self.left, self.begin = deque(job), math.inf  # a new process takes a while until it begins
        with suppress(OSError):  # a process that has died is found where its result is waited for
            self.pipe.send(job)

    def taken(self, outcome: Any) -> list[tuple[Any, Any]]:
        """A result is that of the next task; a stop is one for all that are left."""
        self.begin = time.monotonic()
        count = len(self.left) if isinstance(outcome, Stopped) else 1
        return [(self.left.popleft(), outcome) for _ in range(count)]

    def over(self, limits: Limits) -> Stopped | None:
        """Whether it has gone beyond a limit."""
        if time.monotonic() - self.begin > limits.seconds:
            return Stopped("time", f"took more than {limits.seconds / 60:g} minutes")
        if _resident(self.process.pid) > limits.memory:
            return Stopped("memory", f"took more than {limits.memory / 2**30:g} GiB")
        return None

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def run_jobs(
    work: Callable[[Any], Iterable[Any]], jobs: Sequence[Sequence[Any]], processes: int, limits: Limits
) -> Iterator[tuple[Any, Any]]:
    """(task, its result or Stopped), as they come; work is a function of a module, tasks and results are plain data."""
    left = deque(jobs)
    workers = [_Worker(work) for _ in range(min(processes, len(left)))]
    try:
        for worker in workers:
            worker.give(left.popleft())
        while workers:
            wait([worker.pipe for worker in workers], POLL_SECONDS)
            for slot, worker in enumerate(workers):
                goes_on = True
                while worker.left and (outcome := _outcome(worker, limits)) is not None:
                    result, goes_on = outcome
                    yield from worker.taken(result)
                if worker.left:
                    continue
                if not left:
                    worker.end()
                elif not goes_on:  # it was stopped, or died
                    worker.end()
                    workers[slot] = _Worker(work)
                    workers[slot].give(left.popleft())
                else:
                    worker.give(left.popleft())
            workers = [worker for worker in workers if worker.left]
    finally:
        for worker in workers:
            worker.end()


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """A process that is started inside gets no Ctrl-C, which a terminal sends to all: who started it will end it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _outcome(worker: _Worker, limits: Limits) -> tuple[Any, bool] | None:
    """A worker's next result, and whether it can go on; None while it is at work."""
    if worker.pipe.poll():
        try:
            message = worker.pipe.recv()
            if isinstance(message, _Begun):
                worker.begin = time.monotonic()
                return None
            return message, True
        except (EOFError, OSError):  # the second where it died before it read its job
            worker.process.join()
            code = worker.process.exitcode
            return Stopped("memory" if code == -9 else "died", f"its process ended with code {code}"), False
    stopped = worker.over(limits)
    return None if stopped is None else (stopped, False)


def _serve(pickled: bytes, pipe: Connection) -> None:
    warnings.simplefilter("ignore")  # nobody could tell which task they are of
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # whatever the main module does on it
    threading.Thread(target=_end_with_parent, daemon=True).start()
    work: Callable[[Any], Iterable[Any]] = pickle.loads(pickled)
    with suppress(BrokenPipeError, ConnectionResetError):  # whoever asked has ended: nobody wants to know more
        while True:
            try:
                job = pipe.recv()
            except EOFError:
                return
            pipe.send(_Begun())
            try:
                for _, result in zip(job, work(job), strict=True):
                    pipe.send(result)
            except DeviceError as problem:
                pipe.send(Stopped("died", str(problem)))
            except InputError as problem:
                pipe.send(Stopped("error", str(problem)))
            except MemoryError:
                pipe.send(Stopped("memory", "there is not enough memory"))


def _end_with_parent() -> None:
    """A job would go on for nobody after the process that asked for it was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _resident(pid: int | None) -> int:
    """Bytes that a process holds; 0 where the system does not say."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0
