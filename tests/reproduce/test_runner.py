"""What is made, kept and tried again."""

from __future__ import annotations

import dataclasses

from support.reproduce import SMALL, InProcess, always

from pine._internal.workers import Limits, Stopped
from pine.reproduce.catalog import experiment_of
from pine.reproduce.kinds import KINDS
from pine.reproduce.outcome import outcome_of

ONE = SMALL | {"methods": SMALL["methods"][1:], "claims": []}


def test_what_died_is_tried_again(runner):
    experiment = experiment_of("small", ONE)
    dying = dataclasses.replace(runner, run_jobs=always(Stopped("died", "its process ended with code 1")))
    assert {row["stopped"] for row in outcome_of(experiment, dying).rows} == {"died: its process ended with code 1"}
    assert {row["stopped"] for row in outcome_of(experiment, runner).rows} == {""}


def test_what_was_stopped_is_reported_and_tried_again_with_a_larger_budget_only(runner):
    experiment = experiment_of("small", ONE)
    stopped = dataclasses.replace(runner, run_jobs=always(Stopped("time", "took more than 1 minutes")))
    rows = outcome_of(experiment, stopped).rows
    assert {row["stopped"] for row in rows} == {"time: took more than 1 minutes"}
    assert "— (time)" in KINDS["scores"].tables(experiment, rows)
    assert outcome_of(experiment, runner).rows == rows
    assert not runner.run_jobs.made
    longer = dataclasses.replace(runner, limits=Limits(seconds=7200))
    assert {row["stopped"] for row in outcome_of(experiment, longer).rows} == {""}
    assert len(runner.run_jobs.made) == 4


def test_each_process_has_its_share_of_the_cores(runner):
    seen = []

    class Watched(InProcess):
        def __call__(self, work, jobs, processes, limits):
            seen.append(work.keywords["machine"].threads)
            return super().__call__(work, jobs, processes, limits)

    wide = dataclasses.replace(runner.machine, threads=4)
    two = dataclasses.replace(runner, machine=wide, processes=2, run_jobs=Watched())
    outcome_of(experiment_of("small", ONE), two)
    assert seen[-1] == 2
