"""What PINE minimizes, eq. (homo-optimization), over vectors x, the function f and the classifier theta at once:

    sum over types k of 1 / (lambda_k |V_k|) sum over v in V_k of || x_v - f(N_v) ||^2
      + mean over labeled v of l_theta(x_v, y_v) + l_theta(f(N_v), y_v)  +  lambda_w sum of ||w_i||^2

With one lambda for all types, every node's agreement weighs 1 / (lambda |V|). Of label sets, lambda_w is less for rare
labels (pine.model.theta.decay_rates).
All of it is sums over nodes, which can be made batch by batch: pine.model.batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pine.distributed.part import Whole
from pine.distributed.ranks import ALONE, Ranks
from pine.model.batches import sample_neighborhoods
from pine.model.neighborhoods import NeighborFunction, Neighborhoods
from pine.model.node_terms import NODES_AT_A_TIME, NodeBlock, VisibleTargets, node_terms
from pine.model.settings import TrainingSettings
from pine.model.theta import DECAY, decay_rates, needs_f, predictions, regression, rest_decay
from pine.model.trainable import Trainable
from pine.nn.losses import l2


@dataclass(frozen=True, eq=False)
class NodeBatch:
    """Nodes whose f is made at once: where they stand, their neighborhoods, and the blocks that their terms come in."""

    rows: slice
    neighborhoods: Sequence[Neighborhoods]
    blocks: Sequence[NodeBlock]


class Objective(Trainable):
    """x (num_nodes, dim), f, and theta: w (num_outputs, dim), b (1, num_outputs).

    types: where the nodes of each type stand. lambdas: (1 or number of types,).
    batched: each of f's neighborhoods, of one type, is a batch; otherwise all nodes are one.
    ranks: that share the nodes: x and types are those of one of them. x: room for it.
    """

    def __init__(
        self,
        f: NeighborFunction,
        types: Sequence[slice],
        lambdas: Tensor,
        settings: TrainingSettings,
        visible: VisibleTargets | None = None,
        *,
        batched: bool = False,
        ranks: Ranks = ALONE,
        x: Tensor | None = None,
    ) -> None:
        super().__init__()
        num_nodes = types[-1].stop
        self.x = nn.Parameter(lambdas.new_zeros(num_nodes, f.dim) if x is None else x)
        self.f, self.visible, self.settings, self.ranks = f, visible, settings, ranks
        counts = ranks.total(torch.tensor([place.stop - place.start for place in types], device=lambdas.device))
        self.num_seen = lambdas.new_zeros(()) if visible is None else ranks.total(visible.seen.sum())
        # A type without nodes has no mean agreement.
        filled = [k for k, place in enumerate(types) if place.stop > place.start]
        self.types = [types[k] for k in filled]
        self.lambdas = lambdas if len(lambdas) == 1 else lambdas[filled]
        self.num_all = int(counts.sum())
        # For each lambda, of how many nodes it speaks.
        self.counts = [self.num_all] if len(lambdas) == 1 else counts[filled].tolist()
        of_batches = [(block.rows, [block]) for block in f.neighborhoods]
        self.batches = [
            NodeBatch(rows, neighborhoods, self._blocks(rows))
            for rows, neighborhoods in (of_batches if batched else [(slice(0, num_nodes), f.neighborhoods)])
        ]
        outputs = 0 if visible is None else visible.targets.num_outputs
        self.w = nn.Parameter(lambdas.new_zeros(outputs, f.dim))
        self.b = nn.Parameter(lambdas.new_zeros(1, outputs))
        self.decay_rates: Tensor | None = None
        if visible is not None and visible.targets.task == "label-sets" and settings.balanced_decay:
            self.decay_rates = decay_rates(visible.targets, visible.seen, ranks)

    @torch.no_grad()
    def begin_at(self, state: Mapping[str, Tensor]) -> None:
        """Begin with these values, by their names in state_dict; the others stay."""
        own = self.state_dict()
        for name, value in state.items():
            own[name].copy_(value)

    @torch.no_grad()
    def begin_near(self, x: Tensor, *, f: bool, theta: bool, rests: bool = False) -> None:
        """Where training begins well: f that reproduces x (num_nodes, dim), theta that regresses labels on it.

        rests: whether it ends there, too.
        """
        if f:
            self._reproduce(x)
        if theta and self.visible is not None:
            seen = self.visible.seen
            decay = rest_decay(seen, self.ranks) if rests else DECAY
            w, b = regression(x, self.visible.targets, seen, decay, self.ranks)
            self.w.copy_(w)
            self.b.copy_(b)
        self.ranks.share_first(self.shared_parameters())  # which may be of other processors

    def _reproduce(self, x: Tensor) -> None:
        self.f.reproduce(x, self.ranks)

    @contextmanager
    def at_rest(self, x: Tensor) -> Iterator[None]:
        """theta as begin_near has it where it rests; afterwards what it was."""
        before = [each.detach().clone() for each in (self.w, self.b)]
        self.begin_near(x, f=False, theta=True, rests=True)
        yield
        with torch.no_grad():
            for own, value in zip((self.w, self.b), before, strict=True):
                own.copy_(value)

    @torch.no_grad()
    def forget_theta(self) -> None:
        """Let theta begin at zero."""
        self.w.zero_()
        self.b.zero_()

    def vectors(self) -> tuple[Tensor, Tensor]:
        """x, and what its neighbors make of every node: (num_nodes, dim)."""
        return self.x, self.f(self.x)

    def loss(
        self, generator: torch.Generator, warmup: Tensor | float = 1.0, batch: NodeBatch | None = None
    ) -> dict[str, Tensor]:
        """The terms of the loss, scalars to be summed, and over batches too, where there are several.

        generator: for dropout. warmup scales the entropy, which trusts the model's own predictions.
        """
        batch = self.batches[0] if batch is None else batch
        return self._terms(batch, *self._within(batch, generator), warmup)

    def _terms(self, batch: NodeBatch, x: Tensor, f: Tensor, warmup: Tensor | float) -> dict[str, Tensor]:
        """Of x and f of the nodes of a batch."""
        return node_terms(batch.blocks, x, f, self.w, self.b, self.settings, warmup) | self._l2()

    def _l2(self) -> dict[str, Tensor]:
        """A batch's part of it."""
        if self.visible is None:
            return {}
        whole = self.settings.weight_decay * l2(self.w, self.decay_rates)
        return {"l2": whole / (len(self.batches) * self.ranks.size)}

    def zeros_like(self, parameter: nn.Parameter) -> Tensor:
        rounded = parameter is self.x and self.settings.moments == "bfloat16"
        return torch.zeros_like(parameter.detach(), dtype=torch.bfloat16 if rounded else None)

    @property
    def num_nodes(self) -> int:
        return len(self.x)

    def vectors_of_nodes(self) -> list[nn.Parameter]:
        return [self.x]

    @property
    def is_batched(self) -> bool:
        """Whether a step is made of several parts, or draws neighbors."""
        return len(self.batches) > 1 or self.settings.samples is not None

    def _within(self, batch: NodeBatch, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """x and f of the nodes of a batch."""
        neighborhoods, most = batch.neighborhoods, self.settings.samples
        if most is not None:
            neighborhoods = [sample_neighborhoods(block, most, generator) for block in neighborhoods]
        f = self.f(self.x, generator, neighborhoods)
        return self.x[batch.rows] if len(self.batches) > 1 else self.x, f

    def _blocks(self, rows: slice) -> list[NodeBlock]:
        """Blocks of nodes that one lambda speaks of, at most NODES_AT_A_TIME each on a CPU."""
        whole = [slice(0, len(self.x))] if len(self.lambdas) == 1 else self.types
        blocks = []
        for lam, place, count in zip(self.lambdas, whole, self.counts, strict=True):
            first, last = max(rows.start, place.start), min(rows.stop, place.stop)
            size = NODES_AT_A_TIME if self.x.device.type == "cpu" else max(1, last - first)
            for lo in range(first, last, size):
                block = slice(lo, min(lo + size, last))
                visible, labeled = (None, 1.0) if self.visible is None else self.visible.within(block, self.num_seen)
                length = block.stop - lo
                within = slice(lo - rows.start, block.stop - rows.start)
                blocks.append(NodeBlock(within, visible, lam * (count / length), length / self.num_all, labeled))
        return blocks

    @torch.no_grad()
    def predictions_at(self, positions: NDArray[np.int64], part: Whole, *, trained: bool = True) -> Tensor:
        """As theta.predictions has them: (n, num_outputs) of n nodes of all."""
        assert self.visible is not None
        task = self.visible.targets.task
        x, f = self.vectors() if needs_f(task, trained=trained) else (self.x, self.x)
        return part.at(positions, predictions(task, self.w, self.b, x, f, trained=trained))
