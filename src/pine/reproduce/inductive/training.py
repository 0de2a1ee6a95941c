"""Networks that score the nodes of graphs batch by batch, and their training by Adam.

The weights of the epoch with the best validation micro F1 are tested. Labels of the validation graphs choose the epoch
and nothing else; those of the test graphs are read at the end.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from pine.errors import InputError
from pine.metrics import f1
from pine.nn.adam import Adam
from pine.nn.losses import LOSSES
from pine.nn.training import EarlyStopping
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


EVAL_SEED = 1  # of the samples of neighbors when a network is scored: the same for all networks and epochs


@dataclass(frozen=True)
class InductiveResult:
    """Micro F1 on the validation and on the test graphs, the epoch that was kept, and all seconds and epochs."""

    validation: float
    test: float
    kept: int
    epochs: int
    seconds: float


OnEpoch = Callable[[int, float, float], None]  # epoch, training loss, validation micro F1


def train(
    network: InductiveNetwork,
    splits: Mapping[str, Graphs],
    task: str,
    generator: torch.Generator,
    on_epoch: OnEpoch | None = None,
) -> InductiveResult:
    """Train on splits["train"] until patience with splits["val"] ends; test what was best there."""
    setting, begin = network.setting, time.perf_counter()
    optimizer = Adam([{"params": list(network.parameters())}], lr=setting.learning_rate)
    patience, best, kept, epoch = EarlyStopping(setting.patience), -1.0, 0, 0
    state: dict[str, Tensor] = {}
    for epoch in range(1, setting.epochs + 1):
        loss = _epoch(network, splits["train"], task, optimizer, generator)
        val_loss, val_score = score(network, splits["val"], task)
        if on_epoch is not None:
            on_epoch(epoch, loss, val_score)
        if val_score > best:
            best, kept = val_score, epoch
            state = {name: each.clone() for name, each in network.state_dict().items()}
        if patience.ends(epoch, val_loss, val_score):
            break
    network.load_state_dict(state)
    test = score(network, splits["test"], task)[1]
    return InductiveResult(best, test, kept, epoch, time.perf_counter() - begin)


def _epoch(network: InductiveNetwork, graphs: Graphs, task: str, optimizer: Adam, generator: torch.Generator) -> float:
    """A step for every batch: the mean loss."""
    network.train()
    total = torch.zeros((), device=graphs.x.device)
    for scores, labels in network.outputs(graphs, generator, shuffled=True):
        loss = LOSSES[task](scores, labels)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        total += loss.detach() * len(labels)
    mean = float(total) / len(graphs.targets)
    if math.isnan(mean):
        raise InputError("training diverged; lower learning_rate")
    return mean


@torch.no_grad()
def score(network: InductiveNetwork, graphs: Graphs, task: str) -> tuple[float, float]:
    """Mean loss and micro F1."""
    network.eval()
    generator = torch.Generator(graphs.x.device).manual_seed(EVAL_SEED)
    total = torch.zeros(4, dtype=torch.float64, device=graphs.x.device)
    for scores, labels in network.outputs(graphs, generator):
        total[0] += LOSSES[task](scores, labels) * len(labels)
        total[1:] += label_counts(task, scores, labels)
    loss, *counts = total.tolist()
    return loss / len(graphs.targets), f1(*counts)


def label_counts(task: str, scores: Tensor, labels: Tensor) -> Tensor:
    """Labels rightly given, given, and true: (3,). A label of a set is given where its probability is at least .5."""
    if task == "classes":
        right = (scores.argmax(1) == labels).sum()
        return torch.stack([right, right.new_tensor(len(labels)), right.new_tensor(len(labels))])
    given, true = scores >= 0, labels > 0
    return torch.stack([(given & true).sum(), given.sum(), true.sum()])
