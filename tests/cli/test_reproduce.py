"""What `pine reproduce` prints."""

from __future__ import annotations

import io
import sys

from rich.console import Console

from pine.cli.reproduce import reproduce_and_show, show_list
from pine.reproduce.catalog import find
from pine.reproduce.reproduction import ReproduceOptions
from pine.reproduce.rows import write_rows


def console():
    return Console(record=True, file=io.StringIO(), width=200)


def test_the_list_names_every_experiment_also_those_whose_packages_are_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    shown = console()
    show_list(shown)
    assert "PPI with rebuilt labels" in shown.export_text()


def test_claims_are_printed_beside_what_was_measured_and_the_report_is_named(tmp_path):
    targets = [{"target": "any", "size": size, "seed": 0, "error": 1 / size} for size in find("theory").sizes]
    write_rows(targets, tmp_path / "theory.csv")
    shown = console()
    reproduce_and_show(ReproduceOptions(["theory"], tmp_path, only_kept=True), shown)
    text = shown.export_text()
    assert "theory: f comes as close as one likes to any function of sets" in text
    assert "not measured" in text  # these targets are not the experiment's
    assert f"The report: {tmp_path / 'report.html'}" in text
