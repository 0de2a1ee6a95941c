"""From an experiment to rows: those of this run, and with only_kept those of earlier ones."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
from pathlib import Path

import pytest
from support.reproduce import SMALL

from pine.reproduce.approximation import TARGETS
from pine.reproduce.catalog import experiment_of
from pine.reproduce.kinds import KINDS
from pine.reproduce.outcome import Outcome, outcome_of
from pine.reproduce.store import Store


def forget(store, some):
    """Drop kept results: those of which some(task) is true."""
    database = sqlite3.connect(store)
    for key, task in database.execute("SELECT key, unit FROM results").fetchall():
        if some(json.loads(task)):
            database.execute("DELETE FROM results WHERE key = ?", [key])
    database.commit()
    database.close()


@pytest.mark.parametrize("held_out", [False, True])
def test_what_is_kept_of_a_run_is_shown_and_a_cell_of_which_a_part_is_missing_is_left_out(runner, tmp_path, held_out):
    experiment = experiment_of("small", SMALL)
    rows = outcome_of(experiment, runner).rows

    def one(task):
        part = task["part"]
        return (part["ratio"], part["repeat"], part["held_out"]) == (0.5, 1, held_out) and "rounds" not in task["spec"]

    forget(tmp_path / "store.sqlite", one)
    runner.run_jobs.made.clear()
    kept = dataclasses.replace(runner, only_kept=True)
    found = outcome_of(experiment, kept)
    left = found.rows
    assert left == [row for row in rows if (row["method"], row["ratio"]) != ("spread", 0.5)]
    assert (found.earlier, found.empty) == (0, 1)
    assert outcome_of(experiment, kept, reversed(left)) == found
    assert outcome_of(experiment, kept, rows) == Outcome(rows, 1, 0)
    assert not runner.run_jobs.made
    table = KINDS[experiment.kind].tables(experiment, left)
    assert "|  |" in next(line for line in table.splitlines() if line.startswith("| spread"))


def test_rows_of_an_earlier_run_count_where_they_are_whole_and_of_the_experiment_as_it_is(runner):
    whole = experiment_of("small", SMALL)
    rows = outcome_of(whole, runner).rows
    nothing = dataclasses.replace(runner, store=Store(Path(":memory:")), only_kept=True)
    assert outcome_of(whole, nothing, rows) == Outcome(rows, 4, 0)
    assert outcome_of(whole, nothing, rows[1:]) == Outcome(rows[2:], 3, 1)
    other = [row | {"spec": "label-propagation:alpha=0.3"} if row["ratio"] == 0.5 else row for row in rows]
    assert outcome_of(whole, nothing, other).earlier == 2
    without = [{key: value for key, value in row.items() if key != "accuracy"} for row in rows]
    assert outcome_of(whole, nothing, without) == Outcome([], 0, 4)
    three = experiment_of("small", SMALL | {"repeats": 3})
    assert outcome_of(three, nothing, rows) == Outcome([], 0, 4)


def test_maps_and_errors_of_an_earlier_run_count_too(runner):
    nothing = dataclasses.replace(runner, store=Store(Path(":memory:")), only_kept=True)
    maps = experiment_of("maps", SMALL | {"kind": "maps", "datasets": ["cora"], "claims": []})
    points = [{"dataset": "cora", "x": x, "y": 0.0, "true": 1, "predicted": 0} for x in (1.0, 2.0)]
    assert outcome_of(maps, nothing, points) == Outcome(points, 1, 0)
    assert outcome_of(maps, nothing, [point | {"dataset": "email-eu"} for point in points]) == Outcome([], 0, 1)
    sizes = experiment_of(
        "theory", {key: SMALL[key] for key in ("title", "place")} | {"kind": "approximation", "sizes": [1, 2]}
    )
    targets = list(TARGETS)
    errors = [{"target": targets[0], "size": size, "seed": seed, "error": 0.5} for size in (1, 2) for seed in range(5)]
    assert outcome_of(sizes, nothing, errors) == Outcome(errors, 1, len(targets) - 1)
    assert outcome_of(sizes, nothing, errors[:5]) == Outcome([], 0, len(targets))


def test_slow_methods_are_made_where_that_is_asked_for_and_else_stay_as_they_were(runner):
    spread, poor = SMALL["methods"]
    whole = experiment_of("small", SMALL | {"methods": [spread | {"slow": True}, poor]})
    alone = outcome_of(whole, runner, left=whole.slow)
    assert {row["method"] for row in alone.rows} == {"poor"}
    assert alone.empty == alone.earlier == 0
    assert not any("rounds" not in task.spec for task in runner.run_jobs.made)
    rows = outcome_of(whole, runner).rows
    assert [row["method"] for row in rows] == ["spread"] * 4 + ["poor"] * 4
    before = [row | {"accuracy": 0.5} for row in rows]
    runner.run_jobs.made.clear()
    kept = outcome_of(whole, runner, before, ["spread"])
    assert kept == Outcome(before[:4] + rows[4:], earlier=2)
    assert outcome_of(whole, runner, before[1:], ["spread"]).earlier == 1, "half a cell is none"
    assert not runner.run_jobs.made
