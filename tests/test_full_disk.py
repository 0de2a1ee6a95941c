"""A disk that is full or read-only, for runs and for temporary files: one sentence, and nothing that was there is lost.

Each disk is a small tmpfs, which needs the right to mount one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from pine.datasets import planted_classes

SIZES = (8, 32, 128, 192, 256, 320, 384, 448, 512)  # KiB that are free, of a disk for a run of some 430
TRAIN = "train edges.csv --labels labels.csv --epochs 20 --dim 8 --threads 1 --overwrite --out"


def mount(*words: object) -> bool:
    return subprocess.run(["mount", *map(str, words)], capture_output=True, check=False).returncode == 0


@contextmanager
def disk(path: Path, kib: int) -> Iterator[Path]:
    path.mkdir(parents=True, exist_ok=True)
    if not mount("-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", path):
        pytest.skip("cannot mount a tmpfs")
    try:
        yield path
    finally:
        subprocess.run(["umount", str(path)], check=True)


def pine(folder: Path, words: str, **environment: str) -> Any:
    command = [sys.executable, "-m", "pine", *words.split()]
    return subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False
    )


def one_sentence(done: Any) -> str:
    lines: list[str] = [line for line in done.stderr.splitlines() if line.startswith("error")]
    assert done.returncode not in (0, -9, -11), done
    assert len(lines) == 1, done.stderr
    assert "Traceback" not in done.stderr
    return lines[0]


@pytest.fixture
def folder(tmp_path):
    graph, classes = planted_classes(2_000, classes=3)
    links = graph.links()
    pairs = np.stack([links.rows(), links.indices], 1)
    edges = pairs[pairs[:, 0] < pairs[:, 1]]
    np.savetxt(tmp_path / "edges.csv", edges, "%d", ",", header="source,target", comments="")
    known = np.unique(edges)[::2]
    np.savetxt(tmp_path / "labels.csv", np.stack([known, classes[known]], 1), "%d", ",", header="id,label", comments="")
    return tmp_path


def arrays(run: Path) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in load_file(run / "run.safetensors").items()}


@pytest.mark.slow
def test_a_full_disk_costs_no_run_and_the_same_command_ends_well_when_there_is_room(folder):
    assert pine(folder, f"{TRAIN} whole").returncode == 0
    wanted = arrays(folder / "whole")
    refused = 0
    with disk(folder / "disk", 4096) as place:
        assert pine(folder, f"{TRAIN} disk/run --seed 1").returncode == 0
        before = arrays(place / "run")
        used = sum(file.stat().st_size + 4096 for file in (place / "run").iterdir()) // 1024
        for kib in SIZES:
            assert mount("-o", f"remount,size={used + kib}k", place)
            done = pine(folder, f"{TRAIN} disk/run")
            if done.returncode == 0:
                print(f"{kib:4} KiB free: enough")
                assert arrays(place / "run") == wanted
                break
            refused += 1
            print(f"{kib:4} KiB free: {one_sentence(done)}")
            assert arrays(place / "run") == before
            assert {path.name for path in place.iterdir()} <= {"run", "run.unfinished"}
        assert mount("-o", "remount,size=8192k", place)
        assert pine(folder, f"{TRAIN} disk/run").returncode == 0
        assert arrays(place / "run") == wanted
        assert [path.name for path in place.iterdir()] == ["run"]
    assert refused >= 2


@pytest.mark.slow
def test_a_read_only_disk_is_said_before_training(folder):
    with disk(folder / "disk", 4096) as place:
        assert mount("-o", "remount,ro", place)
        done = pine(folder, f"{TRAIN} disk/run")
        assert "disk/run" in one_sentence(done) or "Read-only" in one_sentence(done)
        done = pine(folder, "evaluate cora --methods label-propagation --repeats 1 --ratios 0.5 --json disk/runs.json")
        assert "disk" in one_sentence(done)


@pytest.mark.slow
def test_a_file_in_the_place_of_a_folder_is_said_before_training(folder):
    (folder / "taken").write_text("mine")
    for out in ("taken", "taken/run"):
        assert "taken" in one_sentence(pine(folder, f"{TRAIN} {out}"))
    assert (folder / "taken").read_text() == "mine"


@pytest.mark.slow
def test_a_full_folder_for_temporary_files_changes_nothing(folder):
    assert pine(folder, f"{TRAIN} whole").returncode == 0
    with disk(folder / "disk", 16) as place:
        (place / "full").write_bytes(bytes(12 * 1024))
        done = pine(folder, f"{TRAIN} run", TMPDIR=str(place))
        assert done.returncode == 0, done.stderr
        assert arrays(folder / "run") == arrays(folder / "whole")
        assert [path.name for path in place.iterdir()] == ["full"]
