"""How much features count against structure: by what both predict of labels that are held out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pine.graph import Graph
from pine.metrics import held_out_score, node_scores
from pine.model.blend import GRID, OWN_FEATURES, STRUCTURE, Array, Weights, blend, log_likelihoods, node_weights
from pine.model.held_out import HeldOutParts, clearly_better
from pine.propagation import PropagatedLabels

FEATURES_ALONE = [weights for weights in GRID if weights[0] == 0]
WITH_STRUCTURE = [weights for weights in GRID if 0 < weights[0] < 1]
NO_CHANCE = 2.0  # standard errors by which features must be ahead of a guess to be asked where structure is silent


class Tried(NamedTuple):
    """Weights and a share, and what they predict at the held-out nodes (num_held_out, num_outputs)."""

    predicted: Array
    weights: Weights
    share: float
    likelihood: float  # of the held-out labels: the mean of its logarithm


class Weighing:
    """For each part what reaches the known nodes of the other labels, and what is predicted there, by structure (None:
    it has no say), and by features of neighbors and of one's own. shares: of propagated labels, to choose from.
    """

    def __init__(
        self,
        held: HeldOutParts,
        graph: Graph,
        propagated: Sequence[PropagatedLabels],
        by_structure: Sequence[Array] | None,
        by_features: Sequence[Sequence[Array]],
        shares: Sequence[float],
    ) -> None:
        self.held, self.graph, self.shares, self.has_structure = held, graph, shares, by_structure is not None
        own = by_structure or [np.zeros_like(each[0]) for each in by_features]
        self.labels = held.held_out
        reached = held.joined(each.reached for each in propagated)
        self.propagated = PropagatedLabels(held.joined(each.labels for each in propagated), reached)
        self.predictions = [held.joined(own), *(held.joined(each) for each in zip(*by_features, strict=True))]
        self.tried: dict[Weights, dict[float, Tried]] = {}

    def chosen(self) -> Tried:
        """Structure alone, features alone where they are no worse, or both where that is clearly better again."""
        if self.labels.task == "numbers":  # their likelihood is their score
            return self._best(GRID if self.has_structure else FEATURES_ALONE, self.shares)
        chosen = self._best(FEATURES_ALONE, self.shares[:1])
        if self.has_structure:
            structure = self._best([STRUCTURE], self.shares)
            chosen = structure if self._is_better(structure, chosen) else chosen
        # Likelihood alone is no reason for more: half-trained features are not sure enough, and the others are.
        for grid in (FEATURES_ALONE, WITH_STRUCTURE) if self.has_structure else (FEATURES_ALONE,):
            other = self._best(grid, self.shares)
            if clearly_better(self._scores(other), self._scores(chosen)):
                chosen = other
        return chosen

    def _is_better(self, structure: Tried, features: Tried) -> bool:
        """Whether structure is right more often; where features are more likely, by more than chance.

        Half-trained features say less than they will: they need not be better themselves. And of a hundred nodes one or
        two more that are right are no reason to do without them.
        """
        ours, theirs = self._scores(structure), self._scores(features)
        surer = structure.likelihood >= features.likelihood
        return bool(ours.mean() > theirs.mean()) if surer else clearly_better(ours, theirs)

    def structure_may_matter(self, errors: float = 1.0) -> bool:
        """Not where it has no say in what is chosen, and is worse than features by more than some standard errors."""
        structure, features = self._best([STRUCTURE], self.shares), self._best(FEATURES_ALONE, self.shares)
        features_lead = clearly_better(self._scores(features), self._scores(structure), errors)
        return self.chosen().weights[0] > 0 or not features_lead

    def stand_in(self) -> Weights | None:
        """The weights of features where structure says nothing; None where own ones are no better than a guess."""
        known = self.held.labels.targets()[~self.held.any]
        guess = np.tile(known.mean(axis=0), (len(self.labels.known), 1)).astype(np.float32)
        by_guess = node_scores(self.labels, guess)
        # Carried along edges, even features drawn at random tell nodes apart.
        own = self._scores(self._best([OWN_FEATURES], self.shares[:1]))
        return self._best(FEATURES_ALONE, self.shares[:1]).weights if clearly_better(own, by_guess, NO_CHANCE) else None

    def score(self, tried: Tried) -> float:
        return held_out_score(self.labels, tried.predicted)

    def _best(self, grid: Sequence[Weights], shares: Sequence[float]) -> Tried:
        """The weights and the share that make the held-out labels most likely."""
        tried = [self._with(weights)[share] for weights in grid for share in shares]
        return max(tried, key=lambda each: each.likelihood)

    def _with(self, weights: Weights) -> dict[float, Tried]:
        """By all shares; once for all that ask."""
        if weights not in self.tried:
            mixed = blend(self.predictions, node_weights(weights, self.graph, self.labels.type)[self.labels.known])
            made = {share: self.propagated.blend(mixed, share) for share in self.shares}
            self.tried[weights] = {
                share: Tried(each, weights, share, self._likelihood(each)) for share, each in made.items()
            }
        return self.tried[weights]

    def _likelihood(self, predicted: Array) -> float:
        return float(log_likelihoods(self.labels, predicted).mean())

    def _scores(self, tried: Tried) -> NDArray[np.float64]:
        return node_scores(self.labels, tried.predicted)
