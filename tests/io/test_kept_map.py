"""The map that is kept in a run's folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.explore import run_of

from pine import InputError
from pine.io import KeptMap, read_map, write_map
from pine.io.run_folder import KEPT_MAP
from pine.methods import load_run

POINTS = np.arange(10, dtype=np.float32).reshape(5, 2)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    run_of(list("abcde")).save(tmp_path / "run")
    return tmp_path / "run"


def vectors_of(run: Path) -> np.ndarray:
    return load_run(run).fitted_.vectors


def test_a_map_is_kept_and_the_run_stays_as_it_is(run: Path):
    vectors = vectors_of(run)
    assert read_map(run, vectors) is None
    write_map(run, vectors, KeptMap(POINTS, "tsne"))
    kept = read_map(run, vectors_of(run))
    assert kept is not None
    assert kept.layout == "tsne"
    np.testing.assert_array_equal(kept.points, POINTS)


def test_a_map_of_other_vectors_counts_as_none(run: Path):
    write_map(run, vectors_of(run), KeptMap(POINTS, "tsne"))
    assert read_map(run, vectors_of(run) + 1) is None
    assert read_map(run, vectors_of(run)[:4]) is None


def test_a_map_that_is_damaged_counts_as_none(run: Path):
    vectors = vectors_of(run)
    write_map(run, vectors, KeptMap(POINTS, "tsne"))
    whole = (run / KEPT_MAP).read_bytes()
    for damaged in (whole[:-3], whole[:20], b"", b"\xff" * 40, whole[:-4] + b"\1\2\3\4"):
        (run / KEPT_MAP).write_bytes(damaged)
        assert read_map(run, vectors) is None
    (run / KEPT_MAP).unlink()
    (run / KEPT_MAP).mkdir()
    assert read_map(run, vectors) is None


@pytest.mark.parametrize("points", [POINTS[:4], POINTS * np.nan], ids=["too few", "not finite"])
def test_a_map_with_wrong_points_counts_as_none(run: Path, points: np.ndarray):
    write_map(run, vectors_of(run), KeptMap(points, "pca"))
    assert read_map(run, vectors_of(run)) is None


def test_a_run_that_is_saved_anew_has_no_map_and_is_not_in_its_way(run: Path):
    write_map(run, vectors_of(run), KeptMap(POINTS, "tsne"))
    (run / f".{KEPT_MAP}.123-abcd.part").write_bytes(b"half")  # a process that was killed
    run_of(list("abcde")).save(run)
    assert sorted(path.name for path in run.iterdir()) == ["run.json", "run.safetensors"]


def test_what_a_killed_process_left_goes_when_a_map_is_kept(run: Path):
    left = run / f".{KEPT_MAP}.123-abcd.part"
    left.write_bytes(b"half")
    write_map(run, vectors_of(run), KeptMap(POINTS, "tsne"))
    assert not left.exists()


def test_files_of_others_are_still_in_the_way(run: Path):
    (run / "map.txt").write_text("mine")
    with pytest.raises(InputError, match="holds files that no run wrote"):
        run_of(list("abcde")).save(run)
