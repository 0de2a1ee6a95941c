"""What is minimized over A, A' and theta, two linear classifiers, one on c and one on o (pine.model.features):

    mean over labeled v of  l(c_v, y_v) + l(o_v, y_v)
      + mean over v of  consistency || p(c_v) - sharp(mean of p(c_v)) ||^2  +  agreement || p(o_v) - mean of p(c_v) ||^2
      + (decay ||A||^2 + own decay ||A'||^2) / number of labels

c is made twice, with other nodes dropped each time; the means are over both, and nothing is learned through them. This
is the consistency of GRAND (Feng et al., 2020); it weighs in proportion to the squared loss of a guess, which is the
logarithm of the number of classes. The agreement, of nodes without a label, lets a node's own features learn from its
neighbors', so that they can speak for a node that has none.
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
from pine.nn.losses import LOSSES
from pine.nn.targets import loss_slope, prediction_losses

DROPS = 2  # with one, accuracy is lost, and a third of the time is saved
CONSISTENCY = (
    0.65  # times the squared loss of a guess: with the loss itself three classes have too much, seven too little
)
SHARPNESS = 2.0  # the power of probabilities: above 1, nodes are asked to be sure
FEATURE_DECAY, OWN_DECAY = 0.5, 2.0  # of A and of A'
AGREEMENT = 4.0


class FeatureObjective(Trainable):
    """vectors, w (num_outputs, dim) and b (2, num_outputs): the first half of w and row of b are for c.

    Scores are (DROPS + 1, num_outputs, count), by c in each drop and then by o, for nodes of the labeled type. Nodes
    come last: a CPU is quick with what is done to many at once, not with sums of a few classes.
    """

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
        self.b = nn.Parameter(torch.zeros(2, outputs, dtype=torch.float32))
        self.decay, self.labels, self.weights, self.unlabeled = self._constants(place.stop - place.start)

    def _constants(self, count: int) -> tuple[Tensor, ...]:
        """Decays of A's columns (dim,); of nodes their labels (num_outputs, count), what these weigh and who has none.

        Decays are divided by the number of labels. Weights are (DROPS + 1, 1, count): of each classifier's mean over
        labels, c's over drops too.
        """
        targets, seen, middle = self.targets, self.visible.seen, self.vectors.middle
        decay = [FEATURE_DECAY] * middle + [OWN_DECAY] * (self.w.shape[1] - middle)
        labels = seen.new_zeros(targets.num_outputs, count)
        labels[:, targets.positions] = targets.indicators().mT
        weights = seen.new_zeros(count)
        weights[targets.positions] = seen / seen.sum()
        sides = seen.new_tensor([1 / DROPS] * DROPS + [1.0])
        return seen.new_tensor(decay) / seen.sum(), labels, sides[:, None, None] * weights, (weights == 0).float()

    @property
    def num_nodes(self) -> int:
        return self.vectors.num_nodes

    def vectors_of_nodes(self) -> list[nn.Parameter]:
        return list(self.vectors.A)

    def loss(self, generator: torch.Generator, warmup: Tensor | float, batch: Any = None) -> dict[str, Tensor]:
        scores = self._scores(generator)
        with torch.no_grad():
            terms, gradients = self._terms_and_gradients(scores, warmup)
        return with_gradients(terms, (scores, *self.vectors.A), gradients)

    def _terms(self, scores: Tensor, warmup: Tensor | float) -> dict[str, Tensor]:
        """The definition."""
        task, count = self.targets.task, scores.shape[-1]
        p = probabilities(task, scores, -2)
        mean = p[:DROPS].detach().mean(0)
        differences = p[:DROPS] - sharpened(task, mean, SHARPNESS, -2)
        pull = warmup * (CONSISTENCY * self.guess**2 / (DROPS * count))
        terms = self._label_terms(scores) | {"consistency": pull * differences.square().sum()}
        if self.agreement:
            differences, pull = self.unlabeled * (p[DROPS] - mean), warmup * (AGREEMENT / count)
            terms["agreement"] = pull * differences.square().sum()
        return terms | {"l2": self._decay_term()}

    def _terms_and_gradients(self, scores: Tensor, warmup: Tensor | float) -> tuple[dict[str, Tensor], list[Tensor]]:
        """The same, and the gradients of their sum in scores and each A, by hand: fewer passes than autograd makes."""
        task, count = self.targets.task, scores.shape[-1]
        p = probabilities(task, scores, -2)
        mean = p[:DROPS].mean(0)
        differences = torch.zeros_like(p)
        torch.sub(p[:DROPS], sharpened(task, mean, SHARPNESS, -2), out=differences[:DROPS])
        pull = warmup * (CONSISTENCY * self.guess**2 / (DROPS * count))
        losses = (prediction_losses(task, p, self.labels) * self.weights[:, 0]).sum(-1)
        terms = {"labels": losses[:DROPS].sum(), "own labels": losses[DROPS]}
        terms["consistency"] = pull * differences[:DROPS].square().sum()
        differences[:DROPS] *= 2 * pull
        if self.agreement:
            torch.sub(p[DROPS], mean, out=differences[DROPS]).mul_(self.unlabeled)
            pull = warmup * (AGREEMENT / count)
            terms["agreement"] = pull * differences[DROPS].square().sum()
            differences[DROPS] *= 2 * pull
        slope = probability_slope(task, p, differences, -2).add_(loss_slope(task, p, self.labels, self.weights))
        decays = [A * (2 * self.decay) for A in self.vectors.A]
        # What is quadratic is half the product with its gradient.
        products = [torch.dot(A.flatten(), d.flatten()) for A, d in zip(self.vectors.A, decays, strict=True)]
        return terms | {"l2": torch.stack(products).sum() / 2}, [slope, *decays]

    def _label_terms(self, scores: Tensor) -> dict[str, Tensor]:
        """The mean over labels, by c over drops too, and by o."""
        at_labels = scores.index_select(-1, self.targets.positions).mT
        each = LOSSES[self.targets.task](at_labels, self.targets.values, self.visible.seen)
        return {"labels": each[:DROPS].mean(), "own labels": each[DROPS]}

    def _decay_term(self) -> Tensor:
        squares = torch.stack([A.square().sum(0) for A in self.vectors.A]).sum(0)
        return (squares * self.decay).sum()

    def _scores(self, generator: torch.Generator) -> Tensor:
        """(DROPS + 1, num_outputs, count)."""
        middle, outputs = self.vectors.middle, len(self.w)
        to_carried, to_own = self.w[:, :middle], self.w[:, middle:]
        # All of it is linear: what travels along edges is scores, or c where it has fewer columns.
        if outputs < middle:
            theta = torch.block_diag(to_carried.mT, to_own.mT)  # type: ignore[no-untyped-call]
            carried, own = self.vectors.mapped([A @ theta for A in self.vectors.A], outputs, generator, DROPS)
            scores = torch.cat([carried.mT, own.mT])
        else:
            carried, own = self.vectors.mapped(list(self.vectors.A), middle, generator, DROPS)
            drops = carried.mT.reshape(DROPS, middle, -1).unbind()
            scores = torch.cat([*(to_carried @ each for each in drops), to_own @ own.mT])
        if self.place != slice(0, self.num_nodes):
            scores = scores[:, self.place]
        b = torch.cat([self.b[:1].expand(DROPS, -1), self.b[1:]])
        return scores.reshape(DROPS + 1, outputs, -1) + b[..., None]

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
