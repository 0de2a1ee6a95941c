"""Logistic regression on frozen vectors: what it sees, what it is blind to, and how it chooses C."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multiclass import OneVsRestClassifier

from pine import InputError
from pine.evaluation.logistic_regression import C_GRID, best_c, classify
from pine.labels import Labels


def test_logistic_regression_never_sees_the_other_labels_and_answers_for_every_class():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 3, 200)
    vectors = np.eye(3)[values] + 0.1 * rng.standard_normal((200, 3))
    labels = Labels("classes", "node", np.arange(60), values[:60], np.arange(3))
    probabilities = classify(vectors, labels)
    assert probabilities.shape == (200, 3)
    assert (probabilities.argmax(axis=1) == values).mean() > 0.98


def test_logistic_regression_is_blind_to_a_shift_a_scale_and_a_rotation_of_the_vectors():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 3, 200)
    # Columns of very different sizes: scaled one by one, noise would count as much as what tells classes apart.
    vectors = (np.eye(3)[values] @ rng.standard_normal((3, 8)) + rng.standard_normal((200, 8))) * 0.5 ** np.arange(8)
    labels = Labels("classes", "node", np.arange(100), values[:100], np.arange(3))
    rotation = np.linalg.qr(rng.standard_normal((8, 8))).Q
    moved = 1000 * (vectors @ rotation) + rng.standard_normal(8)
    np.testing.assert_allclose(classify(moved, labels), classify(vectors, labels), atol=2e-3)


def test_logistic_regression_learns_label_sets_also_with_a_label_that_nobody_has():
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((300, 4))
    sets = np.column_stack([vectors[:, 0] > 0, vectors[:, 1] > 0, np.zeros(300)]).astype(np.uint8)
    labels = Labels("label-sets", "node", np.arange(150), sets[:150], np.arange(3))
    given = classify(vectors, labels) >= 0.5
    assert (given == sets).mean() > 0.95


def test_logistic_regression_on_a_single_class_says_that_class():
    labels = Labels("classes", "node", np.arange(9), np.ones(9, int), np.arange(3))
    assert (classify(np.random.default_rng(0).random((20, 2)), labels).argmax(axis=1) == 1).all()


def noisy_classes(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Sixty nodes, forty columns of which one tells the classes apart: a large C learns the noise by heart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 60)
    x = rng.standard_normal((60, 40))
    x[:, 0] += 1.5 * y
    return x, y


def test_the_grid_of_c_has_every_power_of_ten_and_folds_are_those_of_the_first_seed():
    assert pytest.approx([10.0**k for k in range(-3, 2)]) == C_GRID
    x, y = noisy_classes(1)  # for which other folds choose another C
    labels = Labels("classes", "node", np.arange(60), y, np.arange(2))
    np.testing.assert_array_equal(classify(x, labels), classify(x, labels, seed=0))
    assert not np.array_equal(classify(x, labels), classify(x, labels, seed=1))


@pytest.mark.parametrize("seed", range(4))
def test_c_is_the_one_that_a_grid_search_over_the_validation_folds_finds(seed):
    x, y = noisy_classes(seed)
    folds = KFold(3, shuffle=True, random_state=seed)
    search = GridSearchCV(LogisticRegression(max_iter=300), {"C": C_GRID}, scoring="accuracy", cv=folds)
    assert best_c(x, y, seed) == search.fit(x, y).best_params_["C"]


def test_c_of_label_sets_is_the_one_that_a_grid_search_by_micro_f1_finds():
    x, y = noisy_classes(0)
    sets = np.column_stack([y, noisy_classes(1)[1]])
    model, folds = OneVsRestClassifier(LogisticRegression(max_iter=300)), KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(model, {"estimator__C": C_GRID}, scoring="f1_micro", cv=folds)
    assert best_c(x, sets, 0) == search.fit(x, sets).best_params_["estimator__C"]


def test_too_few_labels_for_folds_leave_c_at_one():
    x, y = noisy_classes(0)
    assert best_c(x[:5], y[:5], 0) == 1.0


def test_two_labels_a_fold_are_enough_to_choose_c():
    x, y = np.array([[0.0], [0.0], [0.0], [0.0], [0.0], [1.0]]), np.array([1, 0, 1, 0, 1, 0])
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(LogisticRegression(max_iter=300), {"C": C_GRID}, scoring="accuracy", cv=folds)
    assert best_c(x, y, 0) == search.fit(x, y).best_params_["C"] != 1.0


def test_numbers_are_refused():
    labels = Labels("numbers", "node", np.arange(9), np.ones(9), None)
    with pytest.raises(InputError, match="predicts classes and label sets; these labels are numbers"):
        classify(np.ones((9, 2)), labels)
