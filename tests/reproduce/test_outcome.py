"""From a file to rows, tables, claims, figures and a report: on real splits of Cora, and on rows made by hand."""

from __future__ import annotations

import dataclasses
import io
import json
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import pine.reproduce.command as command
import pine.reproduce.run as run
from pine import InputError
from pine.evaluation.protocol import Part
from pine.reproduce.approximation import TARGETS
from pine.reproduce.claims import verdicts
from pine.reproduce.command import Asked, reproduce
from pine.reproduce.experiment import Experiment
from pine.reproduce.figures import figures
from pine.reproduce.outcome import Outcome, amount, outcome_of
from pine.reproduce.report import as_html
from pine.reproduce.rows import read_rows, write_rows
from pine.reproduce.run import Runner
from pine.reproduce.store import Store
from pine.reproduce.tables import tables
from pine.reproduce.tasks import Machine, Score
from pine.reproduce.workers import Limits, Stopped

SMALL = {
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


@pytest.fixture
def runner(tmp_path, monkeypatch):
    """A runner that works in this process and counts what it makes."""
    made = []

    def here(work, jobs, processes, limits):
        for job in jobs:
            made.extend(job)
            yield from zip(job, work(job), strict=True)

    monkeypatch.setattr(run, "run_jobs", here)
    runner = Runner(Store(tmp_path / "store.sqlite"), Machine(threads=1))
    object.__setattr__(runner, "made", made)
    return runner


def test_settings_are_chosen_on_held_out_labels_and_results_are_made_once(runner):
    experiment = Experiment.of("small", SMALL)
    rows = outcome_of(experiment, runner).rows
    assert len(rows) == 2 * 2 * 2
    chosen = {row["spec"] for row in rows if row["method"] == "spread"}
    assert chosen == {"label-propagation"}  # without spreading it knows nothing of its neighbors' neighbors
    assert all(row["accuracy"] > 0.7 for row in rows if row["method"] == "spread")
    held_out = [unit for unit in runner.made if unit.part.held_out]
    assert len(held_out) == 2 * 4
    assert len(runner.made) == 2 * 4 + 2 * 4 == amount(experiment)
    assert outcome_of(experiment, runner).rows == rows
    assert len(runner.made) == 16
    more = outcome_of(Experiment.of("small", SMALL | {"repeats": 3}), runner).rows
    assert len(more) == 12
    assert {unit.part.repeat for unit in runner.made[16:]} == {2}


def test_vectors_without_labels_are_made_once_for_all_splits_and_on_large_data_for_all_repeats(runner):
    walks = {"name": "start", "spec": "start:dim=8", "search": ["start:dim=4"]}
    rows = outcome_of(Experiment.of("small", SMALL | {"methods": [walks], "claims": []}), runner).rows
    assert len(rows) == 4
    jobs = run.jobs_of(runner.made)
    assert len(jobs) == 2 * 2  # two settings, two seeds
    assert all(len(job) == 4 for job in jobs)  # two ratios, held out and not
    runner.made.clear()
    given = SMALL | {"methods": [{"name": "start", "spec": "start:dim=6"}], "claims": [], "one_seed": ["cora"]}
    outcome_of(Experiment.of("small", given), runner)
    assert [unit.seed for unit in runner.made] == [0] * 4
    assert len(run.jobs_of(runner.made)) == 1


def test_results_that_one_fit_serves_are_those_of_their_own_splits():
    units = [Score("cora", "start:dim=4", 0, Part(ratio, 0)) for ratio in (0.01, 0.9)]
    machine = Machine(threads=1)
    together = [result["scores"] for result in Score.make(units, machine)]
    assert together == [next(Score.make([unit], machine))["scores"] for unit in units]
    assert together[0] != together[1]


def test_what_died_is_tried_again(runner, monkeypatch):
    experiment = Experiment.of("small", SMALL | {"methods": SMALL["methods"][1:], "claims": []})
    here, died = run.run_jobs, Stopped("died", "its process ended with code 1")
    monkeypatch.setattr(run, "run_jobs", lambda work, jobs, *_: ((unit, died) for job in jobs for unit in job))
    assert {row["stopped"] for row in outcome_of(experiment, runner).rows} == {"died: its process ended with code 1"}
    monkeypatch.setattr(run, "run_jobs", here)
    assert {row["stopped"] for row in outcome_of(experiment, runner).rows} == {""}


def test_what_was_stopped_is_said_and_tried_again_with_a_larger_budget_only(runner, monkeypatch):
    stop = Stopped("time", "took more than 1 minutes")
    monkeypatch.setattr(run, "run_jobs", lambda work, jobs, *_: ((unit, stop) for job in jobs for unit in job))
    experiment = Experiment.of("small", SMALL | {"methods": SMALL["methods"][1:], "claims": []})
    rows = outcome_of(experiment, runner).rows
    assert {row["stopped"] for row in rows} == {"time: took more than 1 minutes"}
    assert "— (time)" in tables(experiment, rows)
    monkeypatch.setattr(run, "run_jobs", lambda *_: pytest.fail("nothing may be made") if _[1] else iter(()))
    assert outcome_of(experiment, runner).rows == rows
    longer = Runner(runner.store, runner.machine, limits=Limits(seconds=7200))
    with pytest.raises(pytest.fail.Exception):
        outcome_of(experiment, longer)


def test_a_mean_of_fewer_repeats_than_were_asked_for_says_of_how_many(runner):
    experiment = Experiment.of("small", SMALL | {"claims": []})
    rows = outcome_of(experiment, runner).rows
    assert " of 2)" not in tables(experiment, rows)
    last = rows[-1]
    stopped = [*rows[:-1], last | {"accuracy": None, "stopped": "memory: needed more"}]
    assert tables(experiment, stopped).count(" (1 of 2)") == 1


def forget(store, some):
    """Drop kept results: those of which some(unit) is true."""
    database = sqlite3.connect(store)
    for key, unit in database.execute("SELECT key, unit FROM results").fetchall():
        if some(json.loads(unit)):
            database.execute("DELETE FROM results WHERE key = ?", [key])
    database.commit()
    database.close()


@pytest.mark.parametrize("held_out", [False, True])
def test_what_is_kept_of_a_run_is_shown_and_a_cell_of_which_a_part_is_missing_is_left_out(
    runner, tmp_path, monkeypatch, held_out
):
    experiment = Experiment.of("small", SMALL)
    rows = outcome_of(experiment, runner).rows

    def one(unit):
        part = unit["part"]
        return (part["ratio"], part["repeat"], part["held_out"]) == (0.5, 1, held_out) and "rounds" not in unit["spec"]

    forget(tmp_path / "store.sqlite", one)
    runner.made.clear()
    kept = Runner(runner.store, runner.machine, only_kept=True)
    found = outcome_of(experiment, kept)
    left = found.rows
    assert left == [row for row in rows if (row["method"], row["ratio"]) != ("spread", 0.5)]
    assert (found.earlier, found.empty) == (0, 1)
    assert outcome_of(experiment, kept, reversed(left)) == found
    assert outcome_of(experiment, kept, rows) == Outcome(rows, 1, 0)
    assert not runner.made
    table = tables(experiment, left)
    assert "|  |" in next(line for line in table.splitlines() if line.startswith("| spread"))
    monkeypatch.setattr(command.experiments, "read", lambda name: experiment)
    reproduce(Asked(["small"], tmp_path, False, runner.machine, 1, Limits(), only_kept=True), Console(quiet=True))
    assert read_rows(tmp_path / "small.csv")[0]["accuracy"] == pytest.approx(left[0]["accuracy"], abs=1e-5)
    assert "still to be made, which are empty: 1" in (tmp_path / "report.html").read_text()
    assert not runner.made
    write_rows(rows, tmp_path / "small.csv")
    reproduce(Asked(["small"], tmp_path, False, runner.machine, 1, Limits(), only_kept=True), Console(quiet=True))
    assert [row["repeat"] for row in read_rows(tmp_path / "small.csv")] == [row["repeat"] for row in rows]
    page = (tmp_path / "report.html").read_text()
    assert "as an earlier run had them, by the code and settings of then: 1" in page
    assert "still to be made" not in page
    assert not runner.made


def test_rows_of_an_earlier_run_count_where_they_are_whole_and_of_the_experiment_as_it_is(runner):
    whole = Experiment.of("small", SMALL)
    rows = outcome_of(whole, runner).rows
    nothing = Runner(Store(Path(":memory:")), runner.machine, only_kept=True)
    assert outcome_of(whole, nothing, rows) == Outcome(rows, 4, 0)
    assert outcome_of(whole, nothing, rows[1:]) == Outcome(rows[2:], 3, 1)
    other = [row | {"spec": "label-propagation:alpha=0.3"} if row["ratio"] == 0.5 else row for row in rows]
    assert outcome_of(whole, nothing, other).earlier == 2
    without = [{key: value for key, value in row.items() if key != "accuracy"} for row in rows]
    assert outcome_of(whole, nothing, without) == Outcome([], 0, 4)
    three = Experiment.of("small", SMALL | {"repeats": 3})
    assert outcome_of(three, nothing, rows) == Outcome([], 0, 4)


def test_maps_and_errors_of_an_earlier_run_count_too(runner):
    nothing = Runner(Store(Path(":memory:")), runner.machine, only_kept=True)
    maps = Experiment.of("maps", SMALL | {"kind": "maps", "datasets": ["cora"], "claims": []})
    points = [{"dataset": "cora", "x": x, "y": 0.0, "true": 1, "predicted": 0} for x in (1.0, 2.0)]
    assert outcome_of(maps, nothing, points) == Outcome(points, 1, 0)
    assert outcome_of(maps, nothing, [point | {"dataset": "email-eu"} for point in points]) == Outcome([], 0, 1)
    sizes = Experiment.of(
        "theory", {key: SMALL[key] for key in ("title", "place")} | {"kind": "approximation", "sizes": [1, 2]}
    )
    targets = list(TARGETS)
    errors = [{"target": targets[0], "size": size, "seed": seed, "error": 0.5} for size in (1, 2) for seed in range(5)]
    assert outcome_of(sizes, nothing, errors) == Outcome(errors, 1, len(targets) - 1)
    assert outcome_of(sizes, nothing, errors[:5]) == Outcome([], 0, len(targets))


@pytest.mark.parametrize("text", ["dataset,x\ncora,1,2\n", "dataset,x\ncora\n", "dataset,x\ncora,much\n"])
def test_a_file_that_does_not_hold_rows_is_refused(tmp_path, text):
    (tmp_path / "small.csv").write_text(text)
    with pytest.raises(InputError, match="does not hold the rows of an experiment"):
        read_rows(tmp_path / "small.csv")


def test_rows_of_an_earlier_run_are_not_looked_at_where_all_is_made(runner, tmp_path, monkeypatch):
    experiment = Experiment.of("small", SMALL)
    monkeypatch.setattr(command.experiments, "read", lambda name: experiment)
    (tmp_path / "small.csv").write_text("dataset,x\ncora,much\n")
    asked = Asked(["small"], tmp_path, False, runner.machine, 1, Limits(), only_kept=True)
    with pytest.raises(InputError, match=r"small\.csv does not hold the rows"):
        reproduce(asked, Console(quiet=True))
    reproduce(dataclasses.replace(asked, only_kept=False), Console(quiet=True))
    assert len(read_rows(tmp_path / "small.csv")) == 8


def test_nothing_kept_is_shown_as_nothing(runner, tmp_path, monkeypatch):
    experiment = Experiment.of("small", SMALL)
    monkeypatch.setattr(command.experiments, "read", lambda name: experiment)
    reproduce(Asked(["small"], tmp_path, False, runner.machine, 1, Limits(), only_kept=True), Console(quiet=True))
    assert read_rows(tmp_path / "small.csv") == []
    assert "not measured" in (tmp_path / "report.html").read_text()
    assert not runner.made


def test_the_command_writes_everything_by_real_processes(tmp_path, monkeypatch):
    experiment = Experiment.of("small", SMALL | {"methods": SMALL["methods"][1:] + SMALL["methods"][:1]})
    monkeypatch.setattr(command.experiments, "names", lambda: ["small"])
    monkeypatch.setattr(command.experiments, "read", lambda name: experiment)
    asked = Asked(["all"], tmp_path, False, Machine(threads=1), 1, Limits())
    reproduce(asked, Console(quiet=True))
    written = {path.name for path in tmp_path.iterdir()}
    assert {"small.csv", "small.md", "small-cora.png", "small-cora.svg", "about.json", "report.html"} <= written
    page = (tmp_path / "report.html").read_text()
    assert "It is first." in page
    assert "<span class='yes'>holds</span>" in page
    assert "src='http" not in page  # it stands alone
    assert page.count("data:image/png;base64,") == 1


PROGRAM = """
import json, sys
from pathlib import Path
import pine.reproduce.command as command
from pine.reproduce.experiment import Experiment
from rich.console import Console
if __name__ == "__main__":
    command.experiments.read = lambda name: Experiment.of("small", json.loads(sys.argv[2]))
    asked = command.Asked(["small"], Path(sys.argv[1]), False, command.Machine(threads=1), 1, command.Limits())
    command.reproduce(asked, Console(quiet=True))
"""


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    methods = [{"name": "LP", "spec": "label-propagation:rounds={}", "values": list(range(1, 21))}]
    given = json.dumps(SMALL | {"methods": methods, "claims": []})

    def start(out):
        return subprocess.Popen([sys.executable, str(tmp_path / "program.py"), str(tmp_path / out), given])

    def count():
        path = tmp_path / "killed" / "store.sqlite"
        if not path.exists():
            return 0
        try:
            return sqlite3.connect(path).execute("SELECT count(*) FROM results").fetchone()[0]
        except sqlite3.OperationalError:
            return 0

    killed = start("killed")
    while count() < 5:
        assert killed.poll() is None
        time.sleep(0.01)
    killed.kill()
    killed.wait()
    between = count()
    assert 5 <= between < 80
    assert not (tmp_path / "killed" / "small.csv").exists()
    both = start("killed"), start("whole")  # side by side
    assert [each.wait() for each in both] == [0, 0]
    whole, again = (read_rows(tmp_path / out / "small.csv") for out in ("whole", "killed"))
    assert [row | {"seconds": 0} for row in again] == [row | {"seconds": 0} for row in whole]
    assert count() == 80


def test_data_that_is_not_at_hand_stops_one_experiment_but_not_all(tmp_path, monkeypatch):
    experiment = Experiment.of("small", SMALL | {"datasets": ["blogcatalog-hetero-standin"]})
    monkeypatch.setattr(command.experiments, "names", lambda: ["small"])
    monkeypatch.setattr(command.experiments, "read", lambda name: experiment)
    monkeypatch.delenv("PINE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    console = Console(record=True, quiet=False, file=io.StringIO())
    asked = Asked(["small"], tmp_path, False, Machine(data_dir=tmp_path), 1, Limits())
    with pytest.raises(InputError, match="cannot download it"):
        reproduce(asked, console)
    reproduce(dataclasses.replace(asked, names=["all"]), console)
    assert "small is left out" in console.export_text()


# ---- rows by hand ----


def row(method, ratio, accuracy, value=None, dataset="cora", repeat=0, stopped=""):
    about = {"dataset": dataset, "method": method, "panel": "", "value": value, "ratio": ratio, "repeat": repeat}
    scores = {} if stopped else {"accuracy": accuracy}
    return about | {"spec": "gcn"} | scores | {"seconds": None if stopped else 1.0, "stopped": stopped}


def checked(claim, rows, **more):
    experiment = Experiment.of("small", SMALL | {"claims": [{"text": "t", "place": "p"} | claim]} | more)
    return verdicts(experiment, rows)[0]


def test_first_counts_the_cells_won_and_names_the_others():
    rows = [row("A", 0.1, 0.8), row("B", 0.1, 0.7), row("A", 0.5, 0.8), row("B", 0.5, 0.7)]
    rows += [row("A", 0.9, 0.8), row("B", 0.9, 0.82)]
    verdict = checked({"check": "first", "method": "A", "second_to": "B"}, rows)
    assert (verdict.held, verdict.places, verdict.holds) == (2, 3, True)
    assert verdict.said == "holds (2 of 3)"
    alone = checked({"check": "first", "method": "A"}, rows)
    assert not alone.holds
    assert "cora at 90 % by 2.0 to B" in alone.numbers
    assert checked({"check": "first", "method": "A", "second_to": "B"}, rows[4:]).said == "does not hold"
    gone = [row("A", 0.1, 0.3), row("B", 0.1, None, stopped="time: too long")]
    assert checked({"check": "first", "method": "A"}, gone).holds


def test_above_wants_every_cell_and_rises_every_step():
    rows = [row(m, 0.5, a, value=v) for m, v, a in [("A", 8, 0.6), ("A", 16, 0.7), ("B", 8, 0.5), ("B", 16, 0.65)]]
    assert checked({"check": "above", "method": "A", "over": ["B"]}, rows).said == "holds"
    assert checked({"check": "above", "method": "B", "over": ["A"]}, rows).said == "does not hold"
    assert checked({"check": "rises", "methods": ["A", "B"]}, rows).said == "holds"
    rows[1]["accuracy"] = 0.5
    assert checked({"check": "rises", "methods": ["A", "B"]}, rows).said == "holds in 1 of 2"
    assert checked({"check": "rises", "methods": ["C"]}, rows).said == "not measured"


def test_maps_cluster_where_near_nodes_share_a_class_and_errors_fall_by_a_factor():
    rng = np.random.default_rng(0)
    classes = np.arange(200) % 2
    apart = np.stack([classes * 10.0, 0 * classes], 1) + rng.normal(size=(200, 2))

    def rows(places):
        return [
            {"dataset": "cora", "x": x, "y": y, "true": int(c), "predicted": int(c)}
            for (x, y), c in zip(places, classes, strict=True)
        ]

    assert checked({"check": "clusters"}, rows(apart), kind="maps").said == "holds"
    assert checked({"check": "clusters"}, rows(rng.normal(size=(200, 2))), kind="maps").said == "does not hold"
    errors = [{"target": "max", "size": s, "seed": 0, "error": e} for s, e in [(1, 0.9), (8, 0.2)]]
    assert checked({"check": "falls", "factor": 3}, errors, kind="approximation").said == "holds"
    assert checked({"check": "falls", "factor": 5}, errors, kind="approximation").said == "does not hold"


def test_what_is_lost_is_named_with_its_metric_where_there_are_several():
    rows = [row("A", 0.1, 0.8) | {"macro_f1": 0.5}, row("B", 0.1, 0.7) | {"macro_f1": 0.625}]
    verdict = checked({"check": "first", "method": "A"}, rows, metrics=["accuracy", "macro_f1"])
    assert verdict.numbers == "first in 1 of 2; behind others on cora at 10 % (macro F1) by 12.5 to B"


def test_rows_come_back_from_their_file_and_make_the_same_tables(tmp_path):
    rows = [row("A", 0.1, 0.8), row("A", 0.1, 0.9, repeat=1), row("B", 0.1, None, stopped="memory: too much")]
    write_rows(rows, tmp_path / "rows.csv")
    again = read_rows(tmp_path / "rows.csv")
    experiment = Experiment.of("small", SMALL)
    assert tables(experiment, again) == tables(experiment, rows)
    assert "| A | **85.0 ±7.1** | 1.0 |" in tables(experiment, rows)
    assert "| B | — (memory) |  |" in tables(experiment, rows)
    assert "| A | 85.0 ±7.1 | 1.0 |" in tables(experiment, rows[:2]), "there is nothing that it is the best of"


@pytest.mark.parametrize("ratios", [(0.5,), (0.1, 0.5, 0.9)])
def test_figures_are_drawn_as_png_and_svg(tmp_path, ratios):
    rows = [row(m, r, 0.5 + r / 4, repeat=k) for m in "AB" for r in ratios for k in (0, 1)]
    made = figures(Experiment.of("small", SMALL), rows, tmp_path)
    assert [path.name for path in made] == ["small-cora.png"]
    assert (tmp_path / "small-cora.svg").read_text().lstrip().startswith("<?xml")


@pytest.mark.parametrize(("low", "written"), [(0.3, True), (0.8, False)])
def test_a_method_far_below_the_first_is_written_at_the_edge_and_does_not_press_the_others(tmp_path, low, written):
    scores = {"A": 0.85, "B": 0.84, "C": low}
    rows = [row(m, r, score, repeat=k) for m, score in scores.items() for r in (0.1, 0.5) for k in (0, 1)]
    figures(Experiment.of("small", SMALL), rows, tmp_path)
    assert ("\u25c2 30.0" in (tmp_path / "small-cora.svg").read_text(encoding="utf-8")) == written


@pytest.mark.parametrize("methods", ["ABCD", "ABCDE"])
def test_many_methods_are_also_compared_closely_with_the_first(tmp_path, methods):
    rows = [row(m, r, 0.5 + r / 4, repeat=k) for m in methods for r in (0.1, 0.5, 0.9) for k in (0, 1, 2)]
    rows.append(row("G", 0.1, None, stopped="time: too long"))
    rows[-2] = rows[-2] | {"stopped": "time: too long"}  # the other two repeats were finished
    figures(Experiment.of("small", SMALL), rows, tmp_path)
    # Text is drawn, and said in a comment.
    assert ("points above A" in (tmp_path / "small-cora.svg").read_text()) == (methods == "ABCDE")


def test_tables_become_html_without_a_way_in_for_markup():
    page = as_html("**cora**\n\n| a <b> | c |\n|---|---|\n| **1** | 2 |\n\na note")
    assert page.count("<table>") == page.count("</table>") == 1
    assert "<th>a &lt;b&gt;</th>" in page
    assert "<td><b>1</b></td>" in page
    assert "<p>a note</p>" in page
