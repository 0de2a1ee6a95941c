"""What is minimized over A, A' and theta, two linear classifiers, one on c and one on o (pine.model.features):

    mean over labeled v of  l(c_v, y_v) + l(o_v, y_v)
      + mean over v of  consistency || p(c_v) - sharp(mean of p(c_v)) ||^2  +  agreement || p(o_v) - mean of p(c_v) ||^2
      + (decay ||A||^2 + own decay ||A'||^2) / number of labels

c is made twice, with other nodes dropped each time; the means are over both, and nothing is learned through them. This
is the consistency of GRAND (Feng et al., 2020); it weighs in proportion to the loss of a guess, which is the logarithm
of the number of classes. The agreement, of nodes without a label, lets a node's own features learn from its neighbors',
so that they can speak for a node that has none.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from pine.model.features import FeatureVectors, glorot
from pine.model.node_terms import VisibleTargets
from pine.model.theta import scores
from pine.model.trainable import Trainable
from pine.nn.functional import probabilities, probability_slope, sharpened
from pine.nn.given_gradients import with_gradients

DROPS = 2  # with one, accuracy is lost, and a third of the time is saved
CONSISTENCY = 0.9  # times the loss of a guess: with one weight for all, three classes had too much or seven too little
SHARPNESS = 2.0  # the power of probabilities: above 1, nodes are asked to be sure
FEATURE_DECAY, OWN_DECAY = 0.5, 2.0  # of A and of A'
AGREEMENT = 4.0


class FeatureObjective(Trainable):
    """vectors, w (num_outputs, dim) and b (2, num_outputs): the first half of w and row of b are for c."""

    def __init__(
        self,
        vectors: FeatureVectors,
        place: slice,
        visible: VisibleTargets,
        generator: torch.Generator,
        *,
        agreement: bool,
    ) -> None:
        super().__init__()
        self.vectors, self.place, self.visible, self.agreement = vectors, place, visible, agreement
        self.targets = visible.targets.shifted(-place.start)  # among the nodes of the labeled type
        dim, outputs = vectors.A[0].shape[1], visible.targets.num_outputs
        self.guess = loss_of_a_guess(visible.targets.task, outputs)
        # Not zero: what is lost with that at the beginning is lost for good.
        self.w = nn.Parameter(glorot((outputs, dim), outputs + vectors.middle, generator))
        self.b = nn.Parameter(torch.zeros(2, outputs))
        self.decay: Tensor
        decay = [FEATURE_DECAY] * vectors.middle + [OWN_DECAY] * (dim - vectors.middle)
        self.register_buffer("decay", torch.tensor(decay), persistent=False)
        self.unlabeled: Tensor  # nodes of the labeled type: (count, 1)
        unlabeled = torch.ones(place.stop - place.start, 1)
        unlabeled[self.targets.positions[visible.seen > 0].cpu()] = 0
        self.register_buffer("unlabeled", unlabeled, persistent=False)

    @property
    def num_nodes(self) -> int:
        return self.vectors.num_nodes

    def vectors_of_nodes(self) -> list[nn.Parameter]:
        return list(self.vectors.A)

    def loss(self, generator: torch.Generator, warmup: Tensor | float, batch: Any = None) -> dict[str, Tensor]:
        by_carried, by_own = self._scores(generator)
        if self.place != slice(0, len(by_own)):
            by_carried, by_own = by_carried[:, self.place], by_own[self.place]
        decay = torch.stack([(A.square().sum(0) * self.decay).sum() for A in self.vectors.A]).sum()
        decay = decay / self.visible.seen.sum()
        if by_own.device.type != "cpu":
            return self._terms(by_carried, by_own, warmup) | {"l2": decay}
        with torch.no_grad():
            made = self._terms_and_gradients(by_carried, by_own, warmup)
        return with_gradients(made[0], (by_carried, by_own), made[1:]) | {"l2": decay}

    def _terms(self, by_carried: Tensor, by_own: Tensor, warmup: Tensor | float) -> dict[str, Tensor]:
        """The definition, of scores (DROPS, count, num_outputs) and (count, num_outputs) of the labeled type."""
        targets, seen = self.targets, self.visible.seen
        p, p_own = self._probabilities(by_carried), self._probabilities(by_own)
        mean, count = p.detach().mean(0), len(p_own)
        differences = p - sharpened(targets.task, mean, SHARPNESS)
        terms = {
            "labels": self._label_loss(by_carried),
            "own labels": targets.loss(by_own, seen),
            "consistency": warmup * CONSISTENCY * self.guess * differences.square().sum() / (DROPS * count),
        }
        if self.agreement:
            terms["agreement"] = warmup * AGREEMENT * (self.unlabeled * (p_own - mean)).square().sum() / count
        return terms

    def _terms_and_gradients(
        self, by_carried: Tensor, by_own: Tensor, warmup: Tensor | float
    ) -> tuple[dict[str, Tensor], Tensor, Tensor]:
        """The same, and the gradients of their sum in both scores, by hand: fewer passes than autograd makes."""
        targets, seen, task = self.targets, self.visible.seen, self.targets.task
        p, p_own = self._probabilities(by_carried), self._probabilities(by_own)
        mean, count = p.mean(0), len(p_own)
        differences = p - sharpened(task, mean, SHARPNESS)
        pull = warmup * CONSISTENCY * self.guess / (DROPS * count)
        terms = {
            "labels": self._label_loss(by_carried),
            "own labels": targets.loss(by_own, seen),
            "consistency": pull * differences.square().sum(),
        }
        d_carried = probability_slope(task, p, differences.mul_(2 * pull))
        d_own = torch.zeros_like(p_own)
        if self.agreement:
            differences, pull = self.unlabeled * (p_own - mean), warmup * AGREEMENT / count
            terms["agreement"] = pull * differences.square().sum()
            d_own = probability_slope(task, p_own, differences.mul_(2 * pull))
        weights = seen / seen.sum()
        sides = [(d_carried[drop], p[drop], weights / DROPS) for drop in range(DROPS)]
        for slopes, of_side, each in (*sides, (d_own, p_own, weights)):
            at_labels = targets.loss_slope(of_side.index_select(0, targets.positions), each)
            slopes.index_add_(0, targets.positions, at_labels)
        return terms, d_carried, d_own

    def _label_loss(self, by_carried: Tensor) -> Tensor:
        """The mean over drops."""
        return torch.stack([self.targets.loss(each, self.visible.seen) for each in by_carried]).mean()

    def _probabilities(self, scores: Tensor) -> Tensor:
        """(..., num_outputs) to the same."""
        flat = scores.reshape(-1, scores.shape[-1])
        return probabilities(self.targets.task, flat).reshape(scores.shape)

    def _scores(self, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """By c in each drop (DROPS, num_nodes, num_outputs), and by o (num_nodes, num_outputs)."""
        middle, outputs = self.vectors.middle, len(self.w)
        # All of it is linear: what travels along edges is scores, or c where it has fewer columns.
        to_carried, to_own = self.w[:, :middle].mT, self.w[:, middle:].mT
        if outputs < middle:
            maps = [torch.cat([A[:, :middle] @ to_carried, A[:, middle:] @ to_own], dim=1) for A in self.vectors.A]
            carried, own = self.vectors.mapped(maps, outputs, generator, DROPS)
            return carried.reshape(-1, DROPS, outputs).transpose(0, 1) + self.b[0], own + self.b[1]
        carried, own = self.vectors.mapped(list(self.vectors.A), middle, generator, DROPS)
        carried = carried.reshape(-1, DROPS, middle).transpose(0, 1)
        return carried @ to_carried + self.b[0], own @ to_own + self.b[1]

    @torch.no_grad()
    def predictions(self) -> tuple[Tensor, Tensor]:
        """Of theta on c and on o, for the nodes of the labeled type: (count, num_outputs) each."""
        carried, own = (each[self.place] for each in self.vectors())
        return feature_predictions(self.visible.targets.task, carried, own, self.w, self.b)


def loss_of_a_guess(task: str, outputs: int) -> float:
    """What the loss at labels begins with; of a set, at each of its labels."""
    return math.log(max(2, outputs)) if task == "classes" else math.log(2) if task == "label-sets" else 1.0


def feature_predictions(task: str, carried: Tensor, own: Tensor, w: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Of theta on c (n, middle) and on o (n, dim - middle): probabilities or numbers (n, num_outputs) each."""
    middle = carried.shape[1]
    parts = ((carried, w[:, :middle], b[:1]), (own, w[:, middle:], b[1:]))
    by_carried, by_own = (probabilities(task, scores(*part)) for part in parts)
    return by_carried, by_own
