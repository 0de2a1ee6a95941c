"""Features and structure are weighed by what they predict of held-out labels."""

from __future__ import annotations

import numpy as np
import pytest

from pine import Graph
from pine.labels import read_labels
from pine.model.blend import STRUCTURE
from pine.model.held_out import HeldOutParts
from pine.model.weighing import Weighing
from pine.propagation import PropagatedLabels

GRAPH = Graph.from_edges([(k, (k + 1) % 40) for k in range(40)], features=np.ones((40, 1)))
VALUES = np.arange(40) % 2


def weighing(task: str, by_structure: np.ndarray | None, by_own: np.ndarray, parts: int = 1) -> Weighing:
    labels = read_labels(GRAPH, VALUES.astype(float) if task == "numbers" else VALUES, task)
    held = HeldOutParts(labels, [np.arange(40) % parts == k for k in range(parts)])
    nothing = PropagatedLabels(np.zeros_like(by_own), np.zeros((40, 1), bool))
    by_features = [[np.full_like(by_own, 0.5), by_own]] * parts
    own = None if by_structure is None else [by_structure] * parts
    return Weighing(held, GRAPH, [nothing] * parts, own, by_features, (0.0,))


def truth(task: str) -> np.ndarray:
    return np.eye(2, dtype=np.float32)[VALUES] if task == "classes" else VALUES[:, None].astype(np.float32)


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_a_mixture_must_be_clearly_better_for_classes_and_have_the_least_error_for_numbers(task):
    noise = np.random.default_rng(3).normal(0, 0.3, (2, *truth(task).shape)).astype(np.float32)
    by_structure, by_own = truth(task) + 2 * noise[0], truth(task) + noise[1]
    if task == "classes":
        by_structure, by_own = 0.6 * truth(task) + 0.2, 0.8 * truth(task)
    # Of two noisy numbers a mean is nearer, here by less than is clear; of two that are right, features are enough.
    assert (weighing(task, by_structure, by_own).chosen().weights[0] > 0) == (task == "numbers")


def test_structure_alone_is_chosen_where_features_are_worse():
    wrong = 0.8 * truth("classes")[::-1]
    made = weighing("classes", 0.8 * truth("classes"), wrong)
    assert made.chosen().weights == STRUCTURE
    assert made.structure_may_matter()


def test_a_node_or_two_are_no_reason_to_leave_features_that_are_more_likely():
    unsure, sure = 0.2 * truth("classes") + 0.4, 0.9 * truth("classes") + 0.05
    unsure[:4], sure[4:9] = unsure[:4, ::-1], 0.5 + 0.1 * (0.5 - truth("classes")[4:9])
    by_structure, by_features = unsure, sure  # 36 and 35 of 40 are right
    assert weighing("classes", by_structure, by_features).chosen().weights[0] == 0
    less_likely = 0.1 * truth("classes") + 0.45
    less_likely[4:9] = less_likely[4:9, ::-1]
    assert weighing("classes", by_structure, less_likely).chosen().weights == STRUCTURE
    sure[9:25] = 0.5 + 0.1 * (0.5 - truth("classes")[9:25])
    assert weighing("classes", by_structure, sure).chosen().weights[0] > 0, "they are clearly worse"


def test_structure_may_matter_unless_it_is_clearly_worse_and_adds_nothing():
    right = 0.8 * truth("classes") + 0.1
    wrong_often = right.copy()
    wrong_often[:10] = wrong_often[:10, ::-1]
    assert not weighing("classes", wrong_often, right).structure_may_matter()
    assert weighing("classes", right, right).structure_may_matter()
    complement = right.copy()  # each is sure where the other only guesses
    complement[20:], wrong_often[:] = 0.5, right
    wrong_often[:20] = 0.5
    assert weighing("classes", complement, wrong_often).structure_may_matter(), "both together know all"


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_without_structure_features_alone_are_chosen_from_all_parts(task):
    made = weighing(task, None, truth(task), parts=2)
    chosen = made.chosen()
    assert chosen.weights == (0.0, 0.0, 1.0)
    np.testing.assert_array_equal(chosen.predicted, truth(task))
    assert made.score(chosen) == (1.0 if task == "classes" else 0.0)
    # What is not there does not draw numbers that are too large towards zero.
    assert weighing(task, None, 2 * truth(task), parts=2).chosen().weights[0] == 0


def test_features_stand_in_for_structure_where_they_are_better_than_a_guess():
    labels = read_labels(GRAPH, VALUES)
    held = HeldOutParts(labels, [np.arange(40) < 20])
    nothing = PropagatedLabels(np.zeros((40, 2), np.float32), np.zeros((40, 1), bool))
    right, guess = truth("classes"), np.full((40, 2), 0.5, np.float32)
    mostly = right.copy()
    mostly[:4] = mostly[:4, ::-1]
    for by_carried, by_own, speak in ((guess, mostly, True), (guess, guess, False), (mostly, right[::-1], False)):
        made = Weighing(held, GRAPH, [nothing], [right], [[by_carried, by_own]], (0.0,))
        assert made.chosen().weights == STRUCTURE
        # What is carried along edges may tell of these rather than of features.
        assert (made.stand_in() is not None) == speak
