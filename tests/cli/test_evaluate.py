"""`pine evaluate`: what it shows and writes, for methods and variants of methods."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

import pytest
from rich.console import Console
from support.command_line import pine, refused
from support.inductive import planted

from pine import InputError
from pine.baselines.label_propagation import LabelPropagation
from pine.cli.evaluate import evaluate
from pine.cli.tables import differences_table, results_table
from pine.evaluation import Result
from pine.methods import METHODS


def test_evaluate_prints_a_table_and_writes_every_run_as_json(tmp_path: Path):
    file = tmp_path / "runs.json"
    what = ["--methods", "label-propagation", "--ratios", "0.1,0.5", "--repeats", 2, "--json", file]
    done = pine("evaluate", "cora", *what)
    assert done.returncode == 0, done.stderr
    assert "label-propagation" in done.stdout
    runs = json.loads(file.read_text())
    assert len(runs) == 4
    assert set(runs[0]) == {"dataset", "method", "ratio", "repeat", "accuracy", "macro_f1", "seconds"}


def test_json_on_standard_output_is_alone_there():
    done = pine("evaluate", "cora", "--methods", "label-propagation", "--ratios", "0.5", "--repeats", 1, "--json", "-")
    assert len(json.loads(done.stdout)) == 1
    assert "label-propagation" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["coar"], "unknown dataset 'coar'; did you mean 'cora'?"),
        (["cora", "--methods", "magic"], f"unknown method 'magic'; there are {', '.join(map(repr, METHODS))}\n"),
        (["cora", "--methods", "mlp"], "mlp learns from node features, and gets none here; add --features"),
        (["cora", "--ratios", "0.5,2"], "ratios must be numbers between 0 and 1"),
        (["cora", "--split", "public"], "cora has no public split; give shares of labeled nodes"),
        (["cora", "--split", "publc"], "--split must be one of 'random', 'public', got 'publc'"),
        (["cora", "--split", "public", "--ratios", "0.5"], "--ratios are of random splits; leave them out"),
        (["cora", "--features"], "'cora' has no node attributes"),
        (["citeseer", "--data-dir", "."], "To get it: "),
    ],
)
def test_wrong_arguments_of_evaluate_are_refused(tmp_path: Path, arguments: list[str], message: str):
    alone = {"XDG_CACHE_HOME": str(tmp_path), "http_proxy": "", "https_proxy": "", "no_proxy": "*"}
    assert message in refused(pine("evaluate", *arguments, cwd=tmp_path, **alone))


def test_rows_are_named_by_their_specs_and_stand_in_the_order_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    specs = "label-propagation,label-propagation:alpha=0.5, label-propagation:spread=0.5,label-propagation"
    evaluate("cora", specs, "0.5", 1, str(tmp_path / "runs.json"))
    names = [run["method"] for run in json.loads((tmp_path / "runs.json").read_text())]
    assert names == ["label-propagation", "label-propagation:alpha=0.5", "label-propagation:spread=0.5"]
    printed = capsys.readouterr().out
    rows = [line.split() for line in printed.splitlines() if line.startswith("│")]
    assert [row[1] for row in rows[::2]] == names
    assert [row[3] for row in rows[::2]] == ["accuracy"] * 3
    assert [row[2] for row in rows[1::2]] == ["macro-f1"] * 3


def test_scores_that_some_runs_do_not_have_are_left_out(capsys: pytest.CaptureFixture[str]):
    old = Result("cora", "gcn", 0.5, 0, {"accuracy": 0.8}, 1.0)
    Console(width=120).print(
        results_table("", [old, replace(old, repeat=1, scores={"accuracy": 0.7, "macro_f1": 0.5})])
    )
    printed = capsys.readouterr().out
    assert "0.750 ±0.071" in printed
    assert "accuracy by share" in printed
    assert "macro" not in printed


def test_the_public_split_and_features_are_columns_and_runs_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("pine.datasets.load", lambda name, **options: planted(single=True))
    file = tmp_path / "runs.json"
    evaluate("planted", "label-propagation", None, 2, str(file), split="public")
    printed = capsys.readouterr().out
    assert "public" in printed
    assert "score on the public split, mean" in printed
    evaluate("planted", "label-propagation", None, 1, str(file), resume=True, split="public", features=True)
    printed = capsys.readouterr().out
    assert "edges), with features" in " ".join(printed.split())
    assert " ±0" not in printed  # one run: those without features are not shown
    evaluate("planted", "label-propagation", "0.5", 1, str(file), resume=True, features=True)
    runs = [(run["ratio"], run["repeat"], run.get("features", False)) for run in json.loads(file.read_text())]
    assert set(runs) == {(0.5, 0, True), ("public", 0, False), ("public", 0, True), ("public", 1, False)}
    assert len(runs) == 4


def test_a_bad_variant_is_refused_before_anything_runs():
    with pytest.raises(InputError, match="has no setting 'alfa'"):
        evaluate("no data set", "label-propagation,label-propagation:alfa=1", "0.5", 1)


class Interrupted(LabelPropagation):
    """Label propagation whose third fit is interrupted."""

    name = "interrupted"
    fits: ClassVar[int] = 0

    def fit(self, *arguments: Any, **options: Any) -> Self:
        Interrupted.fits += 1
        if Interrupted.fits == 3:
            raise KeyboardInterrupt
        return super().fit(*arguments, **options)


def without_seconds(file: Path) -> list[dict[str, Any]]:
    runs = [{key: value for key, value in run.items() if key != "seconds"} for run in json.loads(file.read_text())]
    return sorted(runs, key=str)


def test_an_interrupted_evaluation_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Interrupted at the third of four fits: two are in the file, and --resume makes the other two only."""
    monkeypatch.setitem(METHODS, "interrupted", Interrupted)
    monkeypatch.setattr(Interrupted, "fits", 0)
    file = tmp_path / "runs.json"
    arguments = ("cora", "interrupted,interrupted:spread=0.5", "0.1,0.5", 2)
    with pytest.raises(KeyboardInterrupt):
        evaluate(*arguments, str(file))
    before = json.loads(file.read_text())
    assert len(before) == 4  # two fits, each for two rows
    evaluate(*arguments, str(file), resume=True)
    after = json.loads(file.read_text())
    assert Interrupted.fits == 5
    assert len(after) == 8
    assert all(run in after for run in before)
    (tmp_path / "whole.json").write_text("not looked at without --resume")
    evaluate(*arguments, str(tmp_path / "whole.json"))
    assert without_seconds(tmp_path / "whole.json") == without_seconds(file)
    evaluate(*arguments, str(file), resume=True)
    assert Interrupted.fits == 9  # nothing was left to do
    assert "interrupted:spread=0.5" in capsys.readouterr().out


def test_runs_of_other_methods_stay_in_the_file_when_it_is_resumed(tmp_path: Path):
    file = tmp_path / "runs.json"
    evaluate("cora", "label-propagation:alpha=0.5", "0.5", 1, str(file))
    evaluate("cora", "label-propagation", "0.5", 1, str(file), resume=True)
    names = [run["method"] for run in json.loads(file.read_text())]
    assert names == ["label-propagation", "label-propagation:alpha=0.5"]


RUN = {"dataset": "cora", "method": "start", "ratio": 0.5, "repeat": 0, "accuracy": 0.5, "seconds": 1}
NO_RUNS = {
    "half of it": "{",
    "numbers": "[1]",
    "too little": '[{"dataset": "cora"}]',
    "a number": "7",
    "deep": "[" * 100_000,
    "an infinite repeat": '[{"dataset": "cora", "method": "start", "ratio": 0.5, "repeat": 1e400, "seconds": 1}]',
    "a large ratio": json.dumps([RUN | {"ratio": 10**400}]),
    "a ratio that is none": json.dumps([RUN | {"ratio": math.nan}]),
    "a repeat before the first": json.dumps([RUN | {"repeat": -1}]),
    "a broken repeat": json.dumps([RUN | {"repeat": 0.5}]),
    "an accuracy that is none": json.dumps([RUN | {"accuracy": math.nan}]),
    "an accuracy in words": json.dumps([RUN | {"accuracy": "0.5"}]),
}


@pytest.mark.parametrize("text", NO_RUNS.values(), ids=NO_RUNS)
def test_a_file_that_holds_no_runs_is_not_resumed(tmp_path: Path, text: str):
    file = tmp_path / "runs.json"
    file.write_text(text)
    with pytest.raises(InputError, match="does not hold runs as --json writes them"):
        evaluate("cora", "label-propagation", "0.5", 1, str(file), resume=True)
    assert file.read_text() == text


def test_resuming_needs_a_file_with_runs_on_the_same_data_set(tmp_path: Path):
    run = {"dataset": "citeseer", "method": "start", "ratio": 0.5, "repeat": 0, "accuracy": 0.5, "seconds": 1}
    (tmp_path / "runs.json").write_text(json.dumps([run]))
    with pytest.raises(InputError, match="holds runs on citeseer"):
        evaluate("cora", "start", "0.5", 1, str(tmp_path / "runs.json"), resume=True)
    for json_to in (None, "-"):
        with pytest.raises(InputError, match="name it with --json FILE"):
            evaluate("cora", "start", "0.5", 1, json_to, resume=True)


def own_files(folder: Path) -> list[Any]:
    """Two rings joined by an edge; the labels say in which of them a node is."""
    edges = [f"{ring}{i},{ring}{(i + step) % 30}" for ring in "ab" for i in range(30) for step in (1, 2)]
    (folder / "edges.csv").write_text("source,target\n" + "\n".join([*edges, "a0,b0"]))
    (folder / "labels.csv").write_text(
        "id,label\n" + "".join(f"{ring}{i},{ring}\n" for ring in "ab" for i in range(30))
    )
    return ["evaluate", folder / "edges.csv", "--labels", folder / "labels.csv", "--ratios", "0.5"]


def test_methods_are_scored_on_the_users_own_files_with_a_paired_test(tmp_path: Path):
    methods = ["--methods", "quick", "--repeats", 3, "--json", tmp_path / "runs.json"]
    done = pine(*own_files(tmp_path), *methods)
    assert done.returncode == 0, done.stderr
    runs = json.loads((tmp_path / "runs.json").read_text())
    assert {run["dataset"] for run in runs} == {"edges"}
    assert [run["method"] for run in runs[::3]] == ["pine:epochs=0", "label-propagation", "link-based", "propagation"]
    assert "accuracy beside pine:epochs=0" in done.stdout
    assert "paired t-test on the same splits" in done.stdout


def test_own_relations_are_scored_too_and_what_is_missing_is_said(tmp_path: Path):
    words = own_files(tmp_path)
    lines = (tmp_path / "edges.csv").read_text().splitlines()[1:]
    (tmp_path / "bought.csv").write_text(
        "\n".join(["source,target", *(f"{a},{b}" for a, b in (line.split(",") for line in lines))])
    )
    relation = ["--relation", f"buyer:buys:thing={tmp_path / 'bought.csv'}", "--label-type", "buyer"]
    quick = ["--methods", "label-propagation", "--repeats", 1]
    done = pine("evaluate", *relation, *words[2:], *quick)
    assert done.returncode == 0, done.stderr
    assert "label-propagation" in done.stdout
    assert "give --labels FILE" in refused(pine(*words[:2], *quick))
    assert "give a data set of `pine datasets`" in refused(pine("evaluate", *quick))
    assert "cannot read" in refused(pine("evaluate", tmp_path / "no.csv", *words[2:], *quick))
    assert "cannot read" in refused(pine("evaluate", tmp_path / "no.csv", *quick))  # and not: give labels


def test_differences_are_of_the_same_splits_and_need_two_of_them():
    def run(method: str, repeat: int, score: float) -> Result:
        return Result("cora", method, 0.5, repeat, {"accuracy": score}, 1.0)

    results = [
        run("a", 0, 0.5),
        run("a", 1, 0.7),
        run("a", 2, 0.6),
        run("b", 0, 0.6),
        run("b", 1, 0.8),
        run("b", 2, 0.71),
    ]
    table = differences_table(results)
    assert table is not None
    assert list(table.columns[1].cells) == ["+0.103  p 0.00"]
    assert differences_table(results[:3]) is None
    assert differences_table([results[0], results[3]]) is None
