"""A fit that was interrupted goes on from its file, to the same bits as one that was not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import pine
from pine import PINE, Graph, InputError
from pine.model import checkpoint
from pine.model import cross_validation as trainings

SMALL = {"epochs": 30, "folds": 2, "hidden": 8, "projections": 4, "scales": 2, "dim": 8, "threads": 1}
CHOICE = 30  # epochs of the choice; the last of a training is not kept


def planted(seed=0):
    rng = np.random.default_rng(seed)
    groups = np.repeat([0, 1, 2], 12)
    chance = np.where(groups[:, None] == groups[None, :], 0.5, 0.05)
    pairs = np.argwhere(np.triu(rng.random((36, 36)) < chance, 1))
    return Graph.from_edges(pairs, nodes=np.arange(36)), np.where(np.arange(36) % 2, groups, -1)


@pytest.fixture
def stop_after(monkeypatch):
    """Write after every epoch, and interrupt after so many of them; the epochs that were trained are counted."""
    write = checkpoint.Keeper.epoch_done
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    monkeypatch.setattr(trainings, "CHECK", 10)  # so that scores are found before an interruption

    def set_up(epochs):
        trained = []

        def stopping(self, *state):
            write(self, *state)
            trained.append(self.about["stage"])
            if len(trained) == epochs:
                raise KeyboardInterrupt

        monkeypatch.setattr(checkpoint.Keeper, "epoch_done", stopping)
        return trained

    return set_up


@pytest.mark.parametrize("at", [1, 17, CHOICE - 1, CHOICE, CHOICE + 3])
def test_an_interrupted_fit_goes_on_to_the_same_bits(tmp_path, stop_after, at):
    graph, labels = planted()
    whole = PINE(**SMALL).fit(graph, labels)
    file = tmp_path / "state"
    model = PINE(**SMALL, checkpoint=str(file))
    stop_after(at)
    with pytest.raises(KeyboardInterrupt):
        model.fit(graph, labels)
    assert [entry.name for entry in tmp_path.iterdir()] == ["state"]
    trained = stop_after(1000)
    model.fit(graph, labels)
    assert len(trained) + at == CHOICE - 1 + whole.learned_.choice.epochs - 1  # no epoch was trained twice
    np.testing.assert_array_equal(model.embedding_, whole.embedding_)
    np.testing.assert_array_equal(model.predict_proba(), whole.predict_proba())
    assert model.learned_.history == whole.learned_.history
    assert model.learned_.choice == whole.learned_.choice
    assert not file.exists()


def test_fits_without_labels_and_from_an_earlier_run_go_on_too(tmp_path, stop_after):
    graph, labels = planted()
    earlier = PINE(**SMALL).fit(graph, labels)
    for given, begun in ((None, {}), (labels, {"start_from": earlier})):
        whole = PINE(**SMALL).fit(graph, given, **begun)
        model = PINE(**SMALL, checkpoint=str(tmp_path / "state"))
        stop_after(2)
        with pytest.raises(KeyboardInterrupt):
            model.fit(graph, given, **begun)
        stop_after(1000)
        np.testing.assert_array_equal(model.fit(graph, given, **begun).embedding_, whole.embedding_)


def test_a_killed_process_loses_nothing_but_time(tmp_path):
    """kill -9 in the middle of `pine train`, and the same command once more."""
    graph, labels = planted()
    pairs = np.stack([graph.links().rows(), graph.links().indices], axis=1)
    np.savetxt(tmp_path / "edges.csv", pairs, fmt="%d", delimiter=",", header="a,b", comments="")
    known = np.flatnonzero(labels >= 0)
    rows = np.stack([known, labels[known]], axis=1)
    np.savetxt(tmp_path / "labels.csv", rows, fmt="%d", delimiter=",", header="id,label", comments="")

    own = os.environ | {"OMP_NUM_THREADS": "1"}

    def command(out, every=60.0):
        code = f"import pine.model.checkpoint as c; c.EVERY = {every}; from pine.cli import main; main()"
        words = ["train", "edges.csv", "--labels", "labels.csv", "--out", out]
        return subprocess.Popen([sys.executable, "-c", code, *words], cwd=tmp_path, env=own)

    killed = command("run", every=0.0)
    state = tmp_path / "run.unfinished"
    deadline = time.monotonic() + 240
    while not state.exists() and killed.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert state.exists()
    (tmp_path / ".run.unfinished.abc.part").write_bytes(b"half")
    assert not (tmp_path / "run").exists()
    both = command("run"), command("whole")  # side by side
    assert [each.wait() for each in both] == [0, 0]
    run, whole = PINE.load(tmp_path / "run"), PINE.load(tmp_path / "whole")
    np.testing.assert_array_equal(run.embedding_, whole.embedding_)
    assert run.checkpoint is None
    assert {entry.name for entry in tmp_path.iterdir()} == {"edges.csv", "labels.csv", "run", "whole"}


def test_the_state_of_another_fit_is_refused_and_left_as_it_is(tmp_path, stop_after):
    graph, labels = planted()
    file = tmp_path / "state"
    stop_after(3)
    with pytest.raises(KeyboardInterrupt):
        PINE(**SMALL, checkpoint=str(file)).fit(graph, labels)
    before = file.read_bytes()
    other_graph, _ = planted(seed=1)
    fewer = np.where(np.arange(36) < 30, labels, -1)
    for model, data, given in (
        (PINE(**SMALL, seed=1), graph, labels),
        (PINE(**SMALL, dropout=0.1), graph, labels),
        (PINE(**SMALL), other_graph, labels),
        (PINE(**SMALL), graph, fewer),
        (PINE(**SMALL), graph, None),
    ):
        with pytest.raises(InputError, match=r"state is the state of another fit .* remove it to begin anew"):
            model.set_params(checkpoint=str(file)).fit(data, given)
    assert file.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"something else", b"\x08\x00\x00\x00\x00\x00\x00\x00{}      "])
def test_a_file_that_is_no_state_is_refused(tmp_path, content):
    graph, labels = planted()
    (tmp_path / "state").write_bytes(content)
    with pytest.raises(InputError, match="is not the state of a fit"):
        PINE(**SMALL, checkpoint=str(tmp_path / "state")).fit(graph, labels)
    assert (tmp_path / "state").read_bytes() == content


def test_a_fit_that_can_go_on_needs_a_seed(tmp_path):
    graph, labels = planted()
    for seed in (None, np.random.default_rng(0)):
        with pytest.raises(InputError, match="needs a seed that is a number"):
            PINE(**SMALL, seed=seed, checkpoint=str(tmp_path / "state")).fit(graph, labels)


def test_the_typed_form_goes_on_too(tmp_path, stop_after):
    writes = [(f"a{i}", f"p{j}") for i in range(9) for j in range(9) if i % 3 == j % 3 or i == j + 1]
    graph = pine.Graph.from_relations({("author", "writes", "paper"): writes})
    labels = {"author": {f"a{i}": "xyz"[i % 3] for i in range(6)}}
    whole = PINE(**SMALL, functions="per-type").fit(graph, labels)
    model = PINE(**SMALL, functions="per-type", checkpoint=str(tmp_path / "state"))
    stop_after(5)
    with pytest.raises(KeyboardInterrupt):
        model.fit(graph, labels)
    stop_after(1000)
    model.fit(graph, labels)
    for type, vectors in whole.embedding_.items():
        np.testing.assert_array_equal(model.embedding_[type], vectors)
