"""The classifier of Crammer and Singer is LIBLINEAR's, with its dual variables."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import LinearSVC
from support.points import points

from pine.baselines.crammer_singer import crammer_singer


@pytest.mark.parametrize("cost", [0.1, 1.0])
def test_the_classifier_is_liblinears(cost):
    x, y = points()
    _, w = crammer_singer(x, y, 4, cost, key=1, tolerance=1e-8)
    settings = {"multi_class": "crammer_singer", "C": cost, "fit_intercept": False, "tol": 1e-8, "max_iter": 100_000}
    theirs = LinearSVC(**settings, random_state=0).fit(x, y)
    np.testing.assert_allclose(w, theirs.coef_, atol=1e-3)


def test_alphas_are_those_of_the_weights_and_within_their_bounds():
    x, y = points()
    alpha, w = crammer_singer(x, y, 4, 0.5, key=1)
    own = np.eye(4)[y] == 1
    np.testing.assert_allclose(alpha.T @ x, w, atol=1e-9)
    np.testing.assert_allclose(alpha.sum(axis=1), 0, atol=1e-9)
    assert (alpha[own] <= 0.5).all()
    assert (alpha[~own] <= 0).all()
