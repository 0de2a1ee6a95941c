"""Predictions by structure, by features carried along edges, and by a node's own features, as one: a weighted mean.

A node that has no edge is predicted by its own features alone, one whose features are unknown by the other two. Where
features have no say, they may still stand in for structure where that says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from pine.graph import Graph
from pine.labels import Labels
from pine.model.features import known_features

Array = NDArray[np.float32]
Weights = tuple[float, float, float]  # of structure, carried features, own features: they sum to 1

STRUCTURE: Weights = (1.0, 0.0, 0.0)
CARRIED_FEATURES: Weights = (0.0, 1.0, 0.0)
OWN_FEATURES: Weights = (0.0, 0.0, 1.0)
UNKNOWN_FEATURES: Weights = (0.25, 0.75, 0.0)  # structure is surer of itself than carried features are
STEPS = 4  # weights are multiples of one in so many
GRID: tuple[Weights, ...] = tuple(
    (a / STEPS, b / STEPS, (STEPS - a - b) / STEPS) for a, b in product(range(STEPS + 1), repeat=2) if a + b <= STEPS
)
LEAST_PROBABILITY = 1e-3  # so that one node that is surely wrong does not decide


def node_weights(
    weights: Weights, graph: Graph, type: str, *, has_structure: bool = True, stand_in: Weights | None = None
) -> Array:
    """The weights at each node of a type: (count, 3). has_structure: whether structure says anything."""
    if weights == STRUCTURE and not has_structure and stand_in is not None:
        weights = stand_in
    made = np.tile(np.asarray(weights, np.float32), (graph.count(type), 1))
    if weights == STRUCTURE and stand_in is None:
        return made
    has_features = known_features(graph, type)
    alone = has_features & (graph.links().degrees()[graph.nodes.slice(type)] == 0)
    if weights == STRUCTURE:
        made[alone] = OWN_FEATURES
        return made
    if has_features.any():
        made[~has_features] = UNKNOWN_FEATURES
    # Where no node of the type has features, the weights were chosen for them, but own features say nothing.
    made[~has_features, 2] = 0
    if not has_structure:
        made[:, 0] = 0
    made[made.sum(axis=1) == 0] = CARRIED_FEATURES
    made[alone] = OWN_FEATURES
    normalized: Array = made / made.sum(axis=1, keepdims=True)
    return normalized


def blend(predictions: Sequence[Array], weights: Array) -> Array:
    """The mean of three predictions (count, num_outputs) by weights (count, 3)."""
    return sum((weights[:, [k]] * each for k, each in enumerate(predictions)), np.zeros_like(predictions[0]))


def log_likelihoods(labels: Labels, predicted: Array) -> NDArray[np.float64]:
    """How good predictions (num_known, num_outputs) of held-out labels are, each by the probability of what is true.

    Of label sets the mean over labels, of numbers -squared error. Smoother than right or wrong, it tells settings apart
    by fewer nodes.
    """
    truth, given = labels.values, predicted.astype(np.float64)
    if labels.task == "numbers":
        return np.asarray(-np.square(given[:, 0] - truth))
    if labels.task == "classes":
        return np.asarray(np.log(given[np.arange(len(truth)), truth].clip(LEAST_PROBABILITY)))
    return np.asarray(np.log(np.where(truth > 0, given, 1 - given).clip(LEAST_PROBABILITY)).mean(axis=1))
