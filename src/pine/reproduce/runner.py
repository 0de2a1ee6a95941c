"""Makes the tasks of experiments, each once: what the store has is not made again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from threadpoolctl import threadpool_limits

from pine._internal.parallel import number_of_threads
from pine._internal.progress import ProgressCounter
from pine._internal.workers import Limits, Stopped, run_jobs
from pine.reproduce.store import Store
from pine.reproduce.tasks import Machine, Task

Result = dict[str, Any]
Results = dict[Task, Result]  # {"stopped": why, "message": ...} for what could not be made
NOT_MADE = {"stopped": "not made", "message": "nothing is kept of it"}
RunJobs = Callable[[Callable[[Any], Iterable[Any]], Sequence[Sequence[Any]], int, Limits], Iterator[tuple[Any, Any]]]


@dataclass(frozen=True)
class Runner:
    """Makes tasks that the store does not have, on several processes, and keeps their results.

    only_kept: makes nothing. run_jobs: how jobs are run, by default in processes of their own.
    """

    store: Store
    machine: Machine
    processes: int = 1
    limits: Limits = field(default_factory=Limits)
    work: ProgressCounter = field(default_factory=lambda: ProgressCounter(None, "results"))
    only_kept: bool = False
    run_jobs: RunJobs = run_jobs

    def results(self, tasks: Iterable[Task], what: str) -> Results:
        """The results of tasks, kept or made; what: describes them in the progress."""
        wanted = list(dict.fromkeys(tasks))
        keys = {task: task.key(self.machine) for task in wanted}
        kept = self.store.get(keys.values())
        done = {task: kept[key] for task, key in keys.items() if key in kept and self._final(kept[key])}
        missing = [task for task in wanted if task not in done]
        self.work.advance(len(done), what)
        if self.only_kept:
            return done | dict.fromkeys(missing, NOT_MADE)
        jobs = jobs_of(missing, self.machine)
        work = partial(make, machine=self._share(len(jobs)))
        for task, outcome in self.run_jobs(work, jobs, self.processes, self.limits):
            result = done[task] = self._result(outcome)
            if result.get("stopped") != "died":  # next time it may live
                self.store.put(keys[task], task.describe(), result)
            self.work.advance(1, f"{what}: {task.title}")
        return done

    def _final(self, result: Result) -> bool:
        """What was stopped by a smaller budget is tried again."""
        if result.get("stopped") not in ("time", "memory"):
            return True
        return bool(result["seconds"] >= self.limits.seconds and result["memory"] >= self.limits.memory)

    def _result(self, outcome: Any) -> Result:
        if not isinstance(outcome, Stopped):
            # Seconds of fits side by side are no price: these share caches, cores and the GPU.
            return {**outcome, "alone": self.processes == 1 and outcome.get("alone", True)}
        return {"stopped": outcome.why, "message": outcome.message, **asdict(self.limits)}

    def _share(self, jobs: int) -> Machine:
        """The machine of one process: its share of the cores."""
        threads = max(1, number_of_threads(self.machine.threads) // max(1, min(self.processes, jobs)))
        return replace(self.machine, threads=threads)


def stop_text(result: Mapping[str, Any]) -> str:
    """Why there is no result."""
    return f"{result['stopped']}: {result['message']}"


def jobs_of(tasks: Sequence[Task], machine: Machine) -> list[list[Task]]:
    """Tasks in groups that are made together on a machine."""
    groups: dict[Any, list[Task]] = defaultdict(list)
    for task in tasks:
        groups[task.fit_key(machine)].append(task)
    return list(groups.values())


def make(job: list[Any], machine: Machine) -> Iterator[Result]:
    """The results of one job, in the process of a worker."""
    with threadpool_limits(machine.threads):
        yield from type(job[0]).make(job, machine)
