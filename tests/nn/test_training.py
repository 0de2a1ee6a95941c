"""Early stopping waits for the held-out loss and score; a seed has two streams."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from pine.nn.training import EarlyStopping, seed_torch, torch_left_alone


def test_patience_keeps_the_last_epoch_at_which_both_were_best():
    patience = EarlyStopping(3)
    history = [(2.0, 0.5), (1.0, 0.6), (0.9, 0.5), (1.1, 0.6), (1.2, 0.1), (1.2, 0.1), (1.2, 0.1), (0.1, 0.9)]
    ends = [patience.ends(epoch, *seen) for epoch, seen in enumerate(history[:7], 1)]
    assert ends == [False] * 6 + [True]
    assert patience.best_epoch == 2
    patience = EarlyStopping(3)
    assert not any(patience.ends(epoch, 1 / epoch, 0.5) for epoch in range(1, 20))
    assert patience.best_epoch == 19


@pytest.mark.parametrize("criterion", ["both", "score", "loss", "loss alone"])
def test_of_epochs_that_are_alike_the_last_is_the_best_and_none_is_waited_for(criterion):
    patience = EarlyStopping(2, criterion)
    assert not any(patience.ends(epoch, 1.0, 0.5) for epoch in range(1, 9))
    assert patience.best_epoch == 8


@pytest.mark.parametrize(
    ("criterion", "best", "last"), [("both", 2, 6), ("score", 4, 6), ("loss", 3, 6), ("loss alone", 3, 5)]
)
def test_a_criterion_chooses_the_best_epoch(criterion, best, last):
    history = [(2.0, 0.5), (1.0, 0.6), (0.9, 0.5), (0.95, 0.6), (1.2, 0.1), (1.2, 0.1)]
    patience = EarlyStopping(2, criterion)
    ends = [patience.ends(epoch, *seen) for epoch, seen in enumerate(history, 1)]
    assert ends.index(True) + 1 == last
    assert patience.best_epoch == best


def test_layers_of_pyg_and_dropout_do_not_draw_the_same_numbers():
    with torch_left_alone(None):
        own = seed_torch(np.random.default_rng(0), torch.device("cpu"))
        assert not torch.equal(torch.rand(5), torch.rand(5, generator=own))
