"""Tables of runs: their cells, their best ones, their names, and who is ahead of whom."""

from __future__ import annotations

import json

import pytest
from support.benchmarks import BENCHMARKS, load_benchmark

tables = load_benchmark("tables")


def runs(dataset, method, ratio, scores, score="accuracy"):
    return [
        {"dataset": dataset, "method": method, "ratio": ratio, "repeat": repeat, score: value, "seconds": 1.0}
        for repeat, value in enumerate(scores)
    ]


def written(folder, *files):
    paths = [folder / f"{number}.json" for number in range(len(files))]
    for path, content in zip(paths, files, strict=True):
        path.write_text(json.dumps(content))
    return tables.read_cells(paths)


def test_a_table_has_means_deviations_the_number_of_splits_and_the_best_in_bold(tmp_path):
    cells = written(
        tmp_path,
        runs("cora", "pine", 0.1, [0.7, 0.8]) + runs("cora", "pine", 0.5, [0.84, 0.86]),
        runs("cora", "start", 0.1, [0.6, 0.6]) + runs("cora", "start", 0.5, [0.9, 0.9]),
    )
    assert tables.table(cells, "cora", "accuracy").splitlines() == [
        "Accuracy on cora by share of labeled nodes, mean ± deviation over 2 splits:",
        "",
        "| method | 10 % | 50 % |",
        "|---|---|---|",
        "| PINE | **.750 ±.071** | .850 ±.014 |",
        "| logistic regression on the start | .600 ±.000 | **.900 ±.000** |",
    ]


def test_uneven_numbers_of_splits_are_said_and_missing_cells_are_empty(tmp_path):
    cells = written(tmp_path, runs("cora", "pine", 0.1, [0.7, 0.8]) + runs("cora", "gcn", 0.5, [0.9]))
    text = tables.table(cells, "cora", "accuracy")
    assert "the number of splits in brackets" in text
    assert "| PINE | **.750 ±.071 (2)** |  |" in text
    assert "| GCN |  | **.900 (1)** |" in text


def test_of_a_run_that_two_files_hold_the_last_is_taken(tmp_path):
    cells = written(tmp_path, runs("cora", "pine", 0.1, [0.7, 0.7]), runs("cora", "pine", 0.1, [0.9]))
    assert cells["cora", "accuracy", "pine", 0.1] == {0: 0.9, 1: 0.7}


def test_the_best_error_is_the_smallest(tmp_path):
    cells = written(tmp_path, runs("x", "pine", 0.1, [1.25], "rmse") + runs("x", "gcn", 0.1, [2.5], "rmse"))
    assert "| PINE | **1.250** |" in tables.table(cells, "x", "rmse")
    assert tables.gaps(cells, "pine", ["gcn"]) == [pytest.approx(1.25)]


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("pine", "PINE"),
        ("pine:lam=inf", "PINE, agreement term off"),
        ("pine:spread=0.5", "PINE, scores spread at prediction (0.5)"),
        ("pine:labels=off", "PINE without labels, logistic regression"),
        ("pine:lam=inf:spread=0.5", "PINE, agreement term off, scores spread at prediction (0.5)"),
        ("label-propagation", "label propagation"),
        ("pine:hidden=7", "`pine:hidden=7`"),
        ("something", "something"),
    ],
)
def test_rows_have_names_in_words_and_unknown_ones_stay(spec, name):
    assert tables.row_name(spec) == name


def test_the_summary_counts_cells_and_compares_on_the_splits_that_both_ran(tmp_path):
    cells = written(
        tmp_path,
        runs("cora", "pine", 0.1, [0.8, 0.0]) + runs("cora", "gcn", 0.1, [0.7]),
        runs("cora", "label-propagation", 0.1, [0.75]) + runs("cora", "pine", 0.5, [0.8]),
        runs("dblp", "pine", 0.1, [0.5], "micro_f1") + runs("dblp", "gcn", 0.1, [0.6], "micro_f1"),
        runs("dblp", "label-propagation", 0.1, [0.1], "micro_f1") + runs("dblp", "pine", 0.1, [0.9], "macro_f1"),
    )
    lines = tables.summary(cells, "pine").splitlines()
    assert lines[0] == "| PINE beside | ahead in | average gap |"
    assert lines[2:] == [
        "| GCN | 1 of 2 cells | +.000 |",
        "| label propagation | 2 of 2 cells | +.225 |",
        "| the better of GCN and label propagation | 1 of 2 cells | -.025 |",
    ]


def test_the_script_prints_every_table_and_the_summary(tmp_path, capsys, monkeypatch):
    sets = runs("dblp", "pine", 0.1, [0.5], "micro_f1") + runs("dblp", "pine", 0.1, [0.4], "macro_f1")
    (tmp_path / "a.json").write_text(json.dumps(runs("cora", "pine", 0.1, [0.8]) + runs("cora", "gcn", 0.1, [0.7])))
    (tmp_path / "b.json").write_text(json.dumps(sets))
    monkeypatch.setattr("sys.argv", ["tables.py", str(tmp_path / "a.json"), str(tmp_path / "b.json")])
    tables.main()
    printed = capsys.readouterr().out
    assert "Accuracy on cora" in printed
    assert printed.index("Micro F1 on dblp") < printed.index("Macro F1 on dblp")
    assert "| GCN | 1 of 1 cells | +.100 |" in printed


def test_a_timed_table_has_the_mean_seconds_of_each_method(tmp_path):
    made = runs("cora", "pine", 0.1, [0.7, 0.8]) + runs("cora", "gcn", 0.1, [0.6])
    path = tmp_path / "timed.json"
    path.write_text(json.dumps([run | {"seconds": 2.0 + 3 * (run["method"] == "gcn")} for run in made]))
    assert tables.timed(path).splitlines()[2:] == [
        "| method | 10 % | s |",
        "|---|---|---|",
        "| PINE | **.750 ±.071 (2)** | 2.0 |",
        "| GCN | .600 (1) | 5.0 |",
    ]


def test_pages_hold_the_tables_of_the_stored_runs():
    """The command that makes them is in benchmarks/README.md."""
    root = BENCHMARKS.parent
    runs = root / "results" / "evaluate"
    assert "<!-- tables: timed -->" in (root / "benchmarks" / "README.md").read_text(encoding="utf-8")
    cells = tables.read_cells(sorted(runs.glob("*.json")))
    of_readme = ["ladder", *tables.overview(root / "results")]
    assert {"homogeneous", "untouched-sets", "ppi", "not-measured"} <= set(of_readme)
    for page, names in (("README.md", of_readme), ("benchmarks/README.md", ["all"])):
        text = (root / page).read_text(encoding="utf-8")
        assert [name for name in names if f"<!-- tables: {name} -->" not in text] == []
        assert tables.filled(text, cells, "pine", runs / "methods" / "cora.json", root / "results") == text
