"""Losses, scores and early stopping of replicas side by side: (num_nodes, B, num_outputs) to (B,), on their device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from pine.graph import Graph
from pine.labels import Labels
from pine.nn.targets import Targets
from pine.nn.training import Criterion, EarlyStopping


@dataclass(frozen=True, eq=False)
class ReplicaTargets:
    """The labels that some replica sees, over all nodes, and which replica sees which.

    known (n, B): whether a replica sees a label. there (B, num_outputs): the classes that it has; it knows nothing of
    others, as if there were none.
    """

    targets: Targets  # of n nodes
    known: Tensor
    there: Tensor

    @classmethod
    def of(
        cls, graph: Graph, labels: Sequence[Labels], outputs: Sequence[NDArray[np.int64]], device: torch.device
    ) -> Self:
        """Each replica's labels, which agree where they overlap, and the numbers of its classes."""
        some = labels[0]
        nodes, first = np.unique(np.concatenate([each.known for each in labels]), return_index=True)
        values = np.concatenate([each.values for each in labels])[first]
        known, there = np.zeros((len(nodes), len(labels)), bool), np.zeros((len(labels), some.num_outputs), bool)
        for i, (each, own) in enumerate(zip(labels, outputs, strict=True)):
            known[np.searchsorted(nodes, each.known), i] = True
            there[i, own] = True
        targets = Targets.of(graph, replace(some, known=nodes, values=values), device)
        return cls(targets, torch.from_numpy(known).to(device), torch.from_numpy(there).to(device))

    def some(self, which: Tensor) -> Self:
        """Those of some of the replicas."""
        return replace(self, known=self.known.index_select(1, which), there=self.there.index_select(0, which))

    def seen(self) -> list[NDArray[np.int64]]:
        """The numbers of each replica's classes."""
        return [np.flatnonzero(row) for row in self.there.cpu().numpy()]

    def losses(self, outputs: Tensor) -> Tensor:
        """The mean over each replica's labels."""
        rows = self._rows(outputs)
        if self._classes:
            index = self.targets.values[:, None, None].expand(*rows.shape[:2], 1)
            each = -rows.log_softmax(-1).gather(-1, index).squeeze(-1)
        else:
            y = self.targets.values[:, None].expand(rows.shape)
            each = functional.binary_cross_entropy_with_logits(rows, y, reduction="none").sum(-1)
        return each.where(self.known, 0.0).sum(0) / self.known.sum(0)

    def scores(self, outputs: Tensor) -> Tensor:
        """Accuracy, or micro F1, of each replica's labels, as pine.metrics.held_out_score has them."""
        rows = self._rows(outputs)
        if self._classes:
            hits = (rows.argmax(-1) == self.targets.values[:, None]) & self.known
            return hits.sum(0).double() / self.known.sum(0)
        given, true = (rows.sigmoid() >= 0.5) & self.known[..., None], self.targets.values[:, None] > 0
        hits = (given & true).sum((0, 2))
        number = given.sum((0, 2)) + (true & self.known[..., None]).sum((0, 2))
        return 2 * hits.double() / number.clamp(min=1)

    def probabilities(self, outputs: Tensor) -> Tensor:
        """Outputs of any nodes, as the task has them."""
        return self._masked(outputs).softmax(-1) if self._classes else outputs.sigmoid()

    @property
    def _classes(self) -> bool:
        return self.targets.task == "classes"

    def _rows(self, outputs: Tensor) -> Tensor:
        return self._masked(outputs.index_select(0, self.targets.positions))

    def _masked(self, outputs: Tensor) -> Tensor:
        return outputs.masked_fill(~self.there, -torch.inf) if self._classes else outputs


@dataclass(frozen=True, eq=False)
class ReplicaStopping:
    """EarlyStopping of each replica (B,), without a look at any of them."""

    patience: int
    criterion: Criterion
    best_epoch: Tensor
    waited: Tensor
    ended: Tensor
    loss: Tensor
    score: Tensor
    best: tuple[Tensor, Tensor]

    @classmethod
    def like(cls, one: EarlyStopping, count: int, device: torch.device) -> Self:
        """So many of one that has not begun."""
        best_epoch = torch.full((count,), one.best_epoch, device=device)
        waited, ended = torch.zeros_like(best_epoch), torch.zeros_like(best_epoch, dtype=torch.bool)
        low = torch.full((count,), -torch.inf, dtype=torch.float64, device=device)
        rank = (low.clone(), low.clone())
        return cls(one.patience, one.criterion, best_epoch, waited, ended, -low, low, rank)

    def some(self, which: Tensor) -> Self:
        """Those of some of the replicas."""
        names = ("best_epoch", "waited", "ended", "loss", "score")
        kept = {name: getattr(self, name).index_select(0, which) for name in names}
        return replace(self, best=(self.best[0][which], self.best[1][which]), **kept)

    @torch.no_grad()
    def update(self, epoch: int, loss: Tensor, score: Tensor) -> Tensor:
        """Whether the epoch, counted from 1, is the best of a replica so far; of one that has ended none is."""
        loss = loss.double()
        if self.criterion == "loss alone":
            score = -loss
        lower, higher, going = loss <= self.loss, score >= self.score, ~self.ended
        rank = (score, -loss) if self.criterion == "score" else (-loss, torch.zeros_like(loss))
        if self.criterion == "both":
            better = lower & higher & going
        else:
            better = ((rank[0] > self.best[0]) | ((rank[0] == self.best[0]) & (rank[1] >= self.best[1]))) & going
        self.best_epoch.masked_fill_(better, epoch)
        for held, new in zip(self.best, rank, strict=True):
            held.copy_(torch.where(better, new, held))
        self.waited.copy_(torch.where(lower | higher, 0, self.waited + 1))
        self.loss.copy_(torch.fmin(self.loss, loss))
        self.score.copy_(torch.fmax(self.score, score))
        self.ended.logical_or_(self.waited == self.patience)
        return better
