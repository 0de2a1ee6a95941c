"""A fit that was interrupted goes on from its file, to the same bits as one that was not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.models import pine_with

from pine import METHODS, PINE, Graph, InputError
from pine.model import choice
from pine.nn.adam import Adam

# The share is chosen in 50 epochs, 100 follow.
SMALL = {"hidden": 4, "projections": 2, "scales": 2, "dim": 4, "threads": 1}
PART = 30  # epochs of each of the two held-out parts
CHOICE = 2 * PART


def planted(seed=0):
    rng = np.random.default_rng(seed)
    groups = np.repeat([0, 1, 2], 12)
    chance = np.where(groups[:, None] == groups[None, :], 0.5, 0.05)
    pairs = np.argwhere(np.triu(rng.random((36, 36)) < chance, 1))
    return Graph.from_edges(pairs, nodes=np.arange(36)), np.where(np.arange(36) % 2, groups, -1)


class Interrupt:
    """Progress that counts epochs, and interrupts after one of them, whose state is written then."""

    def __init__(self, epoch: float = float("inf")) -> None:
        self.epoch = epoch
        self.steps: list[int] = []

    def __call__(self, done: int, planned: int, what: str) -> None:
        if done > sum(self.steps):
            self.steps.append(done - sum(self.steps))
        if len(self.steps) == self.epoch:
            raise KeyboardInterrupt


def interrupt(model: PINE, file: Path, epoch: int, graph: Graph, labels: Any, **options: Any) -> None:
    progress = Interrupt(epoch)
    with pytest.raises(KeyboardInterrupt):
        model.fit(graph, labels, checkpoint=file, progress=progress, **options)


def test_the_last_good_state_stays_when_a_training_diverges(tmp_path, monkeypatch):
    graph, labels = planted()
    file, model = tmp_path / "state", pine_with(**SMALL)
    interrupt(model, file, CHOICE + 3, graph, labels)
    good = file.read_bytes()
    steps = iter(range(10**6))

    def step(optimizer: Adam) -> None:
        adam_step(optimizer)
        if next(steps) == 5:  # the loss of this epoch is a number still
            for parameter in optimizer.param_groups[0]["params"]:
                parameter.data.fill_(float("nan"))

    adam_step = Adam.step
    monkeypatch.setattr(Adam, "step", step)
    with pytest.raises(InputError, match=r"diverged in epoch \d+: its step led to values that are no numbers"):
        model.fit(graph, labels, checkpoint=file, progress=Interrupt(7), checkpoint_every=1e9)
    assert file.read_bytes() == good
    monkeypatch.undo()
    model.fit(graph, labels, checkpoint=file)
    np.testing.assert_array_equal(model.embedding_, pine_with(**SMALL).fit(graph, labels).embedding_)


@pytest.mark.parametrize("epoch", [1, 17, PART, PART + 4, CHOICE, CHOICE + 3])
def test_an_interrupted_fit_goes_on_to_the_same_bits(tmp_path, epoch):
    graph, labels = planted()
    whole = pine_with(**SMALL).fit(graph, labels)
    file, model = tmp_path / "state", pine_with(**SMALL)
    interrupt(model, file, epoch, graph, labels)
    assert [entry.name for entry in tmp_path.iterdir()] == ["state"]
    progress = Interrupt()
    model.fit(graph, labels, checkpoint=file, progress=progress)
    # The epochs that were done come at once, and each of the others is trained once; before the second part of the
    # choice, the first is made again.
    again = PART if PART < epoch <= CHOICE else 0
    assert progress.steps[:again] == [1] * again
    done, left = (epoch - again, CHOICE - epoch) if epoch <= CHOICE else (epoch - CHOICE, 1)
    assert progress.steps[again] == done
    assert progress.steps[again + 1 : again + 1 + left] == [1] * left
    np.testing.assert_array_equal(model.embedding_, whole.embedding_)
    np.testing.assert_array_equal(model.predict_proba(), whole.predict_proba())
    assert model.learned_.history == whole.learned_.history
    assert model.learned_.choice == whole.learned_.choice
    assert not file.exists()


@pytest.mark.parametrize(
    ("epoch", "rests"), [(CHOICE + 1, False), (CHOICE + 150, True), (CHOICE + 170, False), (CHOICE + 310, False)]
)
def test_so_does_one_that_looks_at_all_of_the_training_before_it_leaves_it_out(tmp_path, monkeypatch, epoch, rests):
    graph, labels = planted()

    def fitted(progress: Interrupt | None = None, file: Path | None = None) -> PINE:
        answers = iter([True, rests])
        monkeypatch.setattr(choice, "clearly_better", lambda *given: next(answers))
        return pine_with(**SMALL).fit(graph, labels, checkpoint=file, checkpoint_every=0.0, progress=progress)

    whole, file = fitted(), tmp_path / "state"
    with pytest.raises(KeyboardInterrupt):
        fitted(Interrupt(epoch), file)
    model = fitted(file=file)
    np.testing.assert_array_equal(model.embedding_, whole.embedding_)
    np.testing.assert_array_equal(model.predict_proba(), whole.predict_proba())
    assert model.learned_.choice == whole.learned_.choice
    assert (model.learned_.choice.epochs == 0) == rests


def test_a_checkpoint_that_is_to_be_kept_is_there_after_the_fit(tmp_path):
    graph, labels = planted()
    for keep in (True, False):
        options = {"checkpoint": tmp_path / "state", "checkpoint_every": 0.0, "keep_checkpoint": keep}
        pine_with(**SMALL).fit(graph, labels, **options)
        assert (tmp_path / "state").exists() == keep


@cache
def fitted_with_features(useful):
    """A graph, its labels, a fit that nobody interrupts, and its steps."""
    bare, labels = planted()
    rng = np.random.default_rng(0)
    words = np.repeat([0, 1, 2], 12)[:, None] == np.arange(6) % 3
    graph = bare.with_features(rng.normal(size=(36, 6)) + 2.0 * useful * words)
    counting = Interrupt()
    whole = pine_with(**SMALL).fit(graph, labels, progress=counting)
    return graph, labels, whole, len(counting.steps)


@pytest.mark.parametrize("useful", [True, False])
@pytest.mark.parametrize("part", [0.1, 0.3, 0.5, 0.7, 0.95])
def test_an_interrupted_fit_with_features_goes_on_to_the_same_bits(tmp_path, part, useful):
    graph, labels, whole, steps = fitted_with_features(useful)
    file, model = tmp_path / "state", pine_with(**SMALL)
    interrupt(model, file, int(part * steps), graph, labels)
    model.fit(graph, labels, checkpoint=file, checkpoint_every=0.0)
    np.testing.assert_array_equal(model.embedding_, whole.embedding_)
    np.testing.assert_array_equal(model.predict_proba(), whole.predict_proba())
    assert model.learned_.choice == whole.learned_.choice
    assert not list(tmp_path.iterdir())


def test_moments_of_two_bytes_go_on_to_the_same_bits(tmp_path):
    graph, labels = planted()
    few = SMALL | {"epochs": 20, "moments": "bfloat16"}
    whole = pine_with(**few).fit(graph, labels)
    assert not np.array_equal(whole.embedding_, pine_with(**few | {"moments": "float32"}).fit(graph, labels).embedding_)
    file, model = tmp_path / "state", pine_with(**few)
    interrupt(model, file, 12, graph, labels)
    model.fit(graph, labels, checkpoint=file)
    np.testing.assert_array_equal(model.embedding_, whole.embedding_)


def test_fits_from_an_earlier_run_go_on_too(tmp_path):
    graph, labels = planted()
    few = SMALL | {"epochs": 20}
    earlier = pine_with(**few).fit(graph, labels)
    whole = pine_with(**few).fit(graph, labels, start_from=earlier)
    file, model = tmp_path / "state", pine_with(**few)
    interrupt(model, file, 3, graph, labels, start_from=earlier)
    model.fit(graph, labels, checkpoint=file, start_from=earlier)
    np.testing.assert_array_equal(model.embedding_, whole.embedding_)


def test_a_killed_process_loses_nothing_but_time(tmp_path):
    """kill -9 in the middle of a fit, and `pine train` with the same files and settings goes on from its state."""
    graph, labels = planted()
    pairs = np.stack([graph.links().rows(), graph.links().indices], axis=1)
    np.savetxt(tmp_path / "edges.csv", pairs, fmt="%d", delimiter=",", header="a,b", comments="")
    known = np.flatnonzero(labels >= 0)
    rows = np.stack([known, labels[known]], axis=1)
    np.savetxt(tmp_path / "labels.csv", rows, fmt="%d", delimiter=",", header="id,label", comments="")
    own = os.environ | {"OMP_NUM_THREADS": "1"}
    code = (
        "import pine; from pathlib import Path\n"
        "graph = pine.Graph.from_edges('edges.csv')\n"
        "labels = pine.io.read_label_file(Path('labels.csv'), graph)\n"
        "pine.PINE().fit(graph, labels, checkpoint='run.unfinished', checkpoint_every=0)"
    )
    killed = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, env=own)
    state = tmp_path / "run.unfinished"
    deadline = time.monotonic() + 240
    while not state.exists() and killed.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert state.exists()
    (tmp_path / ".run.unfinished.abc.part").write_bytes(b"half")

    def train(out):
        words = ["train", "edges.csv", "--labels", "labels.csv", "--out", out]
        return subprocess.Popen([sys.executable, "-m", "pine", *words], cwd=tmp_path, env=own)

    both = train("run"), train("whole")  # side by side
    assert [each.wait() for each in both] == [0, 0]
    run, whole = PINE.load(tmp_path / "run"), PINE.load(tmp_path / "whole")
    np.testing.assert_array_equal(run.embedding_, whole.embedding_)
    assert {entry.name for entry in tmp_path.iterdir()} == {"edges.csv", "labels.csv", "run", "whole"}


def test_the_state_of_another_fit_is_refused_and_left_as_it_is(tmp_path):
    graph, labels = planted()
    file = tmp_path / "state"
    interrupt(pine_with(**SMALL), file, 3, graph, labels)
    before = file.read_bytes()
    other_graph, _ = planted(seed=1)
    fewer = np.where(np.arange(36) < 30, labels, -1)
    for model, data, given in (
        (pine_with(**SMALL, seed=1), graph, labels),
        (pine_with(**SMALL, dropout=0.1), graph, labels),
        (pine_with(**SMALL), other_graph, labels),
        (pine_with(**SMALL), graph, fewer),
        (pine_with(**SMALL), graph, None),
    ):
        with pytest.raises(InputError, match=r"state is the state of another fit .* remove it to begin anew"):
            model.fit(data, given, checkpoint=file)
    assert file.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"something else", b"\x08\x00\x00\x00\x00\x00\x00\x00{}      "])
def test_a_file_that_is_no_state_is_refused(tmp_path, content):
    graph, labels = planted()
    (tmp_path / "state").write_bytes(content)
    with pytest.raises(InputError, match="is not the state of a fit"):
        pine_with(**SMALL).fit(graph, labels, checkpoint=str(tmp_path / "state"))
    assert (tmp_path / "state").read_bytes() == content


def test_every_flipped_byte_of_a_state_is_found(tmp_path):
    graph, labels = planted()
    file, model = tmp_path / "state", pine_with(**SMALL)
    interrupt(model, file, 5, graph, labels)
    whole, rng = file.read_bytes(), np.random.default_rng(0)
    for place in rng.choice(len(whole), 60, replace=False):
        broken = bytearray(whole)
        broken[place] ^= 1 << int(rng.integers(8))
        file.write_bytes(broken)
        with pytest.raises(InputError, match=r"is not the state of a fit|is the state of another fit"):
            model.fit(graph, labels, checkpoint=file)


def test_a_fit_that_can_go_on_needs_a_seed(tmp_path):
    graph, labels = planted()
    for seed in (None, np.random.default_rng(0)):
        with pytest.raises(InputError, match="needs a seed that is a number"):
            pine_with(**SMALL, seed=seed).fit(graph, labels, checkpoint=tmp_path / "state")


def test_the_typed_form_goes_on_too(tmp_path):
    writes = [(f"a{i}", f"p{j}") for i in range(9) for j in range(9) if i % 3 == j % 3 or i == j + 1]
    graph = Graph.from_relations({("author", "writes", "paper"): writes})
    labels = {"author": {f"a{i}": "xyz"[i % 3] for i in range(6)}}
    few = SMALL | {"epochs": 20}
    whole = pine_with(**few).fit(graph, labels)
    file, model = tmp_path / "state", pine_with(**few)
    interrupt(model, file, 5, graph, labels)
    model.fit(graph, labels, checkpoint=file)
    for type, vectors in whole.embedding_.items():
        np.testing.assert_array_equal(model.embedding_[type], vectors)


def test_a_method_that_keeps_no_checkpoints_says_so(tmp_path):
    graph, labels = planted()
    with pytest.raises(InputError, match="label-propagation keeps no checkpoints; leave checkpoint out"):
        METHODS["label-propagation"]().fit(graph, labels, checkpoint=tmp_path / "state")
