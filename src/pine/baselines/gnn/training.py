"""Full-batch training: Adam on the mean loss at the known labels, with the whole graph in every step, for a number of
epochs or for as long as held-out labels say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pine.baselines.gnn.inputs import Features, InputColumns, columns_of, features_of
from pine.baselines.gnn.network import GraphNetwork
from pine.graph import Graph
from pine.labels import Labels
from pine.metrics import held_out_score
from pine.nn.adam import Adam
from pine.nn.captured import captured
from pine.nn.targets import Targets, predicted_scores
from pine.nn.training import EarlyStopping


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


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Labels that are not learned from: a training is judged by them. Targets have the units of the learned labels."""

    labels: Labels
    targets: Targets
    center: float
    scale: float

    @classmethod
    def of(cls, data: LabeledGraph, labels: Labels) -> Self:
        """Labels beside those that are learned."""
        _, center, scale = data.labels.standardized()
        return cls(labels, Targets.of(data.graph, labels.rescaled(center, scale), data.device), center, scale)

    def judge(self, outputs: Tensor) -> tuple[float, float]:
        """Loss and score of outputs (num_nodes, num_outputs)."""
        own = outputs.index_select(0, self.targets.positions)
        predicted = predicted_scores(self.labels.task, own, self.center, self.scale)
        return float(self.targets.loss(outputs)), held_out_score(self.labels, predicted)


@dataclass(eq=False)
class FullBatchTrainer:
    """A network with its optimizer; adjacencies: the neighbors that each step sees, None: all of them."""

    network: GraphNetwork
    optimizer: Adam
    generator: torch.Generator  # of dropout
    data: LabeledGraph
    targets: Targets  # those of data, or some of them
    adjacencies: Iterator[Any] | None = None

    @cached_property
    def step(self) -> Callable[[], Tensor]:
        """One epoch: its loss."""
        if self.adjacencies is not None:
            return self._step
        return captured(self._step, self.data.device, self.data.graph.num_nodes, self.generator)

    @cached_property
    def outputs(self) -> Callable[[], Tensor]:
        """With all neighbors and without dropout: (num_nodes, num_outputs)."""
        return captured(lambda: self.evaluate()[1], self.data.device, self.data.graph.num_nodes)

    def _step(self) -> Tensor:
        adjacency = self.data.adjacency if self.adjacencies is None else next(self.adjacencies)
        self.optimizer.zero_grad()
        loss = self.network.loss(self.data.x, adjacency, self.targets, self.generator)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return loss.detach()

    @torch.no_grad()
    def evaluate(self) -> tuple[Tensor, Tensor]:
        """What outputs gives, below the last hidden layer: (num_nodes, dim) and (num_nodes, num_outputs)."""
        made: tuple[Tensor, Tensor] = self.network(self.data.x, self.data.adjacency)
        return made


def train_until(trainer: FullBatchTrainer, held: HeldOut, epochs: int, stopping: EarlyStopping) -> int:
    """Train until patience ends. The network is left as it was after the best epoch, whose number is returned."""
    best: dict[str, Tensor] = {}
    for epoch in range(1, epochs + 1):
        trainer.step()
        ends = stopping.ends(epoch, *held.judge(trainer.outputs()))
        if stopping.best_epoch == epoch:
            best = {name: each.clone() for name, each in trainer.network.state_dict().items()}
        if ends:
            break
    trainer.network.load_state_dict(best)
    return stopping.best_epoch


def best_epoch(
    data: LabeledGraph,
    start: Callable[[Targets], FullBatchTrainer],
    epochs: int,
    stopping: EarlyStopping,
    rng: np.random.Generator,
    held_out: float = 0.2,
) -> int:
    """How long to train: a share of the labels is held out from a training, which goes on until patience ends."""
    held = held_out_part(len(data.labels.known), rng, held_out)
    return train_until(start(data.targets.some(~held)), HeldOut.of(data, data.labels.some(held)), epochs, stopping)


def held_out_part(count: int, rng: np.random.Generator, share: float = 0.2) -> NDArray[np.bool_]:
    """Which of so many labels are held out, drawn at random."""
    return np.asarray(rng.permutation(count) < share * count)
