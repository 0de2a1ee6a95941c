"""The forecast of a whole run: it counts what a run makes, and long jobs by their first tasks."""

from __future__ import annotations

import pytest
from support.benchmarks import load_benchmark

from pine.reproduce import Machine
from pine.reproduce.catalog import experiments
from pine.reproduce.kinds import KINDS
from pine.reproduce.runner import jobs_of

reproduce_hours = load_benchmark("reproduce_hours")


@pytest.mark.parametrize("name", ["ablation", "untouched", "links"])
def test_the_forecast_counts_as_many_results_as_a_run_plans(name):
    whole = experiments()[name]
    assert len(reproduce_hours.tasks_of(whole)) == KINDS[whole.kind].num_tasks(whole)


def test_fits_that_differ_in_split_and_seed_alone_are_alike():
    tasks = reproduce_hours.tasks_of(experiments()["ablation"])
    same = {reproduce_hours.alike(job) for job in jobs_of(tasks, Machine())}
    settings = {(task.dataset, task.spec) for task in tasks}
    assert len(same) == len(settings) < len(tasks)


def test_a_job_takes_the_seconds_of_its_first_tasks_and_the_last_of_these_for_each_other():
    assert reproduce_hours.seconds_of([None] * 5, [10.0, 1.0, 2.0]) == 17.0
    assert reproduce_hours.seconds_of([None], [4.0]) == 4.0
