"""What is minimized over A, A' and theta, two linear classifiers, one on c and one on o (pine.model.features):

    mean over labeled v of  l(c_v, y_v) + l(o_v, y_v)
      + mean over v of  || p(c_v) - sharp(mean of p(c_v)) ||^2  +  agreement || p(o_v) - mean of p(c_v) ||^2
      + decay / (number of labels) (||A||^2 + ||A'||^2)

c is made twice, with other nodes dropped each time; the means are over both, and nothing is learned through them. This
is the consistency of GRAND (Feng et al., 2020). The last but one term lets a node's own features learn from its
neighbors', so that they can speak for a node that has none: agreement is how much the neighbors are worth listening to.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from pine.model.features import FeatureVectors, glorot
from pine.model.node_terms import VisibleTargets
from pine.model.theta import scores
from pine.model.trainable import Trainable
from pine.nn.functional import dropout, probabilities, sharpened

DROPS = 2  # with one, .3 points are lost on average, and a third of the time is saved
VECTOR_DROPOUT = 0.3  # of whole columns of c and o
CONSISTENCY = 1.25  # between 1 and 1.5 validation and held-out labels of the three citation graphs are level
SHARPNESS = 2.0  # the power of probabilities: above 1, nodes are asked to be sure
FEATURE_DECAY = 0.5


class FeatureObjective(Trainable):
    """vectors, w (num_outputs, dim) and b (2, num_outputs): the first half of w and row of b are for c."""

    def __init__(
        self,
        vectors: FeatureVectors,
        place: slice,
        visible: VisibleTargets,
        generator: torch.Generator,
        *,
        agreement: float,
    ) -> None:
        super().__init__()
        self.vectors, self.place, self.visible, self.agreement = vectors, place, visible, agreement
        dim, outputs = vectors.A[0].shape[1], visible.targets.num_outputs
        # Half a point of accuracy on the citation graphs, where w begins at zero, is lost for good.
        self.w = nn.Parameter(glorot((outputs, dim), outputs + vectors.middle, generator))
        self.b = nn.Parameter(torch.zeros(2, outputs))

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
            "consistency": warmup * CONSISTENCY * differences.square().sum() / (DROPS * count),
            "l2": FEATURE_DECAY / seen.sum() * sum(A.square().sum() for A in self.vectors.A),
        }
        if self.agreement > 0:
            p_own = probabilities(targets.task, self._labeled(by_own))
            terms["agreement"] = warmup * self.agreement * (p_own - mean).square().sum() / count
        return terms

    def _labeled(self, rows: Tensor) -> Tensor:
        """Those of the nodes of the labeled type."""
        return rows if self.place == slice(0, len(rows)) else rows[self.place]

    def _scores(self, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """By c in each drop (num_nodes, DROPS, num_outputs), and by o (num_nodes, num_outputs)."""
        middle, outputs = self.vectors.middle, len(self.w)
        # All of it is linear: what travels along edges is scores, or c where it has fewer columns.
        w = dropout(self.w, VECTOR_DROPOUT, generator, (1, self.w.shape[1]))
        to_carried, to_own = w[:, :middle].mT, w[:, middle:].mT
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


def feature_predictions(task: str, carried: Tensor, own: Tensor, w: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Of theta on c (n, middle) and on o (n, dim - middle): probabilities or numbers (n, num_outputs) each."""
    middle = carried.shape[1]
    parts = ((carried, w[:, :middle], b[:1]), (own, w[:, middle:], b[1:]))
    by_carried, by_own = (probabilities(task, scores(*part)) for part in parts)
    return by_carried, by_own
