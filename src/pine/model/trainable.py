"""What the one training loop asks of an objective (pine.model.training)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from pine.distributed.ranks import ALONE, Ranks


class Trainable(nn.Module, ABC):
    """Parameters, and a loss that is a sum over batches of nodes, and over ranks that share them."""

    batches: Sequence[Any] = (None,)
    ranks: Ranks = ALONE

    @property
    def is_batched(self) -> bool:
        """Whether a step is made of several parts, or draws neighbors."""
        return len(self.batches) > 1

    @property
    @abstractmethod
    def num_nodes(self) -> int: ...

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    @abstractmethod
    def vectors_of_nodes(self) -> list[nn.Parameter]:
        """The parameters that learn at embedding_lr; all others learn at learning_rate, and are those of all ranks."""

    def shared_parameters(self) -> list[nn.Parameter]:
        """All others that learn."""
        own = set(map(id, self.vectors_of_nodes()))
        return [each for each in self.parameters() if id(each) not in own and each.requires_grad]

    def zeros_like(self, parameter: nn.Parameter) -> Tensor:
        """Room for a moment of one of them."""
        return torch.zeros_like(parameter.detach())

    def backward(self, generator: torch.Generator, warmup: Tensor) -> tuple[list[str], Tensor]:
        """Add up the gradients of all batches; the terms of the loss, and before them their names."""
        lines, names = [], []
        for batch in self.batches:
            terms = self.loss(generator, warmup, batch)
            loss = torch.stack(list(terms.values()))
            loss.sum().backward()  # type: ignore[no-untyped-call]
            names = list(terms)
            lines.append(loss.detach())
        return names, torch.stack(lines).sum(0)

    @abstractmethod
    def loss(self, generator: torch.Generator, warmup: Tensor | float, batch: Any) -> dict[str, Tensor]:
        """The terms of the loss of a batch, scalars to be summed; warmup scales those that trust the model itself."""
