"""A rank that is killed ends the job, or torchrun starts all of them again from the last state that was kept."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from support import keeps_every_epoch
from support.command_line import pine
from support.torchrun import ranks_of, torchrun

from pine import PINE
from pine.datasets import planted_classes

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc"),
]
EPOCHS = 150


@pytest.fixture
def train(tmp_path: Path) -> list[object]:
    """The arguments of a training of some seconds, whose state is kept after every epoch."""
    graph, classes = planted_classes(1000, classes=3)
    links = graph.links()
    np.savetxt(tmp_path / "edges.csv", np.column_stack([links.rows(), links.indices]), "%d", ",")
    np.savetxt(tmp_path / "labels.csv", np.column_stack([np.arange(300), classes[:300]]), "%d", ",")
    settings = ["--dim", 8, "--epochs", EPOCHS, "--set", "label_share=0"]
    return [keeps_every_epoch.__file__, "train", "edges.csv", "--labels", "labels.csv", "--out", "run", *settings]


def kept_epochs(folder: Path) -> int:
    try:
        about = json.loads((folder / "run.unfinished" / "about.json").read_text())
    except FileNotFoundError:
        return 0
    return int(about["epochs"])


def wait_for_epochs(folder: Path, count: int) -> int:
    until = time.monotonic() + 240
    while (done := kept_epochs(folder)) < count:
        assert time.monotonic() < until, "no state was kept"
        time.sleep(0.02)
    return done


def test_a_killed_rank_ends_the_job_with_a_sentence_and_another_number_of_ranks_goes_on(train, tmp_path: Path):
    job = torchrun("--nproc-per-node", 2, *train, cwd=tmp_path)
    wait_for_epochs(tmp_path, 5)
    killed = time.monotonic()
    os.kill(ranks_of(job)[1], signal.SIGKILL)
    printed, _ = job.communicate()
    assert time.monotonic() - killed < 60
    assert job.returncode != 0
    assert "SIGKILL" in printed  # torchrun's report
    assert "another rank is gone, or silent" in printed or "interrupted; repeat the command to go on" in printed
    done = kept_epochs(tmp_path)
    assert 5 <= done < EPOCHS
    again = torchrun("--nproc-per-node", 4, *train, cwd=tmp_path)
    printed, _ = again.communicate()
    assert again.returncode == 0, printed
    assert "going on from run.unfinished" in printed
    assert not (tmp_path / "run.unfinished").exists()
    assert_is_the_run_of_one_process(train, tmp_path)


def test_torchrun_restarts_a_job_of_which_a_rank_was_killed(train, tmp_path: Path):
    job = torchrun("--nproc-per-node", 2, "--max-restarts", 1, *train, cwd=tmp_path)
    wait_for_epochs(tmp_path, 5)
    os.kill(ranks_of(job)[0], signal.SIGKILL)
    printed, _ = job.communicate()
    assert job.returncode == 0, printed
    assert "going on from run.unfinished" in printed
    assert_is_the_run_of_one_process(train, tmp_path)


def assert_is_the_run_of_one_process(train: list[object], folder: Path) -> None:
    run = PINE.load(folder / "run")
    assert [row["epoch"] for row in run.history_] == list(range(1, EPOCHS + 1))
    words = ["one" if word == "run" else word for word in train[1:]]
    assert pine(*words, cwd=folder).returncode == 0
    alone = PINE.load(folder / "one")
    np.testing.assert_allclose(
        run.fitted_.vectors, alone.fitted_.vectors, atol=1e-4 * np.abs(alone.fitted_.vectors).max()
    )
    assert pine("predict", "run", "--out", "p.csv", cwd=folder).returncode == 0
