"""Early stopping waits for the held-out loss and score."""

from __future__ import annotations

from pine.nn.training import EarlyStopping


def test_patience_keeps_the_last_epoch_at_which_both_were_best():
    patience = EarlyStopping(3)
    history = [(2.0, 0.5), (1.0, 0.6), (0.9, 0.5), (1.1, 0.6), (1.2, 0.1), (1.2, 0.1), (1.2, 0.1), (0.1, 0.9)]
    ends = [patience.ends(epoch, *seen) for epoch, seen in enumerate(history[:7], 1)]
    assert ends == [False] * 6 + [True]
    assert patience.best_epoch == 2
    patience = EarlyStopping(3)
    assert not any(patience.ends(epoch, 1 / epoch, 0.5) for epoch in range(1, 20))
    assert patience.best_epoch == 19
