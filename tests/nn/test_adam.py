"""Adam is torch's, to the bit, and imports no compiler."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from pine.nn import adam as adam_module
from pine.nn.adam import Adam


def weights() -> list[torch.nn.Parameter]:
    draw = torch.Generator().manual_seed(0)
    return [torch.nn.Parameter(torch.randn(shape, generator=draw)) for shape in ((7, 3), (3,), (5, 5))]


def groups(params: list[torch.nn.Parameter]) -> list[dict]:
    return [{"params": params[:1], "lr": 0.1}, {"params": params[1:], "weight_decay": 0.3}]


@pytest.mark.parametrize("betas", [(0.9, 0.999), (0.9, 0.99)])
def test_steps_are_those_of_torch(betas):
    ours, theirs = weights(), weights()
    optimizers = Adam(groups(ours), 0.01, betas), torch.optim.Adam(groups(theirs), 0.01, betas, fused=True)
    draw = torch.Generator().manual_seed(1)
    for step in range(5):
        for group, rate in enumerate((0.1 / (step + 1), 0.02)):
            optimizers[0].set_rate(group, rate)
            optimizers[1].param_groups[group]["lr"] = rate
        for one, other in zip(ours, theirs, strict=True):
            one.grad = torch.randn(one.shape, generator=draw)
            other.grad = one.grad.clone()
        if step == 2:
            ours[2].grad = theirs[2].grad = None  # it stays, and its steps are not counted
        for each in optimizers:
            each.step()
        for one, other in zip(ours, theirs, strict=True):
            assert torch.equal(one, other), step
    assert [int(state["step"]) for state in optimizers[0].state] == [5, 5, 4]


@pytest.mark.parametrize("rows", [2, 100])
def test_with_moments_of_two_bytes_steps_go_nearly_the_same_way(rows, monkeypatch):
    monkeypatch.setattr(adam_module, "ROUNDED_ROWS", rows)
    ours, theirs = weights(), weights()
    first = ours[0]
    rounded = Adam(
        groups(ours), 0.01, zeros_like=lambda w: torch.zeros_like(w, dtype=torch.bfloat16 if w is first else None)
    )
    exact = Adam(groups(theirs), 0.01)
    draw = torch.Generator().manual_seed(1)
    for _ in range(30):
        for one, other in zip(ours, theirs, strict=True):
            one.grad = torch.randn(one.shape, generator=draw)
            other.grad = one.grad.clone()
        rounded.step()
        exact.step()
    assert rounded.state[0]["exp_avg"].dtype == torch.bfloat16
    assert [int(state["step"]) for state in rounded.state] == [30, 30, 30]
    moved = (theirs[0] - weights()[0]).abs().mean()
    assert 0 < (ours[0] - theirs[0]).abs().mean() < 0.02 * moved
    assert torch.equal(ours[1], theirs[1])


def test_gradients_are_forgotten():
    (weight, *_) = params = weights()
    weight.grad = torch.ones_like(weight)
    Adam([{"params": params}]).zero_grad()
    assert weight.grad is None


def test_a_fit_does_not_wait_for_the_import_of_a_compiler():
    code = """
import sys
import pine
graph = pine.Graph.from_edges([(0, 1), (1, 2), (2, 3)], features=[[1.0], [2.0], [3.0], [4.0]])
pine.PINE(epochs=2, dim=4).fit(graph, [0, 1, 0, 1])
assert "torch._dynamo" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
