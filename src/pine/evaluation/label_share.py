"""PINE's share of propagated labels, given to any method: how much of a prediction is the known labels, propagated.

The share is chosen as PINE chooses its own, among the same three, on two fifths of the labels, each held out in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine.graph import Graph
from pine.labels import Labels
from pine.model.choice import FEWEST_LABELS, LABEL_SHARES
from pine.model.held_out import HeldOutParts
from pine.propagation import LabelPropagator

Predict = Callable[[Labels], NDArray[Any]]  # from labels to the scores of all classes (count, num_outputs)


def predict_with_share(graph: Graph, labels: Labels, predict: Predict, seed: int) -> tuple[NDArray[Any], float]:
    """What a method predicts from labels, with a share of them propagated, and that share."""
    propagator = LabelPropagator(graph, labels.type, "cpu", None)
    held = _held_out(labels, seed)
    share = LABEL_SHARES[0]
    if held is not None:
        predicted = [predict(labels.some(~part))[labels.known] for part in held.parts]
        share, _ = held.best_share(held.propagated(propagator), predicted, LABEL_SHARES)
    whole = propagator.propagate(labels.known, labels.targets())
    return whole.blend(predict(labels), share), share


def labels_to_predict_from(labels: Labels, seed: int) -> list[Labels]:
    """What predict_with_share predicts from, in this order: the labels without each held-out part, and all of them."""
    held = _held_out(labels, seed)
    return [labels] if held is None else [*(labels.some(~part) for part in held.parts), labels]


def _held_out(labels: Labels, seed: int) -> HeldOutParts | None:
    """The labels that the share is chosen on; of few labels it is not."""
    return HeldOutParts.drawn(labels, np.random.default_rng(seed)) if len(labels.known) >= FEWEST_LABELS else None
