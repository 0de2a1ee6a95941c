"""What simple methods reach on held-out labels, to see what a training is worth: known labels propagated along edges,
and logistic regression on the vectors that it began with. They are held out as PINE holds labels out: a fifth, and
another.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine.baselines import LabelPropagation
from pine.evaluation.logistic_regression import classify
from pine.graph import Graph
from pine.labels import Labels
from pine.metrics import held_out_score
from pine.model.choice import FEWEST_LABELS
from pine.model.held_out import HeldOutParts
from pine.propagation import SHARE_ALPHA, LabelPropagator

LABEL_PROPAGATION, REGRESSION = "label propagation", "logistic regression on the start"


def reference_scores(graph: Graph, labels: Labels, start: NDArray[Any] | None, seed: int) -> dict[str, float]:
    """Scores at held-out labels by name: accuracy, micro F1 or -squared error; none where labels are too few.

    start: vectors (num_nodes, dim) before training, or None. Numbers have no logistic regression.
    """
    if len(labels.known) < FEWEST_LABELS:
        return {}
    scaled, _, _ = labels.standardized()
    rng = np.random.default_rng(seed)
    held = HeldOutParts.drawn(scaled, rng)
    rest = [scaled.some(~part) for part in held.parts]
    # What the method of this name predicts, by products on all cores, which take a sixth of the time of SciPy's.
    propagator, method = LabelPropagator(graph, labels.type, "cpu", None), LabelPropagation()
    assert method.alpha == SHARE_ALPHA
    found = {LABEL_PROPAGATION: [_propagated(propagator, each, method.rounds) for each in rest]}
    if start is not None and labels.task != "numbers":
        own = start[graph.nodes.slice(labels.type)]
        found[REGRESSION] = [np.asarray(classify(own, each, seed), np.float32) for each in rest]
    made = {
        name: held.joined(each[labels.known] for each in parts if each is not None) for name, parts in found.items()
    }
    return {name: held_out_score(held.held_out, each) for name, each in made.items()}


def _propagated(propagator: LabelPropagator, labels: Labels, rounds: int) -> NDArray[np.float32]:
    """The average known label that arrives at each node; where none does, that of all known ones."""
    targets = labels.targets()
    everywhere = np.asarray(targets.mean(axis=0, keepdims=True), np.float32)
    return propagator.propagate(labels.known, targets, rounds).blend(everywhere, 1.0)
