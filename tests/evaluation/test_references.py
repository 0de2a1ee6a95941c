"""What simple methods reach on held-out labels is what the methods of these names predict."""

from __future__ import annotations

import numpy as np
import pytest

from pine import Graph
from pine.baselines import LabelPropagation
from pine.datasets import planted_classes
from pine.evaluation.references import LABEL_PROPAGATION, REGRESSION, reference_scores
from pine.labels import Labels, read_labels
from pine.metrics import held_out_score
from pine.model.held_out import HeldOutParts


def labeled(task: str) -> tuple[Graph, Labels]:
    """Groups of 300 planted nodes, three of every four known; nodes that nothing reaches are among them."""
    graph, classes = planted_classes(300, classes=3)
    graph = Graph.from_edges([(a, b) for a, b in np.argwhere(graph.links().to_scipy().toarray()) if a < b and a % 7])
    given = {
        "classes": lambda i: int(classes[i]),
        "label-sets": lambda i: {f"c{classes[i]}", "any"} if i % 5 else set(),
        "numbers": lambda i: float(classes[i]) + i / 300,
    }[task]
    return graph, read_labels(graph, {i: given(i) for i in graph.ids().tolist() if i % 4}, task=task)


@pytest.mark.parametrize("task", ["classes", "label-sets", "numbers"])
def test_label_propagation_scores_as_the_method_does(task):
    graph, labels = labeled(task)
    found = reference_scores(graph, labels, None, 3)
    scaled, _, _ = labels.standardized()
    rng = np.random.default_rng(3)
    held = HeldOutParts.drawn(scaled, rng)
    made = [LabelPropagation()._fit(graph, scaled.some(~part), rng).scores for part in held.parts]
    wanted = held_out_score(held.held_out, held.joined(each[labels.known] for each in made if each is not None))
    assert found[LABEL_PROPAGATION] == pytest.approx(wanted, rel=1e-4)
    assert abs(wanted) > 0.1


def test_numbers_and_fits_without_a_start_have_no_regression():
    graph, labels = labeled("classes")
    assert REGRESSION in reference_scores(graph, labels, np.ones((graph.num_nodes, 2), np.float32), 0)
    assert REGRESSION not in reference_scores(graph, labels, None, 0)
    assert REGRESSION not in reference_scores(*labeled("numbers"), np.ones((graph.num_nodes, 2), np.float32), 0)
