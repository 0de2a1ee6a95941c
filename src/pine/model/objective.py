"""What PINE minimizes, eq. (homo-optimization), over vectors x, the function f and the classifier theta at once:

    sum over types k of 1 / (lambda_k |V_k|) sum over v in V_k of || x_v - f(N_v) ||^2
      + mean over labelled v of l_theta(x_v, y_v) + l_theta(f(N_v), y_v)  +  lambda_w sum of ||w_i||^2

With one lambda for all types, every node's agreement weighs 1 / (lambda |V|).
With attributes a, x_v = e_v + A a_v with e_v free, and f(N_v) + A a_v is in the place of f(N_v).
Several models that differ in lambda and in the labels they see are trained side by side: a leading dimension B.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pine.graph import Graph
from pine.labels import Labels
from pine.model.attributes import Attributes
from pine.model.functions import NeighborFunction
from pine.model.theta import entropy, predictions, scores
from pine.nn.losses import LOSSES, agreement, decorrelation, l2


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
    """e (B, num_nodes, dim), f, theta = w (B, num_outputs, dim), b (B, 1, num_outputs); the loss of each model (B,).

    size: (num_nodes, dim). types: where the nodes of each type stand. lambdas: (B, 1 or number of types).
    """

    def __init__(
        self,
        size: tuple[int, int],
        f: NeighborFunction,
        types: Sequence[slice],
        lambdas: Tensor,
        targets: Targets | None,
        attributes: Attributes | None = None,
        *,
        weight_decay: float,
        entropy: float,
        on_f: bool,
        guard: float,
    ) -> None:
        super().__init__()
        batch = len(lambdas)
        self.e = nn.Parameter(lambdas.new_zeros(batch, *size))
        self.f, self.attributes, self.targets = f, attributes, targets
        # A type without nodes has no mean agreement.
        filled = [k for k, place in enumerate(types) if place.stop > place.start]
        self.types = [types[k] for k in filled]
        self.lambdas = lambdas if lambdas.shape[1] == 1 else lambdas[:, filled]
        self.weight_decay, self.entropy, self.on_f, self.guard = weight_decay, entropy, on_f, guard
        outputs = 0 if targets is None else targets.num_outputs
        self.w = nn.Parameter(lambdas.new_zeros(batch, outputs, size[1]))
        self.b = nn.Parameter(lambdas.new_zeros(batch, 1, outputs))

    @torch.no_grad()
    def begin_at(self, state: Mapping[str, Tensor]) -> None:
        """Begin with these values, the same for all models, by their names in state_dict; the others stay."""
        own = self.state_dict()
        for name, value in state.items():
            own[name].copy_(value)

    def vectors(self, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """x, and what its neighbors and attributes make of every node; generator for dropout: (B, num_nodes, dim)."""
        if self.attributes is None:
            return self.e, self.f(self.e, generator)
        own = self.attributes(generator)
        x = self.e + own
        return x, self.f(x, generator) + own

    def loss(self, generator: torch.Generator, ramp: float = 1.0) -> dict[str, Tensor]:
        """The parts of the loss of each model (B,), to be summed; ramp scales what trusts own predictions."""
        x, f = self.vectors(generator)
        parts = {"agreement": self._agreement(x, f)}
        if self.targets is not None:
            parts |= self._supervised(self.targets, x, f, ramp)
        if self.guard > 0:
            parts["guard"] = self.guard * decorrelation(x)
        return parts

    def _agreement(self, x: Tensor, f: Tensor) -> Tensor:
        if self.lambdas.shape[1] == 1:
            return agreement(x, f) / self.lambdas[:, 0]
        by_type = [agreement(x[:, place], f[:, place]) for place in self.types]
        return (torch.stack(by_type, -1) / self.lambdas).sum(-1)

    def _supervised(self, targets: Targets, x: Tensor, f: Tensor, ramp: float) -> dict[str, Tensor]:
        parts = {"labels": self._labels(targets, x), "l2": self.weight_decay * l2(self.w)}
        if self.on_f:
            parts["labels of f"] = self._labels(targets, f)
        if self.entropy > 0 and targets.task != "numbers":
            # Unlabelled nodes should be sure of their class: the boundary moves to where there are few nodes.
            unsure = entropy(targets.task, predictions(targets.task, self.w, self.b, x, f if self.on_f else x))
            hidden = torch.ones_like(unsure).index_copy(1, targets.positions, 1 - targets.seen)
            parts["entropy"] = self.entropy * ramp * (unsure * hidden).mean(-1)
        return parts

    def _labels(self, targets: Targets, vectors: Tensor) -> Tensor:
        said = scores(vectors.index_select(1, targets.positions), self.w, self.b)
        return LOSSES[targets.task](said, targets.values, targets.seen)

    @torch.no_grad()
    def predictions(self) -> Tensor:
        """The mean of theta on x and theta on f, as probabilities or numbers: (B, num_nodes, num_outputs)."""
        assert self.targets is not None
        return predictions(self.targets.task, self.w, self.b, *self.vectors())
