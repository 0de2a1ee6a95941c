"""The files that a run was trained on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pine import Graph, InputError
from pine.baselines import LabelPropagation
from pine.cli.recorded_files import recorded_files
from pine.cli.run_files import inputs_record
from pine.io.runs import add_record


def run_with(folder: Path, names: dict[str, str]) -> Path:
    """A saved run that names files of these names."""
    for name in names.values():
        (folder / name).write_text(f"source,target\n{name},b\n")
    LabelPropagation().fit(Graph.from_edges([("a", "b"), ("b", "c")]), {"a": "x", "c": "y"}).save(folder / "run")
    add_record(folder / "run", {"inputs": inputs_record({what: folder / name for what, name in names.items()})})
    return folder / "run"


def test_edges_relations_and_lists_of_nodes_are_given_as_the_options_have_them(tmp_path: Path):
    found = recorded_files(run_with(tmp_path, {"edges": "e.csv", "nodes": "n.csv", "labels": "l.csv"}))
    assert (found.edges, found.relations, found.nodes) == (tmp_path / "e.csv", None, [str(tmp_path / "n.csv")])
    (tmp_path / "typed").mkdir()
    found = recorded_files(
        run_with(tmp_path / "typed", {"a:to:b": "ab.csv", "nodes b": "n.csv", "features a": "f.csv"})
    )
    assert found.edges is None
    assert found.relations == [f"a:to:b={tmp_path / 'typed' / 'ab.csv'}"]
    assert found.nodes == [f"b={tmp_path / 'typed' / 'n.csv'}"]


def test_a_file_that_is_gone_or_another_one_in_its_place_is_not_read(tmp_path: Path):
    run = run_with(tmp_path, {"edges": "e.csv", "nodes": "n.csv"})
    (tmp_path / "n.csv").write_text("others\n")
    with pytest.raises(InputError, match=r"names .*n\.csv, which has changed since"):
        recorded_files(run)
    (tmp_path / "e.csv").unlink()
    with pytest.raises(InputError, match=r"names .*e\.csv, which is not there"):
        recorded_files(run)


@pytest.mark.parametrize("inputs", [None, 7, [], ["edges"], [{"what": "labels", "file": "l.csv"}]])
def test_a_run_that_does_not_name_its_edges_is_said_to(tmp_path: Path, inputs: object):
    run = run_with(tmp_path, {"edges": "e.csv"})
    about = json.loads((run / "run.json").read_text())
    about["record"] = {"inputs": inputs}
    (run / "run.json").write_text(json.dumps(about))
    with pytest.raises(InputError, match="does not say which they were"):
        recorded_files(run)
