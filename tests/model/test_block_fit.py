"""A fit in blocks of nodes on a device that has too little memory for all at once: what a fit at once gives."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import pine
from pine.distributed.part import Whole
from pine.model import block_objective, fitting, needs
from pine.model.block_part import DevicePart
from pine.model.init import start


@pytest.fixture
def in_blocks(monkeypatch):
    """Blocks on a CPU, which is a device like others here, and the start of large graphs."""
    monkeypatch.setattr(block_objective, "NODES_OF_BLOCK", 60)
    monkeypatch.setattr(start, "EXACT_NODES", 50)

    def fit(model, *given):
        with monkeypatch.context() as patch:
            patch.setattr(fitting, "require_memory_for_fit", lambda *rest, **more: True)
            return model.fit(*given)

    return fit


@pytest.fixture
def planted():
    graph, classes = pine.datasets.planted_classes(160, classes=4, inside=0.8)
    return graph, np.where(np.arange(160) % 3 == 0, classes, -1)


@pytest.mark.parametrize("epochs", [None, 0, 5])
def test_it_gives_what_a_fit_at_once_gives(planted, in_blocks, epochs, monkeypatch):
    monkeypatch.setattr(DevicePart, "noise", Whole.noise)  # which devices draw themselves
    at_once = pine.PINE(dim=8, epochs=epochs, device="cpu").fit(*planted)  # a GPU drops differently at once
    blocks = in_blocks(pine.PINE(dim=8, epochs=epochs, device="cpu"), *planted)
    assert blocks.choice_ == at_once.choice_
    assert np.quantile(np.abs(blocks.embedding_ - at_once.embedding_), 0.99) < 0.02
    assert (blocks.predict() == at_once.predict()).mean() > 0.98
    np.testing.assert_allclose(blocks.reconstruct(), at_once.reconstruct(), atol=0.05)


def test_its_noise_is_the_devices_own_and_goes_by_the_seed(planted, in_blocks):
    graph, _ = planted
    fits = [in_blocks(pine.PINE(dim=8, seed=seed), graph) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(fits[0].embedding_, fits[1].embedding_)
    assert not np.allclose(fits[0].embedding_, fits[2].embedding_)


def test_an_interrupted_one_goes_on(planted, in_blocks, tmp_path):
    graph, labels = planted
    state = tmp_path / "state"
    whole = in_blocks(pine.PINE(dim=8, epochs=6, label_share=0), graph, labels)

    def stop(done, planned, what):
        if done >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_blocks(pine.PINE(dim=8, epochs=6, label_share=0), graph, labels, "auto", None, state, stop)
    assert state.exists()
    resumed = in_blocks(pine.PINE(dim=8, epochs=6, label_share=0), graph, labels, "auto", None, state)
    np.testing.assert_array_equal(resumed.embedding_, whole.embedding_)


def test_blocks_need_less_memory_of_a_gpu_and_are_taken_where_all_at_once_does_not_fit(planted, monkeypatch):
    graph, _ = planted
    monkeypatch.setattr(needs, "device_of", lambda name: torch.device("cuda"))
    monkeypatch.setattr(needs, "NODES_OF_GPU_BLOCK", 10)
    settings = pine.PINE()
    at_once, blocks = (needs.memory_needed(settings, graph, 4, in_blocks=way) for way in (False, True))
    assert blocks.gpu < at_once.gpu
    free = {"bytes": at_once.gpu + 1}
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free["bytes"], 0))

    def in_blocks(**changes):
        return needs.require_memory_for_fit(settings, graph, 4, may_be_in_blocks=True, **changes)

    assert not in_blocks()
    free["bytes"] = blocks.gpu + 1
    assert in_blocks()
    free["bytes"] = blocks.gpu - 1
    with pytest.raises(pine.InputError, match="GPU memory for this graph"):
        in_blocks()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_on_a_gpu_it_is_as_good_as_at_once(in_blocks, monkeypatch):
    monkeypatch.setattr(block_objective, "NODES_OF_GPU_BLOCK", 700)
    graph, classes = pine.datasets.planted_classes(5000, classes=4, inside=0.8)
    labels = np.where(np.arange(5000) % 3 == 0, classes, -1)
    hidden = labels < 0
    at_once, blocks = pine.PINE(device="cuda"), pine.PINE(device="cuda")
    at_once.fit(graph, labels)
    in_blocks(blocks, graph, labels)
    scores = [(each.predict()[hidden] == classes[hidden]).mean() for each in (at_once, blocks)]
    assert abs(scores[0] - scores[1]) < 0.01
