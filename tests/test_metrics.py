"""Metrics are those of scikit-learn, whatever the labels and predictions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, r2_score, root_mean_squared_error

from pine.labels import Labels
from pine.metrics import accuracy, f1, held_out_score, macro_f1, micro_f1, node_scores, r2, rmse, scores_of

seeds, counts, widths = st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 6)


@given(seed=seeds, count=counts, classes=widths)
def test_accuracy_and_f1_of_classes_are_those_of_scikit_learn(seed, count, classes):
    truth, given = np.random.default_rng(seed).integers(0, classes, (2, count))
    assert accuracy(truth, given) == pytest.approx(accuracy_score(truth, given))
    assert macro_f1(truth, given) == pytest.approx(f1_score(truth, given, average="macro", zero_division=0))


@given(seed=seeds, count=counts, labels=st.integers(2, 6), share=st.floats(0, 1))
def test_f1_of_label_sets_is_that_of_scikit_learn(seed, count, labels, share):
    rng = np.random.default_rng(seed)
    truth, given = rng.random((2, count, labels)) < np.array([share, rng.random()])[:, None, None]
    assert micro_f1(truth, given) == pytest.approx(f1_score(truth, given, average="micro", zero_division=0))
    assert macro_f1(truth, given) == pytest.approx(f1_score(truth, given, average="macro", zero_division=0))
    as_numbers = truth.astype(np.uint8), given.astype(np.uint8)
    assert micro_f1(*as_numbers) == micro_f1(truth, given)


@given(seed=seeds, count=st.integers(2, 40), scale=st.floats(1e-3, 1e3))
def test_errors_of_numbers_are_those_of_scikit_learn(seed, count, scale):
    truth, given = scale * np.random.default_rng(seed).standard_normal((2, count))
    assert rmse(truth, given) == pytest.approx(root_mean_squared_error(truth, given))
    assert r2(truth, given) == pytest.approx(r2_score(truth, given))


def test_of_numbers_that_are_all_the_same_r2_is_zero():
    assert r2(np.ones(3), np.array([1.0, 2.0, 3.0])) == 0.0


def test_f1_from_counts_is_zero_where_nothing_is_given_and_nothing_true():
    assert f1(0, 0, 0) == 0
    assert f1(2, 4, 3) == pytest.approx(4 / 7)


@pytest.mark.parametrize("task", ["classes", "label-sets", "numbers"])
def test_held_out_nodes_are_scored_by_accuracy_micro_f1_or_minus_the_squared_error(task):
    rng = np.random.default_rng(0)
    values = {"classes": rng.integers(0, 3, 30), "label-sets": rng.integers(0, 2, (30, 3)), "numbers": rng.random(30)}
    held, predicted = rng.random(30) < 0.5, rng.random((30, 1 if task == "numbers" else 3), dtype=np.float32)
    truth, own = values[task][held], predicted[held]
    expected = {
        "classes": lambda: accuracy_score(truth, own.argmax(1)),
        "label-sets": lambda: f1_score(truth, own >= 0.5, average="micro"),
        "numbers": lambda: -np.mean((truth - own[:, 0]) ** 2),
    }
    labels = Labels(task, "node", np.arange(30), values[task], None if task == "numbers" else np.arange(3))
    assert held_out_score(labels.some(held), own) == pytest.approx(expected[task]())


def labels_of(values, task) -> Labels:
    values = np.asarray(values)
    classes = np.arange(values.shape[1] if values.ndim == 2 else values.max() + 1)
    return Labels(task, "node", np.arange(len(values)), values, classes)


def test_accuracy_is_the_share_of_right_classes_among_the_test_nodes_and_macro_f1_an_average_over_classes():
    labels = labels_of([0, 1, 2, 1], "classes")
    scores = np.array([[0.9, 0.1, 0], [0.9, 0.1, 0], [0, 0, 1], [0, 1, 0]])
    found = scores_of(labels, np.array([1, 2, 3]), scores)
    assert found == {"accuracy": pytest.approx(2 / 3), "macro_f1": pytest.approx((0 + 2 / 3 + 1) / 3)}


def test_a_label_is_given_when_its_probability_is_at_least_a_half():
    truth = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1]])
    scores = np.array([[0.5, 0.49, 0.1], [0.9, 0.4, 0.6], [0.1, 0.3, 0.49]])
    found = scores_of(labels_of(truth, "label-sets"), np.arange(3), scores)
    given = [[1, 0, 0], [1, 0, 1], [0, 0, 0]]
    assert found["micro_f1"] == pytest.approx(f1_score(truth, given, average="micro"))
    assert found["macro_f1"] == pytest.approx(f1_score(truth, given, average="macro", zero_division=0))


def test_oracle_k_gives_each_node_as_many_labels_as_it_truly_has():
    truth = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0]])
    scores = np.array([[0.3, 0.2, 0.1], [0.4, 0.3, 0.2], [0.9, 0.8, 0.7]])
    found = scores_of(labels_of(truth, "label-sets"), np.arange(3), scores)
    assert found["oracle_k_micro_f1"] == 1.0


def test_a_probability_of_exactly_a_half_is_given_on_held_out_nodes_too():
    labels, half = labels_of([[1, 0], [0, 1]], "label-sets"), np.array([[0.5, 0.1], [0.1, 0.5]], np.float32)
    assert held_out_score(labels, half) == 1
    np.testing.assert_array_equal(node_scores(labels, half), [1, 1])


def test_single_nodes_are_scored_by_right_or_wrong_their_own_f1_or_minus_the_squared_error():
    classes = labels_of([0, 1], "classes")
    np.testing.assert_array_equal(node_scores(classes, np.array([[0.9, 0.1], [0.8, 0.2]], np.float32)), [1, 0])
    numbers = Labels("numbers", "node", np.arange(2), np.array([1.0, 2.0]), None)
    np.testing.assert_array_equal(node_scores(numbers, np.array([[1.0], [5.0]], np.float32)), [0, -9])
    sets = labels_of([[1, 1, 0], [0, 0, 0], [0, 1, 0]], "label-sets")
    given = np.array([[0.9, 0.1, 0.6], [0, 0, 0], [0.9, 0.1, 0.1]], np.float32)
    np.testing.assert_allclose(node_scores(sets, given), [2 / 4, 1, 0])
