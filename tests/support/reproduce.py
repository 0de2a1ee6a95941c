"""A small experiment on Cora, rows made by hand, and jobs that run in this process."""

from __future__ import annotations

from typing import Any

from pine.reproduce.runner import Runner
from pine.reproduce.store import Store
from pine.reproduce.tasks import Machine

SMALL: dict[str, Any] = {
    "title": "A small one",
    "place": "nowhere",
    "kind": "scores",
    "datasets": ["cora"],
    "ratios": [0.1, 0.5],
    "repeats": 2,
    "metrics": ["accuracy"],
    "methods": [
        {"name": "spread", "spec": "label-propagation:alpha=0.0001", "search": ["label-propagation"]},
        {"name": "poor", "spec": "label-propagation:alpha=0.0001:rounds=1"},
    ],
    "claims": [{"text": "It is first.", "place": "here", "check": "first", "method": "spread"}],
}


class InProcess:
    """Runs jobs in this process, and remembers the tasks that it made."""

    def __init__(self) -> None:
        self.made: list[Any] = []

    def __call__(self, work, jobs, processes, limits):
        for job in jobs:
            self.made.extend(job)
            yield from zip(job, work(job), strict=True)


def always(outcome):
    """Jobs whose tasks all end the same."""
    return lambda work, jobs, processes, limits: ((task, outcome) for job in jobs for task in job)


def runner_in(folder, run_jobs, **options) -> Runner:
    return Runner(Store(folder / "store.sqlite"), Machine(threads=1), run_jobs=run_jobs, **options)


def row(method, ratio, accuracy, value=None, dataset="cora", repeat=0, stopped="", alone=1):
    about = {"dataset": dataset, "method": method, "panel": "", "value": value, "ratio": ratio, "repeat": repeat}
    scores = {} if stopped else {"accuracy": accuracy}
    return about | {"spec": "gcn"} | scores | {"seconds": None if stopped else 1.0, "alone": alone, "stopped": stopped}
