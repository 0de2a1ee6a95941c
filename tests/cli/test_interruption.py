"""Ctrl-C and SIGTERM: a training that is stopped leaves its state, says so, and the same command goes on."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.command_line import pine, write_ring

from pine import PINE
from pine.cli.interruption import StoppedBySignal, stopping_between_epochs

# Progress tells of every epoch, so that the signal comes while it trains.
SCRIPT = "import pine.cli.progress as p; p.LINE_EVERY = 0.0; from pine.cli import main; main()"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_training_leaves_its_state_and_the_same_command_goes_on(tmp_path: Path, number: int, code: int):
    edges, _ = write_ring(tmp_path)
    (tmp_path / "labels.csv").write_text("id,label\nv0,a\nv5,b\nv6,b\n")
    words = ["train", str(edges), "--labels", str(tmp_path / "labels.csv"), "--epochs", "1500", "--dim", "4"]
    words += ["--threads", "1", "--out"]
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *words, str(tmp_path / "run")], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    while not re.search(r": [1-9]\d* of 1,500", line := process.stderr.readline()):
        assert line, "the training ended before it began"
    process.send_signal(number)
    rest = process.stderr.read()
    process.stderr.close()
    assert process.wait() == code, rest
    assert "stopping after this epoch" in rest
    assert f"repeat the command to go on from {tmp_path / 'run.unfinished'}" in rest
    assert "Traceback" not in rest
    assert not (tmp_path / "run").exists()
    done = pine(*words, tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert f"going on from {tmp_path / 'run.unfinished'}" in done.stdout
    assert pine(*words, tmp_path / "whole").returncode == 0
    whole, run = PINE.load(tmp_path / "whole"), PINE.load(tmp_path / "run")
    np.testing.assert_array_equal(run.embedding_, whole.embedding_)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.csv", "grown.csv", "labels.csv", "run", "whole"]


def test_a_second_signal_stops_at_once_and_the_first_before_training_began():
    said: list[str] = []
    before = signal.getsignal(signal.SIGINT)
    with stopping_between_epochs(said.append) as watched:
        progress = watched(lambda *_: None)
        with pytest.raises(StoppedBySignal):
            signal.raise_signal(signal.SIGINT)  # nothing is trained yet
        progress(1, 10, "epochs")
        signal.raise_signal(signal.SIGINT)
        assert len(said) == 1
        progress(1, 20, "more is planned")  # no epoch ended
        with pytest.raises(StoppedBySignal) as stopped:
            signal.raise_signal(signal.SIGTERM)
        assert stopped.value.exit_code == 143
        with pytest.raises(StoppedBySignal) as stopped:
            progress(2, 20, "epochs")
        assert stopped.value.exit_code == 130
    assert signal.getsignal(signal.SIGINT) is before
