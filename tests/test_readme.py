"""What the README says works as written and prints what it says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import pine
from pine.cli import app
from pine.evaluation import evaluate
from pine.evaluation.variants import parse
from pine.reproduce.rows import read_rows

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(pattern: str) -> str:
    """What the group of a pattern finds in the README."""
    found = re.search(pattern, README, re.DOTALL)
    assert found is not None, pattern
    return found.group(1)


def test_the_ten_lines_of_python_print_what_their_comments_say(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code = block(r"```python\n(import numpy.*?)```")
    exec(code, {})
    comments = [
        line.split("# ", 1)[1].split(":")[0] for line in code.splitlines() if line.startswith("print") and "# " in line
    ]
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == len(comments) == 4
    for line, comment in zip(printed, comments, strict=True):
        assert line.startswith(comment.strip().split(" {")[0])


def test_the_stored_runs_of_label_propagation_are_what_evaluate_measures_today():
    runs = json.loads((ROOT / "results" / "evaluate" / "cora.json").read_text())
    method = {"label-propagation": pine.METHODS["label-propagation"]}
    for result in evaluate(pine.datasets.load("cora"), method, [0.1, 0.5, 0.9], 5):
        (stored,) = (
            run["accuracy"]
            for run in runs
            if (run["method"], run["ratio"], run["repeat"]) == (result.method, result.ratio, result.repeat)
        )
        assert stored == pytest.approx(result.scores["accuracy"], abs=1e-6)


def test_label_propagation_of_the_full_run_is_what_evaluate_measures_today():
    rows = read_rows(ROOT / "results" / "homogeneous.csv")
    own = [row for row in rows if (row["dataset"], row["method"]) == ("cora", "label propagation")]
    assert len(own) == 9 * 20
    for spec in {row["spec"] for row in own}:
        measured = {
            (result.ratio, result.repeat): result.scores["accuracy"]
            for result in evaluate(pine.datasets.load("cora"), [parse(spec)], [0.1, 0.5, 0.9], 20)
        }
        for row in own:
            if row["spec"] == spec and row["ratio"] in (0.1, 0.5, 0.9):
                assert row["accuracy"] == pytest.approx(measured[row["ratio"], row["repeat"]], abs=1e-5)


def test_every_file_and_folder_that_the_readme_names_is_there():
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert link.startswith("http") or (ROOT / link).exists(), link
    parents = [ROOT / "src" / "pine"]  # of the line's indentation
    for line in block(r"```\nsrc/pine/\n(.*?)```").splitlines():
        depth, name = (len(line) - len(line.lstrip())) // 2, line.split()[0]
        path = ROOT / name if depth == 0 else parents[depth - 1] / name
        assert path.exists(), path
        parents[depth:] = [path]


def test_the_public_names_are_listed():
    submodules = {path.stem for path in (ROOT / "src" / "pine").iterdir()}
    visible = {name for name in (*vars(pine), *dir(pine)) if not name.startswith("_")}
    assert visible - submodules <= set(pine.__all__)
    assert all(hasattr(pine, name) for name in pine.__all__)


def test_every_command_of_the_readme_exists():
    commands = {command.callback.__name__ for command in app.registered_commands if command.callback is not None}
    lines = block(r"## The command line\n\n```\n(.*?)```").splitlines()
    assert {line.split()[1] for line in lines} == commands
