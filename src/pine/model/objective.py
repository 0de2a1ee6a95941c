"""What PINE minimizes, eq. (homo-optimization), over vectors x, the function f and the classifier theta at once:

    sum over types k of 1 / (lambda_k |V_k|) sum over v in V_k of || x_v - f(N_v) ||^2
      + mean over labelled v of l_theta(x_v, y_v) + l_theta(f(N_v), y_v)  +  lambda_w sum of ||w_i||^2

With one lambda for all types, every node's agreement weighs 1 / (lambda |V|).
With attributes a, x_v = e_v + A a_v with e_v free, and f(N_v) + A a_v is in the place of f(N_v).
Several models that differ in lambda and in the labels they see are trained side by side: a leading dimension B.
All of it but the guard is sums over nodes, which can be made batch by batch: pine.model.batches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pine.graph import Graph
from pine.labels import Labels
from pine.model.attributes import Attributes
from pine.model.batches import sampled
from pine.model.learned import predictions, scores
from pine.model.neighborhoods import NeighborFunction, Neighborhoods
from pine.nn.functional import entropy
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

    def within(self, rows: slice) -> tuple[Targets, Tensor]:
        """The labels of a batch, positions counted from its first node, and their share of what each model sees."""
        here = (self.positions >= rows.start) & (self.positions < rows.stop)
        seen = self.seen[:, here]
        mine = replace(self, positions=self.positions[here] - rows.start, values=self.values[here], seen=seen)
        return mine, seen.sum(-1) / self.seen.sum(-1)


@dataclass(frozen=True, eq=False)
class Batch:
    """Nodes whose terms are made at once: where they stand, their neighbors and their labels.

    lambdas: (B,), divided by the share that the nodes are of all that lambda speaks of; None: one a type, as given.
    share: of all nodes. labelled: of the labels that each model sees.
    """

    rows: slice
    around: Sequence[Neighborhoods]
    targets: Targets | None
    lambdas: Tensor | None
    share: float = 1.0
    labelled: Tensor | float = 1.0


class Objective(nn.Module):
    """e (B, num_nodes, dim), f, theta = w (B, num_outputs, dim), b (B, 1, num_outputs); the loss of each model (B,).

    size: (num_nodes, dim). types: where the nodes of each type stand. lambdas: (B, 1 or number of types).
    batched: each of f's neighborhoods, of one type, is a batch; otherwise all nodes are one. samples: how many
    neighbors of a node in a group are drawn for a batch; None: all.
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
        batched: bool = False,
        samples: int | None = None,
    ) -> None:
        super().__init__()
        count = len(lambdas)
        self.e = nn.Parameter(lambdas.new_zeros(count, *size))
        self.f, self.attributes, self.targets, self.samples = f, attributes, targets, samples
        # A type without nodes has no mean agreement.
        filled = [k for k, place in enumerate(types) if place.stop > place.start]
        self.types = [types[k] for k in filled]
        self.lambdas = lambdas if lambdas.shape[1] == 1 else lambdas[:, filled]
        self.weight_decay, self.entropy, self.on_f, self.guard = weight_decay, entropy, on_f, guard
        whole = slice(0, size[0])
        one = self.lambdas[:, 0] if self.lambdas.shape[1] == 1 else None
        self.batches = [self._batch(part) for part in f.around] if batched else [Batch(whole, f.around, targets, one)]
        outputs = 0 if targets is None else targets.num_outputs
        self.w = nn.Parameter(lambdas.new_zeros(count, outputs, size[1]))
        self.b = nn.Parameter(lambdas.new_zeros(count, 1, outputs))

    @torch.no_grad()
    def begin_at(self, state: Mapping[str, Tensor]) -> None:
        """Begin with these values, the same for all models, by their names in state_dict; the others stay."""
        own = self.state_dict()
        for name, value in state.items():
            own[name].copy_(value)

    def vectors(self) -> tuple[Tensor, Tensor]:
        """x, and what its neighbors and attributes make of every node: (B, num_nodes, dim)."""
        x, own = self._everywhere(None)
        f = self.f(x)
        return x, f if own is None else f + own

    def loss(self, generator: torch.Generator, ramp: float = 1.0, batch: Batch | None = None) -> dict[str, Tensor]:
        """The parts of the loss of each model (B,), to be summed, and over batches too, where there are several.

        generator: for dropout. ramp scales what trusts own predictions.
        """
        first = self.batches[0]
        batch = first if batch is None else batch
        everywhere, own = self._everywhere(generator)
        x, f = self._within(batch, everywhere, own, generator)
        parts = {"agreement": self._agreement(batch, x, f)}
        if batch.targets is not None:
            parts |= self._supervised(batch, batch.targets, x, f, ramp)
        if self.guard > 0:
            parts["guard"] = self.guard * decorrelation(everywhere) if batch is first else x.new_zeros(len(x))
        return parts

    def _everywhere(self, generator: torch.Generator | None) -> tuple[Tensor, Tensor | None]:
        """x of all nodes, and what attributes add to it."""
        if self.attributes is None:
            return self.e, None
        own = self.attributes(generator)
        return self.e + own, own

    def _within(self, batch: Batch, x: Tensor, own: Tensor | None, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """x and f of the nodes of a batch, from x of all nodes."""
        around = batch.around
        if self.samples is not None:
            around = [sampled(part, self.samples, generator) for part in around]
        f = self.f(x, generator, around)
        if len(self.batches) > 1:
            x, own = x[:, batch.rows], None if own is None else own[:, batch.rows]
        return x, f if own is None else f + own

    def _batch(self, part: Neighborhoods) -> Batch:
        """The nodes of one type in one of f's neighborhoods."""
        rows, num_nodes = part.rows, self.e.shape[1]
        kind = next(k for k, place in enumerate(self.types) if place.start <= rows.start < place.stop)
        all_types = self.lambdas.shape[1] == 1
        count = num_nodes if all_types else self.types[kind].stop - self.types[kind].start
        lambdas = self.lambdas[:, 0 if all_types else kind] * (count / (rows.stop - rows.start))
        share = (rows.stop - rows.start) / num_nodes
        targets, labelled = (None, 1.0) if self.targets is None else self.targets.within(rows)
        return Batch(rows, [part], targets, lambdas, share, labelled)

    def _agreement(self, batch: Batch, x: Tensor, f: Tensor) -> Tensor:
        if batch.lambdas is not None:
            return agreement(x, f) / batch.lambdas
        by_type = [agreement(x[:, place], f[:, place]) for place in self.types]
        return (torch.stack(by_type, -1) / self.lambdas).sum(-1)

    def _supervised(self, batch: Batch, targets: Targets, x: Tensor, f: Tensor, ramp: float) -> dict[str, Tensor]:
        parts = {
            "labels": batch.labelled * self._labels(targets, x),
            "l2": batch.share * self.weight_decay * l2(self.w),
        }
        if self.on_f:
            parts["labels of f"] = batch.labelled * self._labels(targets, f)
        if self.entropy > 0 and targets.task != "numbers":
            # Unlabelled nodes should be sure of their class: the boundary moves to where there are few nodes.
            unsure = entropy(targets.task, predictions(targets.task, self.w, self.b, x, f if self.on_f else x))
            hidden = torch.ones_like(unsure).index_copy(1, targets.positions, 1 - targets.seen)
            parts["entropy"] = batch.share * self.entropy * ramp * (unsure * hidden).mean(-1)
        return parts

    def _labels(self, targets: Targets, vectors: Tensor) -> Tensor:
        said = scores(vectors.index_select(1, targets.positions), self.w, self.b)
        return LOSSES[targets.task](said, targets.values, targets.seen)

    @torch.no_grad()
    def predictions(self) -> Tensor:
        """The mean of theta on x and theta on f, as probabilities or numbers: (B, num_nodes, num_outputs)."""
        assert self.targets is not None
        return predictions(self.targets.task, self.w, self.b, *self.vectors())
