"""Steps of Planetoid follow the gradients that torch finds, and held-out labels choose how many there are."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

from pine.baselines.planetoid.network import PlanetoidNetwork


def network_of(num_classes: int, dim: int, **settings) -> PlanetoidNetwork:
    """A network of 41 nodes."""
    rates = {"learning_rate": 0.01, "context_rate": 0.01, "batch": 200}
    rng, device = np.random.default_rng(0), torch.device("cpu")
    return PlanetoidNetwork(41, num_classes, dim, **rates | settings, rng=rng, device=device)


@pytest.mark.parametrize("max_scores", [2**24, 41 * 3])
def test_a_context_step_follows_torchs_own_gradient(max_scores):
    network = network_of(2, 5, context_rate=0.1, max_scores=max_scores)
    rng = np.random.default_rng(1)
    pairs = rng.integers(0, 9, 60), rng.integers(0, 41, 60)
    free = [each.clone().requires_grad_() for each in (network.e, network.context_w, network.context_b)]
    e, w, b = free
    centers, contexts = (torch.tensor(each) for each in pairs)
    functional.cross_entropy(e[centers] @ w.T + b, contexts, reduction="sum").backward()
    network.context_step(pairs)
    for ours, theirs in zip((network.e, network.context_w, network.context_b), free, strict=True):
        assert theirs.grad is not None
        torch.testing.assert_close(ours, theirs.detach() - 0.1 * theirs.grad)


def test_a_step_of_the_classifier_follows_torchs_own_gradient():
    network = network_of(3, 5, learning_rate=0.1)
    nodes, values = torch.tensor([3, 7, 40]), torch.tensor([2, 0, 0])
    free = [each.clone().requires_grad_() for each in (network.e, network.class_w, network.class_b)]
    e, w, b = free
    functional.cross_entropy(e[nodes] @ w.T + b, values).backward()
    network.class_step(nodes, values)
    for ours, theirs in zip((network.e, network.class_w, network.class_b), free, strict=True):
        assert theirs.grad is not None
        torch.testing.assert_close(ours, theirs.detach() - 0.1 * theirs.grad)


def test_the_choice_is_the_step_of_the_least_held_out_loss():
    network = network_of(2, 16, learning_rate=1.0)
    nodes, zeros = np.arange(8), np.zeros(8, np.int64)
    held = np.arange(4)  # held-out labels that training speaks against: the loss is least at the first look
    assert network.best_steps(nodes, zeros, held, np.ones(4, np.int64), 2000, 100) == 10
    assert network.best_steps(nodes, zeros, held, np.zeros(4, np.int64), 2000, 100) == 2000
