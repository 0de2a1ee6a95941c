"""What `pine train` says, and what it leaves in a run's folder."""

from __future__ import annotations

import csv
import hashlib
import json
import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from support.command_line import pine, refused, write_ring

from pine import PINE
from pine.methods import load_run

FILES = ["README.md", "history.csv", "map.png", "predictions.parquet", "run.json", "run.safetensors"]


@pytest.fixture
def command(tmp_path: Path) -> list[object]:
    edges, _ = write_ring(tmp_path)
    (tmp_path / "labels.csv").write_text(
        "id,label\n" + "".join(f"v{i},{'[b]x' if i < 6 else ':smile:'}\n" for i in range(12))
    )
    return ["train", edges, "--labels", tmp_path / "labels.csv", "--out", tmp_path / "run", "--epochs", 2, "--dim", 8]


def test_a_run_says_what_it_was_made_from_and_what_came_of_it(tmp_path: Path, command: list[object]):
    done = pine(*command, "--set", "dropout=0.1", "--seed", 3)
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(tmp_path / "run")) == FILES
    about = json.loads((tmp_path / "run" / "run.json").read_text())
    record = about["record"]
    edges = next(each for each in record["inputs"] if each["what"] == "edges")
    content = (tmp_path / "edges.csv").read_bytes()
    assert (edges["bytes"], edges["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
    assert record["graph"]["nodes"] == {"node": 12}
    assert record["labels"]["classes"] == {":smile:": 6, "[b]x": 6}
    assert record["settings"]["dim"] == 8
    assert record["settings"]["training__dropout"] == 0.1
    assert record["choice"]["epochs"] == 2
    assert record["scores"]["metric"] == "accuracy"
    assert set(record["scores"]["held_out"]) == {"PINE", "label propagation", "logistic regression on the start"}
    assert about["files"] == FILES
    assert pq.read_table(tmp_path / "run" / "predictions.parquet").num_rows == 12
    with (tmp_path / "run" / "history.csv").open() as file:
        assert [row["epoch"] for row in csv.DictReader(file)] == ["1", "2"]
    assert (tmp_path / "run" / "map.png").read_bytes().startswith(b"\x89PNG")
    assert "predictions.parquet" in (tmp_path / "run" / "README.md").read_text()
    assert PINE.load(tmp_path / "run").training.dropout == 0.1


def test_what_is_needed_is_said_before_and_the_next_commands_after(tmp_path: Path, command: list[object]):
    shown = pine(*command).stdout
    order = ["needs, roughly: ", "chosen: ", "on held-out labels", "saved to ", f"  pine predict {tmp_path / 'run'} "]
    assert [shown.index(each) for each in order] == sorted(shown.index(each) for each in order)
    assert "label propagation 0." in shown or "label propagation 1." in shown


def test_json_is_alone_on_standard_output(tmp_path: Path, command: list[object]):
    done = pine(*command, "--json")
    made = json.loads(done.stdout)
    assert made["run"] == str(tmp_path / "run")
    assert made["files"] == FILES
    assert made["graph"]["directed"] is False
    assert "needs, roughly" in done.stderr


def test_quick_is_without_epochs(tmp_path: Path, command: list[object]):
    words = [each for each in command if each not in ("--epochs", 2)]
    assert pine(*words, "--quick").returncode == 0
    model = PINE.load(tmp_path / "run")
    assert model.epochs == 0
    assert model.learned_.choice.epochs == 0
    assert "--quick is PINE without epochs" in refused(pine(*command, "--quick", "--overwrite"))


def test_a_run_is_replaced_with_overwrite_alone_and_files_of_others_never(tmp_path: Path, command: list[object]):
    assert pine(*command).returncode == 0
    before = (tmp_path / "run" / "run.json").read_bytes()
    assert "holds a run already; add --overwrite" in refused(pine(*command))
    assert pine(*command, "--overwrite").returncode == 0
    assert (tmp_path / "run" / "run.json").read_bytes() != before
    assert sorted(os.listdir(tmp_path)) == ["edges.csv", "grown.csv", "labels.csv", "run"]
    (tmp_path / "run" / "thesis.tex").write_text("precious")
    assert "holds files that no run wrote, such as 'thesis.tex'" in refused(pine(*command, "--overwrite"))
    assert (tmp_path / "run" / "thesis.tex").read_text() == "precious"


def test_a_bad_place_is_refused_before_anything_is_read(tmp_path: Path):
    (tmp_path / "file").write_text("")
    for place, message in (("file", "exists and is not a saved run"), (".", "is the folder that you are in")):
        done = pine("train", "no-such-file.csv", "--out", place, cwd=tmp_path)
        assert message in refused(done)


def test_the_checkpoint_stays_when_the_run_cannot_be_saved(tmp_path: Path, command: list[object], monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pine.cli.train.save_run", full)
    monkeypatch.setattr("pine.cli.fitting.CHECKPOINT_EVERY", 0.0)
    done = pine(*command)
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert (tmp_path / "run.unfinished").exists()
    monkeypatch.undo()
    done = pine(*command)
    assert done.returncode == 0, done.stderr
    assert "going on from" in done.stdout
    assert not (tmp_path / "run.unfinished").exists()


def test_settings_come_from_options_pairs_and_a_file_with_pythons_checks(tmp_path: Path, command: list[object]):
    (tmp_path / "pine.toml").write_text("dim = 16\nlam = 2.5\n[training]\ndropout = 0.2\n")
    assert pine(*command, "--config", tmp_path / "pine.toml", "--set", "lam=3", "--threads", 1).returncode == 0
    model = load_run(tmp_path / "run")
    assert isinstance(model, PINE)
    # An option wins over --set, and --set over the file.
    assert (model.dim, model.lam, model.training.dropout, model.threads) == (8, 3, 0.2, 1)
    for words, message in (
        (["--set", "dropuot=0.1"], "--set: pine has no setting 'dropuot'; did you mean 'dropout'?"),
        (["--set", "dropout=2"], "dropout takes a number of at least 0 and below 1, got '2'"),
        (["--set", "dropout"], "--set takes NAME=VALUE"),
        (["--dim", "0"], "dim must be a whole number of at least 1, got 0"),
        (["--config", tmp_path / "no.toml"], "cannot read"),
        (["--config", tmp_path / "edges.csv"], "is not TOML"),
        (["--method", "pnie"], "unknown method 'pnie'; did you mean 'pine'?"),
        (["--method", "label-propagation"], "--dim: label-propagation has no setting 'dim'"),
    ):
        assert message in refused(pine(*command, *words, "--overwrite"))
