"""The regression on blocks is scikit-learn's on the blocks side by side."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier

from pine.baselines.link_based.features import Product
from pine.baselines.link_based.regression import BlockRegression, probabilities

RNG = np.random.default_rng(0)
LEFT, RIGHT, DENSE = sp.random_array((60, 8), density=0.3, rng=RNG), RNG.standard_normal((8, 5)), RNG.random((60, 3))
BLOCKS = [Product((sp.csr_array(LEFT), RIGHT)), Product((DENSE,))]
X = np.hstack([LEFT.toarray() @ RIGHT, DENSE])
HIDDEN = (X - X.mean(axis=0)) @ RNG.standard_normal((8, 3)) + RNG.standard_normal((60, 3))


def fitted(task, targets, l2):
    return probabilities(task, BlockRegression.fit(BLOCKS, targets, task, l2).raw(BLOCKS))


@pytest.mark.parametrize("l2", [0.1, 5.0])
def test_classes_and_label_sets_are_those_of_scikit_learn(l2):
    classes, sets = HIDDEN.argmax(axis=1), (HIDDEN > 0).astype(int)
    theirs = LogisticRegression(C=1 / l2, tol=1e-8, max_iter=5000)
    expected = theirs.fit(X, classes).predict_proba(X)
    np.testing.assert_allclose(fitted("classes", np.eye(3)[classes], l2), expected, atol=2e-3)
    expected = OneVsRestClassifier(theirs).fit(X, sets).predict_proba(X)
    np.testing.assert_allclose(fitted("label-sets", sets.astype(float), l2), expected, atol=2e-3)


def test_numbers_are_those_of_ridge_regression():
    expected = Ridge(alpha=2.0).fit(X, HIDDEN[:, 0]).predict(X)
    np.testing.assert_allclose(fitted("numbers", HIDDEN[:, :1], 2.0)[:, 0], expected, atol=2e-3)
