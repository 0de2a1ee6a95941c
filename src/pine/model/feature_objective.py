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
from pine.nn.functional import probabilities, sharpened

DROPS = 2  # with one, .3 points are lost on average, and a third of the time is saved
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
        dim, outputs = vectors.A[0].shape[1], visible.targets.num_outputs
        self.guess = loss_of_a_guess(visible.targets.task, outputs)
        # Half a point of accuracy on the citation graphs, where w begins at zero, is lost for good.
        self.w = nn.Parameter(glorot((outputs, dim), outputs + vectors.middle, generator))
        self.b = nn.Parameter(torch.zeros(2, outputs))
        self.decay: Tensor
        decay = [FEATURE_DECAY] * vectors.middle + [OWN_DECAY] * (dim - vectors.middle)
        self.register_buffer("decay", torch.tensor(decay), persistent=False)
        self.unlabeled: Tensor  # nodes of the labeled type: (count, 1)
        unlabeled = torch.ones(place.stop - place.start, 1)
        unlabeled[visible.targets.positions[visible.seen > 0].cpu() - place.start] = 0
        self.register_buffer("unlabeled", unlabeled, persistent=False)

    @property
    def num_nodes(self) -> int:
        return self.vectors.num_nodes

    def vectors_of_nodes(self) -> list[nn.Parameter]:
        return list(self.vectors.A)

    def loss(self, generator: torch.Generator, warmup: Tensor | float, batch: Any = None) -> dict[str, Tensor]:
        by_carried, by_own = self._scores(generator)
        targets, seen = self.visible.targets, self.visible.seen
        outputs = by_own.shape[1]
        p = probabilities(targets.task, self._labeled(by_carried).reshape(-1, outputs)).reshape(-1, DROPS, outputs)
        mean = p.detach().mean(1)
        differences, count = p - sharpened(targets.task, mean, SHARPNESS)[:, None], len(p)
        terms = {
            "labels": sum(targets.loss(by_carried[:, drop], seen) for drop in range(DROPS)) / DROPS,
            "own labels": targets.loss(by_own, seen),
            "consistency": warmup * CONSISTENCY * self.guess * differences.square().sum() / (DROPS * count),
            "l2": sum((A.square().sum(0) * self.decay).sum() for A in self.vectors.A) / seen.sum(),
        }
        if self.agreement:
            p_own = probabilities(targets.task, self._labeled(by_own))
            terms["agreement"] = warmup * AGREEMENT * (self.unlabeled * (p_own - mean)).square().sum() / count
        return terms

    def _labeled(self, rows: Tensor) -> Tensor:
        """Those of the nodes of the labeled type."""
        return rows if self.place == slice(0, len(rows)) else rows[self.place]

    def _scores(self, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """By c in each drop (num_nodes, DROPS, num_outputs), and by o (num_nodes, num_outputs)."""
        middle, outputs = self.vectors.middle, len(self.w)
        # All of it is linear: what travels along edges is scores, or c where it has fewer columns.
        to_carried, to_own = self.w[:, :middle].mT, self.w[:, middle:].mT
        if outputs < middle:
            maps = [torch.cat([A[:, :middle] @ to_carried, A[:, middle:] @ to_own], dim=1) for A in self.vectors.A]
            carried, own = self.vectors.mapped(maps, outputs, generator, DROPS)
            return carried.reshape(-1, DROPS, outputs) + self.b[0], own + self.b[1]
        carried, own = self.vectors.mapped(list(self.vectors.A), middle, generator, DROPS)
        return carried.reshape(-1, DROPS, middle) @ to_carried + self.b[0], own @ to_own + self.b[1]

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
