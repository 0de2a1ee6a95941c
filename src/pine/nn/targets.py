"""The known labels of a graph as a loss takes them: where they are among all nodes, and their values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from pine.graph import Graph
from pine.labels import Labels
from pine.nn.functional import probabilities
from pine.nn.losses import LOSSES


@dataclass(frozen=True, eq=False)
class Targets:
    """On a device: positions (n,) over all nodes, and values as the task has them; numbers are standardized before."""

    task: str
    num_outputs: int
    positions: Tensor
    values: Tensor

    @classmethod
    def of(cls, graph: Graph, labels: Labels, device: torch.device) -> Self:
        """Labels on a device."""
        positions = torch.tensor(graph.nodes.slice(labels.type).start + labels.known, device=device)
        kind = torch.int64 if labels.task == "classes" else torch.float32
        values = torch.tensor(labels.values, device=device).to(kind)
        return cls(labels.task, labels.num_outputs, positions, values)

    def some(self, which: NDArray[np.bool_] | Tensor | slice) -> Self:
        """Those of a mask (n,), or of a range."""
        kept = which if isinstance(which, slice) else torch.as_tensor(which, device=self.positions.device)
        return replace(self, positions=self.positions[kept], values=self.values[kept])

    def shifted(self, by: int) -> Self:
        """The same with all positions moved."""
        return replace(self, positions=self.positions + by)

    def indicators(self) -> Tensor:
        """Values (n, num_outputs): 0 and 1 for classes and label sets, numbers as they are."""
        if self.task == "classes":
            return functional.one_hot(self.values, self.num_outputs).float()
        return self.values.float() if self.values.ndim == 2 else self.values.float()[:, None]

    def loss(self, outputs: Tensor, weights: Tensor | None = None) -> Tensor:
        """The mean loss at the known nodes, of (num_nodes, num_outputs) before softmax or sigmoid.

        weights (n,): how much each of them counts.
        """
        return LOSSES[self.task](outputs.index_select(0, self.positions), self.values, weights)

    def loss_slope(self, p: Tensor, weights: Tensor) -> Tensor:
        """The gradient of the sum of weights (..., n) times losses, in the scores of the known nodes.

        p (..., n, num_outputs): what those scores predict, probabilities or numbers.
        """
        return loss_slope(self.task, p, self.indicators(), weights[..., None])


def prediction_losses(task: str, p: Tensor, indicators: Tensor) -> Tensor:
    """The losses (..., n) of what scores predict, p (..., num_outputs, n): nodes come last.

    As pine.nn.losses has them, but for probabilities that round to 0, which count as the smallest number.
    """
    if task == "numbers":
        return (p - indicators).square().sum(-2)
    smallest = torch.finfo(p.dtype).tiny
    if task == "classes":
        return -(p * indicators).sum(-2).clamp_min_(smallest).log_()
    return -torch.where(indicators > 0, p, 1 - p).clamp_min_(smallest).log_().sum(-2)


def loss_slope(task: str, p: Tensor, indicators: Tensor, weights: Tensor) -> Tensor:
    """The gradient of losses times weights in the scores that predict p, of any shapes that fit each other."""
    return (p - indicators) * ((2.0 if task == "numbers" else 1.0) * weights)


def predicted_scores(task: str, outputs: Tensor, center: float, scale: float) -> NDArray[np.float32]:
    """Outputs (count, num_outputs) as probabilities, or as numbers in their own units: what Fitted.scores holds."""
    own = probabilities(task, outputs)
    if task == "numbers":
        own = own * scale + center
    scores: NDArray[np.float32] = own.float().cpu().numpy()
    return scores
