"""What `pine evaluate` shows and writes when it is asked for variants."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from rich.console import Console

from pine import InputError
from pine.baselines.label_propagation import LabelPropagation
from pine.cli.evaluate import evaluate_and_show, results_table
from pine.evaluation.results import Result


def test_rows_are_named_as_asked_for_and_stand_in_the_order_asked_for(tmp_path, capsys):
    specs = ["label-propagation", "label-propagation:alpha=0.5", " label-propagation:spread=0.5", "label-propagation"]
    evaluate_and_show("cora", specs, ["0.5"], 1, str(tmp_path / "runs.json"), None)
    names = [run["method"] for run in json.loads((tmp_path / "runs.json").read_text())]
    assert names == ["label-propagation", "label-propagation:alpha=0.5", "label-propagation:spread=0.5"]
    printed = capsys.readouterr().out
    rows = [line.split() for line in printed.splitlines() if line.startswith("│")]
    assert [row[1] for row in rows[::2]] == names
    assert [row[3] for row in rows[::2]] == ["accuracy"] * 3
    assert [row[2] for row in rows[1::2]] == ["macro-f1"] * 3


def test_scores_that_some_runs_do_not_have_are_left_out(capsys):
    old = Result("cora", "gcn", 0.5, 0, {"accuracy": 0.8}, 1.0)
    Console(width=120).print(
        results_table("", [old, replace(old, repeat=1, scores={"accuracy": 0.7, "macro_f1": 0.5})])
    )
    printed = capsys.readouterr().out
    assert "0.750 ±0.071" in printed
    assert "accuracy by share" in printed
    assert "macro" not in printed


def test_a_bad_variant_is_refused_before_anything_runs():
    with pytest.raises(InputError, match="has no setting 'alfa'"):
        evaluate_and_show("no data set", ["label-propagation", "label-propagation:alfa=1"], ["0.5"], 1, None, None)


def test_an_interrupted_evaluation_goes_on_where_it_stopped(tmp_path, monkeypatch, capsys):
    """Kill it at the third of four runs: two are in the file, and --resume makes the other two only."""
    made = []
    fit = LabelPropagation._fit

    def counted(self, graph, labels, rng):
        made.append(self.seed)
        if len(made) == 3:
            raise KeyboardInterrupt
        return fit(self, graph, labels, rng)

    monkeypatch.setattr(LabelPropagation, "_fit", counted)
    file = tmp_path / "runs.json"
    asked = ("cora", ["label-propagation", "label-propagation:spread=0.5"], ["0.1", "0.5"], 2, str(file), None)
    with pytest.raises(KeyboardInterrupt):
        evaluate_and_show(*asked)
    before = json.loads(file.read_text())
    assert len(before) == 4  # two fits, each for two rows
    evaluate_and_show(*asked, resume=True)
    after = json.loads(file.read_text())
    assert len(made) == 5
    assert len(after) == 8
    assert all(run in after for run in before)
    (tmp_path / "whole.json").write_text("not looked at without --resume")
    evaluate_and_show(*asked[:4], str(tmp_path / "whole.json"), None)
    whole = json.loads((tmp_path / "whole.json").read_text())
    strip = [{k: v for k, v in run.items() if k != "seconds"} for run in whole]
    assert sorted(map(str, strip)) == sorted(str({k: v for k, v in run.items() if k != "seconds"}) for run in after)
    evaluate_and_show(*asked, resume=True)
    assert len(made) == 9  # nothing was left to do
    assert "label-propagation:spread=0.5" in capsys.readouterr().out


def test_runs_of_other_methods_stay_in_the_file_when_it_is_resumed(tmp_path):
    file = tmp_path / "runs.json"
    evaluate_and_show("cora", ["label-propagation:alpha=0.5"], ["0.5"], 1, str(file), None)
    evaluate_and_show("cora", ["label-propagation"], ["0.5"], 1, str(file), None, resume=True)
    names = [run["method"] for run in json.loads(file.read_text())]
    assert names == ["label-propagation", "label-propagation:alpha=0.5"]


@pytest.mark.parametrize("text", ["{", "[1]", '[{"dataset": "cora"}]', "7"])
def test_a_file_that_holds_no_runs_is_not_resumed(tmp_path, text):
    file = tmp_path / "runs.json"
    file.write_text(text)
    with pytest.raises(InputError, match="does not hold runs as --json writes them"):
        evaluate_and_show("cora", ["label-propagation"], ["0.5"], 1, str(file), None, resume=True)
    assert file.read_text() == text


def test_resuming_needs_a_file_with_runs_on_the_same_data_set(tmp_path):
    run = {"dataset": "citeseer", "method": "start", "ratio": 0.5, "repeat": 0, "accuracy": 0.5, "seconds": 1}
    (tmp_path / "runs.json").write_text(json.dumps([run]))
    with pytest.raises(InputError, match="holds runs on citeseer"):
        evaluate_and_show("cora", ["start"], ["0.5"], 1, str(tmp_path / "runs.json"), None, resume=True)
    for json_to in (None, "-"):
        with pytest.raises(InputError, match="name it with --json FILE"):
            evaluate_and_show("cora", ["start"], ["0.5"], 1, json_to, None, resume=True)
