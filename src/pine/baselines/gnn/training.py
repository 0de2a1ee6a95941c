"""How graph networks are trained: Adam on the mean loss at the known labels, with the whole graph in every step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from pine.baselines.gnn.neural import Goal
from pine.embedder import Fitted
from pine.errors import InputError

# A network's hidden layer (num_nodes, dim) and outputs (num_nodes, num_outputs). With a generator, it draws what
# training leaves to chance.
Forward = Callable[[torch.Generator | None], tuple[Tensor, Tensor]]


def step(forward: Forward, goal: Goal, optimizer: torch.optim.Optimizer, generator: torch.Generator) -> None:
    """One epoch."""
    optimizer.zero_grad(set_to_none=True)
    goal.loss(forward(generator)[1]).backward()  # type: ignore[no-untyped-call]
    optimizer.step()


def fitted(forward: Forward, goal: Goal) -> Fitted:
    """The hidden layer and the scores of all nodes."""
    with torch.no_grad():
        hidden, outputs = forward(None)
    vectors, scores = hidden.cpu().numpy(), goal.scores(outputs)
    if not (np.isfinite(vectors).all() and np.isfinite(scores).all()):
        raise InputError("training diverged; lower learning_rate, or scale the features down")
    return Fitted(vectors, scores)
