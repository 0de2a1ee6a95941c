"""A step that is captured and launched at once does what the same step does kernel by kernel."""

from __future__ import annotations

import gc

import numpy as np
import pytest
import torch
from support.models import pine_with

import pine.nn.captured as captured
from pine import Graph
from pine.evaluation.variants import parse
from pine.nn.triton_device import runs_triton

pytestmark = pytest.mark.skipif(
    not (torch.cuda.is_available() and runs_triton(torch.device("cuda", 0))), reason="needs a CUDA device with Triton"
)
RNG = np.random.default_rng(0)
KIND = np.arange(300) % 3
EDGES = np.array([(a, b) for a, b in RNG.integers(0, 300, (4000, 2)) if KIND[a] == KIND[b] or RNG.random() < 0.2])
GRAPH, SEEN = Graph.from_edges(EDGES, nodes=range(300)), np.where(np.arange(300) % 2, KIND, -1)


def test_a_captured_fit_is_that_of_eager_steps(monkeypatch):
    fast = pine_with(epochs=40, dim=16, device="cuda").fit(GRAPH, SEEN)
    monkeypatch.setattr(captured, "CAPTURED_NODES", 0)
    slow = pine_with(epochs=40, dim=16, device="cuda").fit(GRAPH, SEEN)
    np.testing.assert_allclose(fast.embedding_, slow.embedding_, atol=1e-4)
    assert fast.learned_.choice == slow.learned_.choice
    for one, other in zip(fast.learned_.history, slow.learned_.history, strict=True):
        assert one == pytest.approx(other, rel=1e-3, abs=1e-6)


def test_the_same_seed_gives_the_same_bits_and_another_one_others():
    one, same, other = (pine_with(epochs=20, dim=16, device="cuda", seed=k).fit(GRAPH, SEEN) for k in (0, 0, 1))
    np.testing.assert_array_equal(one.embedding_, same.embedding_)
    assert np.abs(one.embedding_ - other.embedding_).max() > 1e-3


def test_an_interrupted_fit_goes_on_where_it_was(tmp_path):
    def stop(done: int, planned: int, what: str) -> None:
        if done >= 30:
            raise KeyboardInterrupt

    settings = {"epochs": 40, "dim": 16, "device": "cuda", "label_share": 0.0}
    whole = pine_with(**settings).fit(GRAPH, SEEN)
    model = pine_with(**settings)
    with pytest.raises(KeyboardInterrupt):
        model.fit(GRAPH, SEEN, checkpoint=tmp_path / "state", checkpoint_every=0.0, progress=stop)
    model.fit(GRAPH, SEEN, checkpoint=tmp_path / "state")
    np.testing.assert_allclose(model.embedding_, whole.embedding_, atol=1e-4)


@pytest.mark.parametrize("spec", ["gcn", "gat", "sgc", "mlp", "appnp", "gcnii:layers=8", "grand:batch_norm=true"])
@pytest.mark.parametrize("validated", [False, True])
def test_captured_networks_are_those_of_eager_steps(monkeypatch, spec, validated):
    graph = GRAPH.with_features(np.eye(300, dtype=np.float32)[:, :40] + RNG.random((300, 40), dtype=np.float32))
    validation = np.arange(300) % 4 == 1 if validated else None

    def fit():
        model = parse(spec).new(0).set_params(device="cuda", epochs=30)
        return model.fit(graph, SEEN, validation=validation)

    fast = fit()
    monkeypatch.setattr(captured, "CAPTURED_NODES", 0)
    np.testing.assert_allclose(fast.embedding_, fit().embedding_, atol=1e-3)


def test_an_earlier_step_that_has_become_garbage_is_not_freed_while_another_is_captured():
    device, times = torch.device("cuda", 0), captured.EAGER_STEPS + 2
    weight = torch.zeros(1000, device=device)
    earlier = captured.CapturedStep(lambda: weight + torch.ones_like(weight), device, None)
    for _ in range(times):
        earlier()
    kept: list[dict[str, object]] = [{"earlier": earlier}]
    kept[0]["itself"] = kept[0]
    del earlier

    def step() -> torch.Tensor:
        if torch.cuda.is_current_stream_capturing():
            kept.clear()  # from here on it is a cycle that nobody refers to
            if gc.isenabled():
                gc.collect()
        return weight.add_(1)

    later = captured.CapturedStep(step, device, None)
    for _ in range(times):
        later()
    assert gc.isenabled()
    torch.testing.assert_close(weight, torch.full_like(weight, times))
