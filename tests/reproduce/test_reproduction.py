"""Experiments from their names to a folder with rows, tables, figures and the report."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
import subprocess
import sys
import time

import pytest
from support.reproduce import SMALL, InProcess

from pine import InputError
from pine.reproduce.catalog import experiment_of
from pine.reproduce.reproduction import ReproduceOptions, reproduce
from pine.reproduce.rows import read_rows, write_rows
from pine.reproduce.tasks import Machine


@pytest.fixture
def known():
    return {"small": experiment_of("small", SMALL)}


@pytest.fixture
def options(tmp_path):
    return ReproduceOptions(["small"], tmp_path, machine=Machine(threads=1))


def test_everything_is_written_by_real_processes(options):
    given = SMALL | {"methods": SMALL["methods"][1:] + SMALL["methods"][:1]}
    seen, progress = [], []
    report = reproduce(
        dataclasses.replace(options, names=["all"]),
        lambda done, planned, what: progress.append((done, planned)),
        lambda experiment, verdict: seen.append((experiment.name, verdict.summary)),
        known={"small": experiment_of("small", given)},
    )
    written = {path.name for path in options.out.iterdir()}
    assert {"small.csv", "small.md", "small-cora.png", "small-cora.svg", "about.json", "report.html"} <= written
    assert seen == [("small", "holds")]
    assert progress[-1] == (16, 16)
    page = report.read_text()
    assert "It is first." in page
    assert "<span class='yes'>holds</span>" in page
    assert "src='http" not in page  # it stands alone
    assert page.count("data:image/png;base64,") == 1


def test_with_only_kept_rows_of_an_earlier_run_fill_what_is_not_kept(options, known):
    jobs = InProcess()
    reproduce(options, known=known, run_jobs=jobs)
    rows = read_rows(options.out / "small.csv")
    store = sqlite3.connect(options.out / "store.sqlite")
    ((key, _),) = [
        (key, task)
        for key, text in store.execute("SELECT key, unit FROM results").fetchall()
        if (task := json.loads(text))["spec"] == "label-propagation"
        and task["part"] == {"ratio": 0.5, "repeat": 1, "held_out": False}
    ]
    store.execute("DELETE FROM results WHERE key = ?", [key])
    store.commit()
    store.close()
    jobs.made.clear()
    kept = dataclasses.replace(options, only_kept=True)
    (options.out / "small.csv").unlink()
    reproduce(kept, known=known, run_jobs=jobs)
    left = read_rows(options.out / "small.csv")
    assert left == [each for each in rows if (each["method"], each["ratio"]) != ("spread", 0.5)]
    assert "still to be made, which are empty: 1" in (options.out / "report.html").read_text()
    write_rows(rows, options.out / "small.csv")
    reproduce(kept, known=known, run_jobs=jobs)
    assert read_rows(options.out / "small.csv") == rows
    page = (options.out / "report.html").read_text()
    assert "as an earlier run had them, by the code and settings of then: 1" in page
    assert "still to be made" not in page
    assert not jobs.made


def test_rows_of_an_earlier_run_are_not_looked_at_where_all_is_made(options, known):
    (options.out / "small.csv").write_text("dataset,x\ncora,much\n")
    with pytest.raises(InputError, match=r"small\.csv does not hold the rows"):
        reproduce(dataclasses.replace(options, only_kept=True), known=known)
    reproduce(options, known=known, run_jobs=InProcess())
    assert len(read_rows(options.out / "small.csv")) == 8


def test_experiments_that_are_not_asked_for_are_in_the_report_as_the_folder_has_them(options, known):
    other = experiment_of("other", SMALL | {"title": "Another one"})
    both = {"other": other, **known}
    reproduce(dataclasses.replace(options, names=["other"]), known=both, run_jobs=InProcess())
    rows = read_rows(options.out / "other.csv")
    write_rows(rows[1:], options.out / "other.csv")
    jobs = InProcess()
    page = reproduce(options, known=both, run_jobs=jobs).read_text()
    assert page.index("Another one") < page.index("A small one")
    assert read_rows(options.out / "other.csv") == rows[1:], "what was not asked for stays"
    assert "by the code and settings of then: 3" in page


def test_an_experiment_whose_data_is_not_at_hand_is_shown_as_the_folder_has_it(options, known):
    reproduce(options, known=known, run_jobs=InProcess())
    rows = read_rows(options.out / "small.csv")

    def load(name, data_dir):
        raise InputError("it is not there")

    away = dataclasses.replace(options, names=["all"], machine=Machine(load=load))
    page = reproduce(away, known=known, run_jobs=InProcess()).read_text()
    assert read_rows(options.out / "small.csv") == rows
    assert "by the code and settings of then: 4" in page
    assert "Not measured" not in page


def test_nothing_kept_is_shown_as_nothing(options, known):
    jobs = InProcess()
    report = reproduce(dataclasses.replace(options, only_kept=True), known=known, run_jobs=jobs)
    assert read_rows(options.out / "small.csv") == []
    assert "not measured" in report.read_text()
    assert not jobs.made


@pytest.mark.parametrize("kept", ["store.sqlite", "all.tsv.xz"])
def test_results_are_taken_from_the_store_of_another_folder_or_its_archive(options, known, tmp_path, kept):
    reproduce(dataclasses.replace(options, archive=tmp_path / "all.tsv.xz"), known=known, run_jobs=InProcess())
    messages: list[str] = []
    again = InProcess()
    other = dataclasses.replace(options, out=tmp_path / "other", take=[tmp_path / kept])
    reproduce(other, on_message=messages.append, known=known, run_jobs=again)
    assert messages == [f"16 results taken from {tmp_path / kept}"]
    assert not again.made
    assert read_rows(tmp_path / "other" / "small.csv") == read_rows(tmp_path / "small.csv")


def test_an_archive_of_another_name_is_refused_before_anything_is_made(options, known, tmp_path):
    jobs = InProcess()
    with pytest.raises(InputError, match=r"is named ...\.tsv\.xz"):
        reproduce(dataclasses.replace(options, archive=tmp_path / "all.zip"), known=known, run_jobs=jobs)
    assert not jobs.made


def test_a_quick_run_is_a_slice(options):
    given = experiment_of("small", SMALL | {"quick": {"ratios": [0.5], "methods": ["poor"]}, "claims": []})
    report = reproduce(dataclasses.replace(options, quick=True), known={"small": given}, run_jobs=InProcess())
    assert [(each["method"], each["ratio"]) for each in read_rows(options.out / "small.csv")] == [("poor", 0.5)]
    assert "A small slice of every experiment" in report.read_text()


def test_an_unknown_experiment_is_refused_with_those_there_are(options, known):
    with pytest.raises(InputError, match="unknown experiment 'large'; there are 'small', and all"):
        reproduce(dataclasses.replace(options, names=["large"]), known=known)


PROGRAM = """
import json, sys
from pathlib import Path
from pine.reproduce.catalog import experiment_of
from pine.reproduce.reproduction import ReproduceOptions, reproduce
from pine.reproduce.tasks import Machine
if __name__ == "__main__":
    experiment = experiment_of("small", json.loads(sys.argv[2]))
    reproduce(ReproduceOptions(["small"], Path(sys.argv[1]), machine=Machine(threads=1)), known={"small": experiment})
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
    assert [each | {"seconds": 0} for each in again] == [each | {"seconds": 0} for each in whole]
    assert count() == 80


def test_data_that_is_not_at_hand_stops_one_experiment_but_not_all(options, tmp_path, monkeypatch):
    known = {"small": experiment_of("small", SMALL | {"datasets": ["blogcatalog-hetero-standin"]})}
    monkeypatch.delenv("PINE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    options = dataclasses.replace(options, machine=Machine(data_dir=tmp_path))
    with pytest.raises(InputError, match="cannot download it"):
        reproduce(options, known=known)
    messages: list[str] = []
    reproduce(dataclasses.replace(options, names=["all"]), on_message=messages.append, known=known)
    assert messages[0].startswith("small is left out: ")
    page = (options.out / "report.html").read_text()
    assert "<span class='small'>not measured</span>" in page
    assert "pine reproduce small" in page
    assert str(tmp_path) not in page


def test_one_method_alone_is_made_and_the_others_stay_as_the_folder_has_them(options, known):
    jobs = InProcess()
    one = dataclasses.replace(options, methods=["spread"])
    reproduce(one, known=known, run_jobs=jobs)
    assert {row["method"] for row in read_rows(options.out / "small.csv")} == {"spread"}
    assert not any("rounds" in task.spec for task in jobs.made)
    reproduce(options, known=known, run_jobs=jobs)
    rows = read_rows(options.out / "small.csv")
    assert [row["method"] for row in rows] == ["spread"] * 4 + ["poor"] * 4
    jobs.made.clear()
    reproduce(dataclasses.replace(options, methods=["poor"]), known=known, run_jobs=jobs)
    assert not jobs.made
    assert read_rows(options.out / "small.csv") == rows
    with pytest.raises(InputError, match="no method is called 'spraed' there; there are 'poor', 'spread'"):
        reproduce(dataclasses.replace(options, methods=["spraed"]), known=known, run_jobs=jobs)


def test_experiments_without_the_method_stay_as_the_folder_has_them(options, known):
    maps = SMALL | {"kind": "maps", "methods": [{"name": "map", "spec": "pine"}], "claims": []}
    known = known | {"maps": experiment_of("maps", maps)}
    points = [{"dataset": "cora", "x": x, "y": 0.0, "true": 1, "predicted": 0} for x in (1.0, 2.0)]
    write_rows(points, options.out / "maps.csv")
    jobs = InProcess()
    report = reproduce(
        dataclasses.replace(options, names=["all"], methods=["poor"]), known=known, run_jobs=jobs
    ).read_text()
    assert {row["method"] for row in read_rows(options.out / "small.csv")} == {"poor"}
    assert len(read_rows(options.out / "maps.csv")) == 2
    assert "id='maps'" in report
    assert all("rounds" in task.spec for task in jobs.made)
