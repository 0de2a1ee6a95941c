"""Adam on batches of training graphs; the weights of the epoch with the best validation micro F1 are tested.

Labels of the validation graphs choose the epoch and nothing else; those of the test graphs are read at the end.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from pine.errors import InputError
from pine.nn.losses import LOSSES
from pine.nn.training import EarlyStopping
from pine.reproduce.inductive.graphs import Graphs
from pine.reproduce.inductive.network import Network

JUDGING = 1  # seeds the samples of neighbors when a network is judged: the same for all networks and epochs


@dataclass(frozen=True)
class Found:
    """Micro F1 on the validation and on the test graphs, the epoch that was kept, and all seconds and epochs."""

    validation: float
    test: float
    kept: int
    epochs: int
    seconds: float


Watch = Callable[[int, float, float], None]  # is told epoch, training loss and validation micro F1


def train(
    network: Network, sides: Mapping[str, Graphs], task: str, generator: torch.Generator, watch: Watch | None = None
) -> Found:
    """Train on sides["train"] until patience with sides["val"] ends; test what was best there."""
    setting, begin = network.setting, time.perf_counter()
    optimizer = torch.optim.Adam(network.parameters(), lr=setting.learning_rate, fused=True)
    patience, best, kept, epoch = EarlyStopping(setting.patience), -1.0, 0, 0
    state: dict[str, Tensor] = {}
    for epoch in range(1, setting.epochs + 1):
        loss = _epoch(network, sides["train"], task, optimizer, generator)
        unseen, score = judged(network, sides["val"], task)
        if watch is not None:
            watch(epoch, loss, score)
        if score > best:
            best, kept = score, epoch
            state = {name: each.clone() for name, each in network.state_dict().items()}
        if patience.ends(epoch, unseen, score):
            break
    network.load_state_dict(state)
    test = judged(network, sides["test"], task)[1]
    return Found(best, test, kept, epoch, time.perf_counter() - begin)


def _epoch(
    network: Network, graphs: Graphs, task: str, optimizer: torch.optim.Optimizer, generator: torch.Generator
) -> float:
    """A step for every batch: the mean loss."""
    network.train()
    total = torch.zeros((), device=graphs.x.device)
    for scores, labels in network.outputs(graphs, generator, shuffled=True):
        loss = LOSSES[task](scores, labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        total += loss.detach() * len(labels)
    mean = float(total) / len(graphs.targets)
    if math.isnan(mean):
        raise InputError("training diverged; lower learning_rate")
    return mean


@torch.no_grad()
def judged(network: Network, graphs: Graphs, task: str) -> tuple[float, float]:
    """Mean loss and micro F1."""
    network.eval()
    generator = torch.Generator(graphs.x.device).manual_seed(JUDGING)
    total = torch.zeros(4, dtype=torch.float64, device=graphs.x.device)
    for scores, labels in network.outputs(graphs, generator):
        total[0] += LOSSES[task](scores, labels) * len(labels)
        total[1:] += hits_and_misses(task, scores, labels)
    loss, hits, wrong, missed = total.tolist()
    return loss / len(graphs.targets), 2 * hits / max(1, 2 * hits + wrong + missed)


def hits_and_misses(task: str, scores: Tensor, labels: Tensor) -> Tensor:
    """Labels rightly given, wrongly given, and not given: (3,). A label of a set is given at a probability of .5."""
    if task == "classes":
        right = (scores.argmax(1) == labels).sum()
        return torch.stack([right, len(labels) - right, len(labels) - right])
    given, true = scores >= 0, labels > 0
    return torch.stack([(given & true).sum(), (given & ~true).sum(), (~given & true).sum()])
