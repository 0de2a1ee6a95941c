"""Ctrl-C and SIGTERM: a training that is stopped leaves its state, says so, and the same command goes on."""

from __future__ import annotations

import importlib
import io
import json
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from llvmlite.binding import ffi
from support.command_line import pine, write_ring
from support.training import steps_of

from pine import METHODS, PINE
from pine._internal.signals import advising, stopped_with_a_sentence
from pine.cli.interruption import saving_first, stopping_between_epochs
from pine.datasets import planted_classes
from pine.io.run_folder import replaced_folder

STOPPED = Path(__file__).parents[1] / "support" / "stopped.py"
# Progress tells of every epoch, so that the signal comes while it trains.
SCRIPT = "import pine.cli.progress as p; p.LINE_EVERY = 0.0; from pine.cli import main; main()"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], PINE]:
    """A command without its --out, and what it trains when nobody stops it."""
    folder = tmp_path_factory.mktemp("whole")
    edges, _ = write_ring(folder)
    (folder / "labels.csv").write_text("id,label\nv0,a\nv5,b\nv6,b\n")
    words = ["train", str(edges), "--labels", str(folder / "labels.csv"), "--epochs", "400", "--dim", "4"]
    words += ["--threads", "1", "--out"]
    assert pine(*words, folder / "run").returncode == 0
    return words, PINE.load(folder / "run")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_training_leaves_its_state_and_the_same_command_goes_on(
    tmp_path: Path, number: int, code: int, whole: tuple[list[str], PINE]
):
    words, expected = whole
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *words, str(tmp_path / "run")], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    while not re.search(r": [1-9]\d* of 400", line := process.stderr.readline()):
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
    np.testing.assert_array_equal(PINE.load(tmp_path / "run").embedding_, expected.embedding_)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def exit_code(work: Callable[[], object]) -> int:
    """Of a process that would do this work, and is stopped by a signal."""
    try:
        with stopped_with_a_sentence():
            work()
    except SystemExit as end:
        return int(end.code or 0)
    pytest.fail("it went on")


def test_a_second_signal_stops_at_once_and_the_first_before_training_began(capfd: pytest.CaptureFixture[str]):
    before = signal.getsignal(signal.SIGINT)

    def train(*signals: int, epochs: int = 3) -> None:
        with stopping_between_epochs() as watched:
            progress = watched(lambda *_: None)
            progress(epochs - 2, 10, "epochs")
            for number in signals:
                signal.raise_signal(number)
                progress(epochs - 2, 20, "more is planned")  # no epoch ended
            progress(epochs - 1, 20, "epochs")
            pytest.fail("an epoch ended")

    assert exit_code(lambda: train(signal.SIGINT)) == 130
    assert capfd.readouterr().err.startswith("stopping after this epoch")
    assert exit_code(lambda: train(signal.SIGINT, signal.SIGTERM)) == 143
    assert capfd.readouterr().err.endswith("once more to stop at once\ninterrupted\n")
    assert exit_code(lambda: train(signal.SIGINT, epochs=2)) == 130  # nothing is trained yet
    assert capfd.readouterr().err == "interrupted\n"
    assert signal.getsignal(signal.SIGINT) is before


class SignaledWrites(io.RawIOBase):
    """A stream that is written to when a signal comes."""

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        signal.raise_signal(signal.SIGTERM)
        return len(content)


@pytest.mark.parametrize("trains", [True, False])
def test_a_signal_in_the_midst_of_a_write_to_standard_error_is_handled(
    trains: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    stream = io.TextIOWrapper(io.BufferedWriter(SignaledWrites(), 1), write_through=True)
    monkeypatch.setattr(sys, "stderr", stream)

    def tell(now: int, planned: int, what: str) -> None:
        if now == 2:
            stream.write("progress")

    def train() -> None:
        with stopping_between_epochs() as watched:
            for epoch in (1, 2, 3):
                watched(tell)(epoch, 10, "epochs")

    assert exit_code(train if trains else lambda: tell(2, 10, "reading")) == 143
    assert capfd.readouterr().err.splitlines()[-1] == "interrupted"


class Cleared:
    """Python drops what is raised while it clears up after an object."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGTERM)


def test_a_signal_is_not_lost_where_python_drops_exceptions_nor_in_an_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    done = []

    def clear_up() -> None:
        Cleared()
        done.append("cleared up")
        time.sleep(10)

    def import_module() -> None:
        with advising(lambda: "repeat the command"):
            done.append(importlib.import_module("signaled").__name__)
            time.sleep(10)

    assert exit_code(clear_up) == 143
    swallowed = "try:\n    signal.raise_signal(2)\nexcept BaseException: pass\n"
    (tmp_path / "signaled.py").write_text(f"import signal\n{swallowed}")
    monkeypatch.syspath_prepend(tmp_path)
    assert exit_code(import_module) == 130
    assert done == ["cleared up", "signaled"]
    assert capfd.readouterr().err == "interrupted\ninterrupted; repeat the command\n"


def test_a_signal_while_a_loop_is_compiled_leaves_no_lock_behind_that_other_threads_wait_for():
    lock, signals = ffi.lib._lock, [signal.SIGTERM]

    def locked() -> None:
        if signals:
            signal.raise_signal(signals.pop())

    def compile_loop() -> None:
        with advising(lambda: "repeat the command"):
            numba.njit(lambda x: x + 1)(1)
            time.sleep(10)

    lock.register(locked, lambda: None)
    try:
        assert exit_code(compile_loop) == 143
    finally:
        lock._cblist.pop()
    with ThreadPoolExecutor(1) as other:
        assert other.submit(lock._lock.acquire, timeout=1).result()
        other.submit(lock._lock.release).result()


def test_a_save_ends_before_a_signal_does_and_a_second_signal_leaves_nothing_of_it(tmp_path: Path):
    def save(name: str, signals: int) -> None:
        with saving_first(name), replaced_folder(tmp_path / name) as folder:
            (folder / "file").touch()
            for _ in range(signals):
                signal.raise_signal(signal.SIGTERM)

    with stopped_with_a_sentence():
        save("run", signals=1)
    assert (tmp_path / "run" / "file").exists()
    assert exit_code(lambda: save("other", signals=2)) == 143
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_at_every_moment_a_signal_ends_a_training_with_its_exit_code_and_nothing_half_written(tmp_path: Path):
    (tmp_path / "inputs").mkdir()
    write_ring(tmp_path / "inputs")
    (tmp_path / "inputs" / "labels.csv").write_text("id,label\nv0,a\nv5,b\nv6,b\n")
    words = ["train", "edges.csv", "--labels", "labels.csv", "--epochs", "40", "--dim", "4", "--threads", "1"]
    command = [sys.executable, str(STOPPED), str(tmp_path), "24", *words, "--out", "run"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    inputs, ends = {"edges.csv", "grown.csv", "labels.csv"}, Counter[tuple[bool, int]]()
    for run in json.loads(done.stdout):
        left = set(run["left"]) - inputs
        assert "Traceback" not in run["text"], run
        if run["code"] == 0:  # it came while the run was saved, or afterwards
            assert left == {"run"}, run
            assert "next:" in run["text"]
        else:
            assert run["code"] == 128 + run["signal"], run
            assert left <= {"run.unfinished"}, run
            assert ("go on from run.unfinished" in run["text"]) == bool(left), run
            assert "interrupted" in run["text"].splitlines()[-1]
        ends[run["code"] == 0, len(left)] += 1
    assert len(ends) == 3, ends  # before there was anything to keep, with a state, and with a run


@pytest.mark.skipif(not Path("/proc").exists(), reason="needs /proc")
def test_a_signal_while_everything_is_imported_ends_the_command_with_one_word(tmp_path: Path):
    edges, _ = write_ring(tmp_path)
    for delay, number in zip((0.0, 0.1, 0.4, 1.0), [signal.SIGINT, signal.SIGTERM] * 2, strict=True):
        words = [sys.executable, "-m", "pine", "train", str(edges), "--out", str(tmp_path / "run")]
        process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        caught = 0
        while not caught & 1 << signal.SIGTERM - 1:  # Python has begun to run pine
            status = Path(f"/proc/{process.pid}/status").read_text()
            caught = int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16)  # type: ignore[index]
        time.sleep(delay)
        process.send_signal(number)
        _, printed = process.communicate()
        assert (process.returncode, printed[:11]) == (128 + number, "interrupted"), printed
        assert printed.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_training_that_is_done_and_not_saved_goes_on_from_its_last_state(tmp_path: Path):
    graph, labels = planted_classes(60, classes=3)
    model = PINE(dim=8, epochs=20)
    model.fit(graph, labels, checkpoint=tmp_path / "state", keep_checkpoint=True)
    again = PINE(dim=8, epochs=20)
    assert steps_of(lambda: again.fit(graph, labels, checkpoint=tmp_path / "state")) in ([], [0])
    np.testing.assert_array_equal(again.embedding_, model.embedding_)


def test_evaluate_and_reproduce_say_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    fit, fits = METHODS["label-propagation"].fit, []

    def stopped(self: Any, *given: Any, **options: Any) -> Any:
        fits.append(self)
        if len(fits) == 2:
            signal.raise_signal(signal.SIGTERM)
        return fit(self, *given, **options)

    monkeypatch.setattr(METHODS["label-propagation"], "fit", stopped)
    words = ["evaluate", "cora", "--methods", "label-propagation", "--ratios", "0.5", "--repeats", "2"]
    done = pine(*words, "--json", tmp_path / "runs.json")
    assert done.returncode == 143
    how = f"the runs that have ended are kept in {tmp_path / 'runs.json'}: repeat the command with --resume to go on"
    assert capfd.readouterr().err == f"interrupted; {how}\n"
    assert len(json.loads((tmp_path / "runs.json").read_text())) == 1
    done = pine(*words, "--json", tmp_path / "runs.json", "--resume")
    assert done.returncode == 0, done.stderr
    assert len(fits) == 3

    monkeypatch.setattr("pine.reproduce.reproduce", lambda *_: signal.raise_signal(signal.SIGTERM))
    assert pine("reproduce", "homogeneous", "--out", tmp_path / "made").returncode == 143
    how = f"what was made is kept in {tmp_path / 'made'}: repeat the command to go on"
    assert capfd.readouterr().err == f"interrupted; {how}\n"
