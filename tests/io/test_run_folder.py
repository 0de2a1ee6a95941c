"""Where a run is saved: files of others stay, a save that was stopped leaves a run, and what it left is cleaned up."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.killed import kill_again_and_again

from pine import Graph, InputError
from pine.baselines import LabelPropagation
from pine.io.run_folder import check_place


@pytest.fixture
def model() -> LabelPropagation:
    return LabelPropagation().fit(Graph.from_edges([("a", "b"), ("b", "c")]), {"a": "x", "c": "y"})


def test_files_that_no_run_wrote_are_never_removed(model: LabelPropagation, tmp_path: Path):
    model.save(tmp_path / "run")
    (tmp_path / "run" / "notes.txt").write_text("precious")
    for refused in (lambda: model.save(tmp_path / "run"), lambda: check_place(tmp_path / "run")):
        with pytest.raises(InputError, match=r"holds files that no run wrote, such as 'notes\.txt'; move them"):
            refused()
    assert (tmp_path / "run" / "notes.txt").read_text() == "precious"
    assert LabelPropagation.load(tmp_path / "run").predict().tolist() == model.predict().tolist()


def test_the_run_json_of_another_program_is_not_taken_for_a_run(model: LabelPropagation, tmp_path: Path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text('{"jobs": 3}')
    with pytest.raises(InputError, match="exists and is not a saved run"):
        model.save(tmp_path / "run")
    assert (tmp_path / "run" / "run.json").read_text() == '{"jobs": 3}'


@pytest.mark.parametrize("place", [".", "/", ".."])
def test_the_folder_that_one_is_in_is_no_place_for_a_run(model: LabelPropagation, place: str, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="is the folder that you are in, or one around it"):
        model.save(place)


def test_a_link_stays_and_what_it_leads_to_is_replaced(model: LabelPropagation, tmp_path: Path):
    model.save(tmp_path / "run-1")
    (tmp_path / "newest").symlink_to("run-1")
    model.save(tmp_path / "newest")
    assert (tmp_path / "newest").is_symlink()
    assert LabelPropagation.load(tmp_path / "run-1").name == "label-propagation"


def test_a_run_is_open_to_other_users_whatever_the_umask(model: LabelPropagation, tmp_path: Path):
    before = os.umask(0o077)
    try:
        model.save(tmp_path / "run")
    finally:
        os.umask(before)
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "run").iterdir()}
    assert (modes, (tmp_path / "run").stat().st_mode & 0o777) == ({0o644}, 0o755)


def test_a_stop_between_the_two_renames_leaves_a_run(model: LabelPropagation, tmp_path: Path):
    model.save(tmp_path / "run")
    (tmp_path / "run").rename(tmp_path / ".run.replaced")
    assert LabelPropagation.load(tmp_path / "run").predict().tolist() == model.predict().tolist()
    model.save(tmp_path / "run")
    assert os.listdir(tmp_path) == ["run"]


def test_saves_that_were_killed_leave_a_run_and_the_next_save_cleans_up(model: LabelPropagation, tmp_path: Path):
    kill_again_and_again(
        tmp_path / "run",
        setup="""
        from pine import Graph
        from pine.baselines import LabelPropagation
        model = LabelPropagation(rounds=1).fit(Graph.from_edges([(0, 1), (1, 2)]), [0, 1, 0])
        model.save(place)
        """,
        work="model.save(place)",
        check="assert LabelPropagation.load(place).name == 'label-propagation'",  # never without a run
        waits=(0.003, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08),
    )
    (tmp_path / ".run.999999999.saving").mkdir()
    model.save(tmp_path / "run")
    assert os.listdir(tmp_path) == ["run"]


def test_too_little_space_and_a_file_in_the_way_are_found_before_training(tmp_path: Path):
    with pytest.raises(InputError, match=r"needs about 1000000\.0 TB|needs about .* TB and .* are free"):
        check_place(tmp_path / "run", 10**18)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="exists and is not a saved run, but a file"):
        check_place(tmp_path / "file")
    with pytest.raises(InputError, match="cannot write into"):
        check_place(tmp_path / "file" / "run")
    assert os.listdir(tmp_path) == ["file"]
