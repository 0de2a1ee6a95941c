"""Early stopping: training ends when neither the held-out loss nor the held-out score was at its best for a while."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Patience:
    """kept is the last epoch at which both were at their best, as in the code of GAT's authors."""

    limit: int  # epochs to wait
    kept: int = 1
    waited: int = 0
    loss: float = float("inf")
    score: float = float("-inf")

    def ends(self, epoch: int, loss: float, score: float) -> bool:
        """Whether the epoch, counted from 1, is the last."""
        if loss <= self.loss and score >= self.score:
            self.kept = epoch
        self.waited = 0 if loss <= self.loss or score >= self.score else self.waited + 1
        self.loss, self.score = min(self.loss, loss), max(self.score, score)
        return self.waited == self.limit
