"""What is trained: a network that scores the labeled nodes of graphs, batch by batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from pine.reproduce.inductive.graphs import Graphs
from pine.reproduce.inductive.settings import Setting

Batches = Iterator[tuple[Tensor, Tensor]]  # scores (n, num_outputs) and labels of n targets


class InductiveNetwork(nn.Module, ABC):
    setting: Setting

    @abstractmethod
    def outputs(self, graphs: Graphs, generator: torch.Generator, shuffled: bool = False) -> Batches:
        """Scores and labels of all targets, shuffled in training; samples of neighbors are drawn from the generator."""


class NodeNetwork(InductiveNetwork):
    """A network that scores some nodes of a graph at a time."""

    @abstractmethod
    def forward(self, graphs: Graphs, nodes: Tensor, generator: torch.Generator) -> Tensor:
        """Scores (n, num_outputs) of nodes (n,)."""

    def outputs(self, graphs: Graphs, generator: torch.Generator, shuffled: bool = False) -> Batches:
        """Scores and labels of all targets, a batch of nodes at a time."""
        count, device = len(graphs.targets), graphs.x.device
        if shuffled:
            order = torch.randperm(count, generator=generator, device=device)
        else:
            order = torch.arange(count, device=device)
        for some in torch.split(order, self.setting.batch):
            yield self(graphs, graphs.targets[some], generator), graphs.labels[some]
