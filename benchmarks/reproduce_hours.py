"""How long `pine reproduce all` takes on this machine, from a sample of what it makes.

    python benchmarks/reproduce_hours.py [--names homogeneous,ladder] [--processes 2] [--slow] [--out FILE.jsonl]

Of the jobs that differ in split and seed alone, one is run (the one in the middle of their order, so of a middle share
of labels), as the runner would run it, side by side with others. Its seconds stand for all of them; of vectors that
serve many splits, those of the fit for the first, those of a regression for each of the others. What was timed is kept
in a file, so that an interruption costs one job. Nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from pine._internal.workers import Limits, Stopped, run_jobs
from pine.errors import InputError
from pine.reproduce import Machine
from pine.reproduce.catalog import experiments
from pine.reproduce.experiment import Experiment
from pine.reproduce.kinds import KINDS
from pine.reproduce.runner import NOT_MADE, Results, jobs_of
from pine.reproduce.tasks import Task

SAMPLE = 3  # tasks of a job
OF_ONE = {"seed", "part", "repeat"}  # what a task has for itself

Job = list[Task]


class Recorder:
    """In the place of a Runner: makes nothing, and remembers what it was asked for."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []

    def results(self, tasks: Iterable[Task], what: str) -> Results:
        """Nothing is kept of them."""
        wanted = list(tasks)
        self.tasks += wanted
        return dict.fromkeys(wanted, NOT_MADE)


def tasks_of(experiment: Experiment) -> list[Task]:
    """All that a run of an experiment makes; where settings are chosen, as if the first were always the best."""
    recorder = Recorder()
    KINDS[experiment.kind].rows(experiment, recorder)  # type: ignore[arg-type]
    return list(dict.fromkeys(recorder.tasks))


def alike(job: Job) -> str:
    """What jobs have in common that take as long."""
    about = job[0].describe()
    held_out = bool(about.get("part", {}).get("held_out")) and len(job) == 1
    return json.dumps({name: value for name, value in about.items() if name not in OF_ONE} | {"held out": held_out})


def timed(job: Job, machine: Machine) -> Iterator[float]:
    """The seconds of each of a job's tasks."""
    with threadpool_limits(machine.threads):
        begin = time.monotonic()
        for _ in type(job[0]).make(job, machine):
            yield time.monotonic() - begin
            begin = time.monotonic()


def seconds_of(job: Job, sample: list[float]) -> float:
    """The seconds of a job: those of its first tasks, and the last of these for each that was not run."""
    return sum(sample) + sample[-1] * (len(job) - len(sample))


def sampled(jobs: dict[str, Job], processes: int, kept: Path) -> dict[str, list[float]]:
    """The seconds of the first tasks of each job, those of a file where it has them."""
    lines = kept.read_text().splitlines() if kept.exists() else []
    found: dict[str, list[float]] = {each["job"]: each["seconds"] for each in map(json.loads, lines)}
    left = {name: job[:SAMPLE] for name, job in jobs.items() if name not in found}
    names = {task: name for name, job in left.items() for task in job}
    print(f"{len(jobs)} different jobs, {len(left)} of them to be run", flush=True)
    made: dict[str, list[float]] = defaultdict(list)
    work = partial(timed, machine=Machine(device="cpu", threads=1))
    for task, outcome in run_jobs(work, list(left.values()), processes, Limits()):
        name = names[task]
        if isinstance(outcome, Stopped):
            print(f"{name} stopped: {outcome.message}", flush=True)
            continue
        made[name].append(outcome)
        if len(made[name]) == len(left[name]):
            with kept.open("a") as file:
                file.write(json.dumps({"job": name, "seconds": made[name]}) + "\n")
    return found | made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", default="")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("build/reproduce_hours.jsonl"))
    given = parser.parse_args()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    machine, of_experiment = Machine(device="cpu", threads=1), {}
    names = given.names.split(",") if given.names else list(experiments())
    seen: set[str] = set()  # what two experiments ask for is made once
    for name in names:
        whole = experiments()[name]
        try:
            for dataset in whole.datasets:
                machine.labeled(dataset)
        except InputError as problem:
            print(f"{name} is left out: {problem}")
            continue
        keys = {task: task.key(machine) for task in tasks_of(whole if given.slow else whole.without(whole.slow))}
        of_experiment[name] = jobs_of([task for task, key in keys.items() if key not in seen], machine)
        seen.update(keys.values())
    same: dict[str, list[Job]] = defaultdict(list)
    for job in (job for jobs in of_experiment.values() for job in jobs):
        same[alike(job)].append(job)
    seconds = sampled({name: jobs[len(jobs) // 2] for name, jobs in same.items()}, given.processes, given.out)
    print("\n| experiment | results | jobs | hours of one core |\n|---|---|---|---|")
    total = 0.0
    for name, jobs in ((name, jobs) for name, jobs in of_experiment.items() if jobs):
        hours = sum(seconds_of(job, seconds[alike(job)]) for job in jobs if alike(job) in seconds) / 3600
        total += hours
        print(f"| {name} | {sum(map(len, jobs)):,} | {len(jobs):,} | {_row(jobs, seconds, hours)} |")
    left_out = [name for name in same if name not in seconds]
    if left_out:
        print(f"\nNot counted, for they were stopped: {', '.join(left_out)}")
    print(f"\nTogether {total:.1f} hours of one core, {total / given.processes:.1f} with {given.processes} processes.")


def _row(jobs: list[Job], seconds: dict[str, list[float]], hours: float) -> str:
    """The hours, and which methods take most of them."""
    by_method: dict[str, float] = defaultdict(float)
    for job in jobs:
        about: dict[str, Any] = job[0].describe()
        of_job = seconds_of(job, seconds[alike(job)]) if alike(job) in seconds else 0.0
        by_method[str(about.get("spec", about["kind"])).partition(":")[0]] += of_job / 3600
    most = sorted(by_method.items(), key=lambda each: -each[1])[:3]
    return f"{hours:.2f} ({', '.join(f'{name} {each:.2f}' for name, each in most)})"


if __name__ == "__main__":
    main()
