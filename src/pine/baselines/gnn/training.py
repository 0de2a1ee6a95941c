"""Full-batch training: Adam on the mean loss at the known labels, with the whole graph in every step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pine.baselines.gnn.inputs import Features, InputColumns, columns_of, features_of
from pine.baselines.gnn.network import GraphNetwork
from pine.graph import Graph
from pine.labels import Labels
from pine.nn.targets import Targets, predicted_scores


@dataclass(frozen=True, eq=False)
class LabeledGraph:
    """A graph and its labels on a device. Targets of numbers are standardized; labels are as they were given."""

    graph: Graph
    labels: Labels
    columns: Sequence[InputColumns]
    x: Features
    adjacency: Any  # as the network takes it
    targets: Targets

    @classmethod
    def of(
        cls, graph: Graph, labels: Labels, network: type[GraphNetwork], device: torch.device, threads: int | None
    ) -> Self:
        """As a class of networks takes it."""
        columns = columns_of(graph)
        x, adjacency = features_of(graph, columns, device), network.adjacency(graph, device, threads)
        return cls(graph, labels, columns, x, adjacency, Targets.of(graph, labels.standardized()[0], device))

    @property
    def device(self) -> torch.device:
        return self.targets.positions.device


def labeled_scores(graph: Graph, labels: Labels, outputs: Tensor) -> NDArray[np.float32]:
    """Scores of the nodes of the labeled type, numbers in the units of the labels that were learned."""
    own = outputs[graph.nodes.slice(labels.type)]
    return predicted_scores(labels.task, own, *labels.standardized()[1:])


@dataclass(eq=False)
class FullBatchTrainer:
    """A network with its optimizer; adjacencies: the neighbors that each step sees."""

    network: GraphNetwork
    optimizer: torch.optim.Optimizer
    generator: torch.Generator  # of dropout
    data: LabeledGraph
    targets: Targets  # those of data, or some of them
    adjacencies: Iterator[Any]

    def step(self) -> None:
        """One epoch."""
        self.optimizer.zero_grad(set_to_none=True)
        outputs = self.network(self.data.x, next(self.adjacencies), self.generator)[1]
        self.targets.loss(outputs).backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()

    @torch.no_grad()
    def evaluate(self) -> tuple[Tensor, Tensor]:
        """With all neighbors and without dropout: (num_nodes, dim) and (num_nodes, num_outputs)."""
        outputs: tuple[Tensor, Tensor] = self.network(self.data.x, self.data.adjacency)
        return outputs
