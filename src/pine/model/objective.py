"""What PINE minimizes, eq. (homo-optimization), over vectors x, the function f and the classifier theta at once:

    sum over types k of 1 / (lambda_k |V_k|) sum over v in V_k of || x_v - f(N_v) ||^2
      + mean over labelled v of l_theta(x_v, y_v) + l_theta(f(N_v), y_v)  +  lambda_w sum of ||w_i||^2

Several models that differ in lambda and in the labels they see are trained side by side: a leading dimension B.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pine.graph import CSR, Graph, NeighborGroup
from pine.labels import Labels
from pine.nn import Neighbors, SetFunction
from pine.nn.losses import agreement, class_loss, decorrelation, l2, label_set_loss, number_loss


@dataclass(frozen=True, eq=False)
class Neighborhoods:
    """The K groups of a graph as f sums over them: where each group's nodes stand, and who is whose neighbor."""

    columns: tuple[slice, ...]
    neighbors: tuple[Neighbors, ...]

    @classmethod
    def of(
        cls, graph: Graph, groups: Sequence[NeighborGroup], scaling: str, device: torch.device, threads: int | None
    ) -> Neighborhoods:
        """Cut each group's matrix to the columns of its own type, so that g runs once per node of that type."""
        columns, neighbors = [], []
        for group in groups:
            place = slice(0, graph.num_nodes) if group.type is None else graph.nodes.slice(group.type)
            matrix = group.matrix
            if place != slice(0, graph.num_nodes):
                local = (matrix.indices - matrix.indices.dtype.type(place.start)).astype(matrix.indices.dtype)
                matrix = CSR(matrix.indptr, local, matrix.weights, place.stop - place.start)
            columns.append(place)
            neighbors.append(Neighbors.of(matrix, scaling, device, threads=threads))
        return cls(tuple(columns), tuple(neighbors))


@dataclass(frozen=True, eq=False)
class Targets:
    """The labels to learn: positions (n,) over all nodes, values as the task has them, and who sees which (B, n)."""

    task: str
    positions: Tensor
    values: Tensor
    seen: Tensor
    num_outputs: int

    @classmethod
    def of(cls, graph: Graph, labels: Labels, seen: NDArray[np.bool_], device: torch.device) -> Targets:
        """Labels on a device; numbers must have been scaled before."""
        positions = torch.tensor(graph.nodes.slice(labels.type).start + labels.known, device=device)
        kind = torch.int64 if labels.task == "classes" else torch.float32
        values = torch.tensor(labels.values, device=device).to(kind)
        return cls(labels.task, positions, values, torch.tensor(seen, device=device).float(), labels.num_outputs)


class Objective(nn.Module):
    """x (B, num_nodes, dim), f, theta = w (B, num_outputs, dim), b (B, 1, num_outputs); the loss of each model (B,)."""

    def __init__(
        self,
        start: Tensor,
        f: SetFunction,
        around: Neighborhoods,
        types: Sequence[slice],
        lambdas: Tensor,
        targets: Targets | None,
        *,
        weight_decay: float,
        entropy: float,
        smoothing: float,
        on_f: bool,
        guard: float,
    ) -> None:
        super().__init__()
        batch = len(lambdas)
        self.x = nn.Parameter(start.expand(batch, *start.shape).clone())
        self.f, self.around, self.targets = f, around, targets
        # A type without nodes has no mean agreement.
        filled = [k for k, place in enumerate(types) if place.stop > place.start]
        self.types = [types[k] for k in filled]
        self.lambdas = lambdas if lambdas.shape[1] == 1 else lambdas[:, filled]
        self.weight_decay, self.entropy, self.smoothing = weight_decay, entropy, smoothing
        self.on_f, self.guard = on_f, guard
        outputs = 0 if targets is None else targets.num_outputs
        self.w = nn.Parameter(start.new_zeros(batch, outputs, start.shape[1]))
        self.b = nn.Parameter(start.new_zeros(batch, 1, outputs))

    def reconstruction(self, generator: torch.Generator | None = None) -> Tensor:
        """f of every node's neighbors: (B, num_nodes, dim)."""
        f: Tensor = self.f([self.x[:, place] for place in self.around.columns], self.around.neighbors, generator)
        return f

    def scores(self, vectors: Tensor) -> Tensor:
        """theta on vectors (B, n, dim): (B, n, num_outputs)."""
        return vectors @ self.w.mT + self.b

    def loss(self, generator: torch.Generator, ramp: float = 1.0) -> tuple[Tensor, dict[str, float]]:
        """The loss of each model (B,), and its parts averaged over models; ramp scales what trusts own predictions."""
        f = self.reconstruction(generator)
        parts = {"agreement": self._agreement(f)}
        if self.targets is not None:
            parts |= self._supervised(self.targets, f, ramp)
        if self.guard > 0:
            parts["guard"] = self.guard * decorrelation(self.x)
        return torch.stack(list(parts.values())).sum(0), {
            name: float(part.detach().mean()) for name, part in parts.items()
        }

    def _agreement(self, f: Tensor) -> Tensor:
        by_type = [agreement(self.x[:, place], f[:, place]) for place in self.types]
        return (torch.stack(by_type, -1) / self.lambdas).sum(-1)

    def _supervised(self, targets: Targets, f: Tensor, ramp: float) -> dict[str, Tensor]:
        parts = {"labels": self._labels(targets, self.x), "l2": self.weight_decay * l2(self.w)}
        if self.on_f:
            parts["labels of f"] = self._labels(targets, f)
        if self.entropy > 0 and targets.task != "numbers":
            own = probabilities(targets.task, self.scores(self.x))
            both = (own + probabilities(targets.task, self.scores(f))) / 2 if self.on_f else own
            # Unlabelled nodes should be sure of their class: the boundary moves to where there are few nodes.
            unsure = _entropy(targets.task, both)
            hidden = torch.ones_like(unsure).index_copy(1, targets.positions, 1 - targets.seen)
            parts["entropy"] = self.entropy * ramp * (unsure * hidden).mean(-1)
        return parts

    def _labels(self, targets: Targets, vectors: Tensor) -> Tensor:
        scores = self.scores(vectors.index_select(1, targets.positions))
        if targets.task == "classes":
            return class_loss(scores, targets.values, self.smoothing, targets.seen)
        loss = label_set_loss if targets.task == "label-sets" else number_loss
        return loss(scores, targets.values, targets.seen)

    @torch.no_grad()
    def predictions(self) -> Tensor:
        """The mean of theta on x and theta on f, as probabilities or numbers: (B, num_nodes, num_outputs)."""
        assert self.targets is not None
        task = self.targets.task
        return (probabilities(task, self.scores(self.x)) + probabilities(task, self.scores(self.reconstruction()))) / 2


def probabilities(task: str, scores: Tensor) -> Tensor:
    """Softmax for classes, one logistic function a label for label sets, numbers as they are."""
    return scores.softmax(-1) if task == "classes" else scores.sigmoid() if task == "label-sets" else scores


def _entropy(task: str, p: Tensor) -> Tensor:
    """Of each node's distribution, or summed over its labels: (B, num_nodes)."""
    p = p.clamp(1e-7, 1 - 1e-7)
    each = -p * p.log()
    return (each - (1 - p) * (1 - p).log() if task == "label-sets" else each).sum(-1)
