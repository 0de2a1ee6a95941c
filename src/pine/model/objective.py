"""What PINE minimizes, eq. (homo-optimization), over vectors x, the function f and the classifier theta at once:

    sum over types k of 1 / (lambda_k |V_k|) sum over v in V_k of || x_v - f(N_v) ||^2
      + mean over labeled v of l_theta(x_v, y_v) + l_theta(f(N_v), y_v)  +  lambda_w sum of ||w_i||^2

With one lambda for all types, every node's agreement weighs 1 / (lambda |V|).
With features a, x_v = e_v + A a_v with e_v free, and f(N_v) + A a_v is in the place of f(N_v).
All of it is sums over nodes, which can be made batch by batch: pine.model.batches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from pine.model.batches import sample_neighborhoods
from pine.model.features import FeatureProjection
from pine.model.neighborhoods import NeighborFunction, Neighborhoods
from pine.model.settings import TrainingSettings
from pine.model.theta import predictions, regression, scores
from pine.nn.functional import entropy, probabilities
from pine.nn.losses import agreement, l2
from pine.nn.targets import Targets


@dataclass(frozen=True, eq=False)
class VisibleTargets:
    """Labels, and which of them are seen: (n,) of 0 and 1."""

    targets: Targets
    seen: Tensor

    def within(self, rows: slice) -> tuple[VisibleTargets, Tensor]:
        """The labels of a batch, positions counted from its first node, and their share of those that are seen."""
        here = (self.targets.positions >= rows.start) & (self.targets.positions < rows.stop)
        seen = self.seen[here]
        mine = self.targets.some(here).shifted(-rows.start)
        return VisibleTargets(mine, seen), seen.sum() / self.seen.sum()


@dataclass(frozen=True, eq=False)
class NodeBatch:
    """Nodes whose terms are made at once: where they stand, their neighborhoods and their labels.

    lam: divided by the share that the nodes are of all that lambda speaks of; None: one a type, as given.
    share: of all nodes. labeled: of the labels that are seen.
    """

    rows: slice
    neighborhoods: Sequence[Neighborhoods]
    visible: VisibleTargets | None
    lam: Tensor | None
    share: float = 1.0
    labeled: Tensor | float = 1.0


class Objective(nn.Module):
    """e (num_nodes, dim), f, features, and theta: w (num_outputs, dim), b (1, num_outputs).

    types: where the nodes of each type stand. lambdas: (1 or number of types,).
    batched: each of f's neighborhoods, of one type, is a batch; otherwise all nodes are one.
    """

    def __init__(
        self,
        f: NeighborFunction,
        types: Sequence[slice],
        lambdas: Tensor,
        settings: TrainingSettings,
        visible: VisibleTargets | None = None,
        features: FeatureProjection | None = None,
        *,
        batched: bool = False,
    ) -> None:
        super().__init__()
        num_nodes = types[-1].stop
        self.e = nn.Parameter(lambdas.new_zeros(num_nodes, f.dim))
        self.f, self.features, self.visible, self.settings = f, features, visible, settings
        # A type without nodes has no mean agreement.
        filled = [k for k, place in enumerate(types) if place.stop > place.start]
        self.types = [types[k] for k in filled]
        self.lambdas = lambdas if len(lambdas) == 1 else lambdas[filled]
        if batched:
            self.batches = [self._batch(block) for block in f.neighborhoods]
        else:
            one = self.lambdas[0] if len(self.lambdas) == 1 else None
            self.batches = [NodeBatch(slice(0, num_nodes), f.neighborhoods, visible, one)]
        outputs = 0 if visible is None else visible.targets.num_outputs
        self.w = nn.Parameter(lambdas.new_zeros(outputs, f.dim))
        self.b = nn.Parameter(lambdas.new_zeros(1, outputs))

    @torch.no_grad()
    def begin_at(self, state: Mapping[str, Tensor]) -> None:
        """Begin with these values, by their names in state_dict; the others stay."""
        own = self.state_dict()
        for name, value in state.items():
            own[name].copy_(value)

    @torch.no_grad()
    def begin_near(self, x: Tensor, *, f: bool, theta: bool) -> None:
        """Where training begins well: f that reproduces x (num_nodes, dim), theta that regresses labels on it."""
        if f:
            self.f.reproduce(x)
        if theta and self.visible is not None:
            w, b = regression(x, self.visible.targets, self.visible.seen)
            self.w.copy_(w)
            self.b.copy_(b)

    @torch.no_grad()
    def forget_theta(self) -> None:
        """Let theta begin at zero."""
        self.w.zero_()
        self.b.zero_()

    def vectors(self) -> tuple[Tensor, Tensor]:
        """x, and what its neighbors and features make of every node: (num_nodes, dim)."""
        x, own = self._all_nodes(None)
        f = self.f(x)
        return x, f if own is None else f + own

    def loss(
        self, generator: torch.Generator, warmup: float = 1.0, batch: NodeBatch | None = None
    ) -> dict[str, Tensor]:
        """The terms of the loss, scalars to be summed, and over batches too, where there are several.

        generator: for dropout. warmup scales the entropy, which trusts the model's own predictions.
        """
        batch = self.batches[0] if batch is None else batch
        all_nodes, own = self._all_nodes(generator)
        x, f = self._within(batch, all_nodes, own, generator)
        terms = {"agreement": self._agreement(batch, x, f)}
        if batch.visible is not None:
            terms |= self._supervised(batch, batch.visible, x, f, warmup)
        return terms

    def _all_nodes(self, generator: torch.Generator | None) -> tuple[Tensor, Tensor | None]:
        """x of all nodes, and what features add to it."""
        if self.features is None:
            return self.e, None
        own = self.features(generator)
        return self.e + own, own

    def _within(
        self, batch: NodeBatch, x: Tensor, own: Tensor | None, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """x and f of the nodes of a batch, from x of all nodes."""
        neighborhoods, most = batch.neighborhoods, self.settings.samples
        if most is not None:
            neighborhoods = [sample_neighborhoods(block, most, generator) for block in neighborhoods]
        f = self.f(x, generator, neighborhoods)
        if len(self.batches) > 1:
            x, own = x[batch.rows], None if own is None else own[batch.rows]
        return x, f if own is None else f + own

    def _batch(self, block: Neighborhoods) -> NodeBatch:
        """The nodes of one type in one of f's neighborhoods."""
        rows, num_nodes = block.rows, len(self.e)
        kind = next(k for k, place in enumerate(self.types) if place.start <= rows.start < place.stop)
        all_types = len(self.lambdas) == 1
        count = num_nodes if all_types else self.types[kind].stop - self.types[kind].start
        lam = self.lambdas[0 if all_types else kind] * (count / (rows.stop - rows.start))
        share = (rows.stop - rows.start) / num_nodes
        visible, labeled = (None, 1.0) if self.visible is None else self.visible.within(rows)
        return NodeBatch(rows, [block], visible, lam, share, labeled)

    def _agreement(self, batch: NodeBatch, x: Tensor, f: Tensor) -> Tensor:
        if batch.lam is not None:
            return agreement(x, f) / batch.lam
        by_type = [agreement(x[place], f[place]) for place in self.types]
        return (torch.stack(by_type) / self.lambdas).sum()

    def _supervised(
        self, batch: NodeBatch, visible: VisibleTargets, x: Tensor, f: Tensor, warmup: float
    ) -> dict[str, Tensor]:
        targets, settings = visible.targets, self.settings
        # Of all nodes once: the gradient of picking labeled vectors would be arrays as large as x, nearly all zeros.
        of_x = scores(x, self.w, self.b)
        of_f = scores(f, self.w, self.b) if settings.supervise_f else of_x
        terms = {
            "labels": batch.labeled * targets.loss(of_x, visible.seen),
            "l2": batch.share * settings.weight_decay * l2(self.w),
        }
        if settings.supervise_f:
            terms["labels of f"] = batch.labeled * targets.loss(of_f, visible.seen)
        if settings.entropy > 0 and targets.task != "numbers":
            # Unlabeled nodes should be sure of their class: the boundary moves to where there are few nodes.
            p = (probabilities(targets.task, of_x) + probabilities(targets.task, of_f)) / 2
            unsure = entropy(targets.task, p)
            hidden = torch.ones_like(unsure).index_copy(0, targets.positions, 1 - visible.seen)
            terms["entropy"] = batch.share * settings.entropy * warmup * (unsure * hidden).mean()
        return terms

    @torch.no_grad()
    def predictions(self) -> Tensor:
        """The mean of theta on x and theta on f, as probabilities or numbers: (num_nodes, num_outputs)."""
        assert self.visible is not None
        return predictions(self.visible.targets.task, self.w, self.b, *self.vectors())
