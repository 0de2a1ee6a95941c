"""What `pine evaluate` shows and writes when it is asked for variants."""

from __future__ import annotations

import json

import pytest

from pine import InputError
from pine.evaluation.report import evaluate_and_show


def test_rows_are_named_as_asked_for_and_stand_in_the_order_asked_for(tmp_path, capsys):
    specs = ["label-propagation", "label-propagation:alpha=0.5", " label-propagation:spread=0.5", "label-propagation"]
    evaluate_and_show("cora", specs, ["0.5"], 1, str(tmp_path / "runs.json"), None)
    names = [run["method"] for run in json.loads((tmp_path / "runs.json").read_text())]
    assert names == ["label-propagation", "label-propagation:alpha=0.5", "label-propagation:spread=0.5"]
    printed = capsys.readouterr().out
    assert [line.split()[1] for line in printed.splitlines() if line.startswith("│")] == names


def test_a_bad_variant_is_refused_before_anything_runs():
    with pytest.raises(InputError, match="has no setting 'alfa'"):
        evaluate_and_show("no data set", ["label-propagation", "label-propagation:alfa=1"], ["0.5"], 1, None, None)
