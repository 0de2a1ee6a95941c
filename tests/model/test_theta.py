"""theta begins at the regression of the labels on the start: the minimum of its convex formula."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression, Ridge

import pine.model.theta as theta_module
from pine.model.theta import predictions, regression, rest_decay, scores
from pine.nn.targets import Targets

RNG = np.random.default_rng(0)
X = torch.tensor(RNG.standard_normal((90, 6)) @ np.diag([3, 2, 1, 1, 0.5, 0.2]) + 1, dtype=torch.float32)
POSITIONS = torch.tensor(RNG.permutation(90)[:60])
SEEN = torch.tensor(RNG.random(60) < 0.7).float()
DECAY = 0.02


# Drawn once, in this order, so that no test depends on those before it.
SIGNALS = {
    task: X[POSITIONS] @ torch.tensor(RNG.standard_normal((6, 3))).float()
    for task in ("classes", "label-sets", "numbers", "1", "2", "3")
}
# A few steps come close; with many, the minimum is reached, also where a class has a single node.
STEPS = pytest.mark.parametrize("steps", [theta_module.REGRESSION_STEPS, 5000])


def targets(task: str, of: str | None = None) -> Targets:
    signal = SIGNALS[of or task]
    values = {"classes": signal.argmax(1), "label-sets": (signal > 0).float(), "numbers": signal[:, 0]}[task]
    return Targets(task, 1 if task == "numbers" else 3, POSITIONS, values)


@pytest.mark.parametrize(
    ("signal", "steps", "close"),
    [("classes", theta_module.REGRESSION_STEPS, 1e-2), *((of, 5000, 1e-3) for of in ("classes", "1", "2", "3"))],
)
def test_classes_have_the_logistic_regression_of_scikit_learn(monkeypatch, signal, steps, close):
    monkeypatch.setattr(theta_module, "REGRESSION_STEPS", steps)
    given = targets("classes", signal)
    w, b = regression(X, given, SEEN, DECAY)
    seen = SEEN.bool()
    known, values = X[POSITIONS][seen].numpy(), given.values[seen].numpy()
    model = LogisticRegression(C=1 / (2 * DECAY * len(known)), tol=1e-8, max_iter=10_000).fit(known, values)
    ours = scores(X, w, b).softmax(-1).numpy()
    np.testing.assert_allclose(ours, model.predict_proba(X.numpy()), atol=close)


@STEPS
def test_label_sets_have_one_logistic_regression_for_each_label(monkeypatch, steps):
    monkeypatch.setattr(theta_module, "REGRESSION_STEPS", steps)
    close = 1e-2 if steps < 5000 else 1e-3
    given = targets("label-sets")
    w, b = regression(X, given, SEEN, DECAY)
    seen = SEEN.bool()
    known = X[POSITIONS][seen].numpy()
    for k in range(3):
        model = LogisticRegression(C=1 / (2 * DECAY * len(known)), tol=1e-8, max_iter=10_000)
        model.fit(known, given.values[seen, k].numpy())
        np.testing.assert_allclose(scores(X, w, b).sigmoid()[:, k], model.predict_proba(X.numpy())[:, 1], atol=close)


@STEPS
def test_numbers_have_ridge_regression(monkeypatch, steps):
    monkeypatch.setattr(theta_module, "REGRESSION_STEPS", steps)
    given = targets("numbers")
    w, b = regression(X, given, SEEN, DECAY)
    seen = SEEN.bool()
    known = X[POSITIONS][seen].numpy()
    model = Ridge(alpha=DECAY * len(known)).fit(known, given.values[seen].numpy())
    np.testing.assert_allclose(scores(X, w, b)[:, 0], model.predict(X.numpy()), atol=5e-2 if steps < 5000 else 1e-3)


@pytest.mark.parametrize("task", ["classes", "label-sets", "numbers"])
def test_labels_that_are_not_seen_change_nothing(task: str):
    given = targets(task)
    hidden = SEEN == 0
    values = given.values.clone()
    values[hidden] = values[hidden].flip(0)
    other = Targets(task, given.num_outputs, POSITIONS, values)
    for one, two in zip(regression(X, given, SEEN), regression(X, other, SEEN), strict=True):
        torch.testing.assert_close(one, two)


@pytest.mark.parametrize("task", ["classes", "label-sets", "numbers"])
def test_several_at_once_are_those_one_by_one(task):
    several = torch.stack([SEEN, 1 - SEEN])
    w, b = regression(X, targets(task), several)
    for k, seen in enumerate(several):
        for one, other in zip(regression(X, targets(task), seen), (w[k], b[k]), strict=True):
            torch.testing.assert_close(other, one, atol=1e-5, rtol=1e-5)


def test_where_nothing_is_trained_decay_falls_with_the_number_of_labels():
    assert rest_decay(torch.ones(10)) == theta_module.DECAY
    assert rest_decay(torch.ones(2, 4000)) == pytest.approx(0.001)


@pytest.mark.parametrize("task", ["classes", "label-sets", "numbers"])
def test_without_training_x_predicts_alone_but_for_numbers(task):
    w, b = regression(X, targets(task), SEEN, DECAY)
    f = X.flip(0)
    both, by_x = predictions(task, w, b, X, f), predictions(task, w, b, X, X)
    torch.testing.assert_close(predictions(task, w, b, X, f, trained=False), both if task == "numbers" else by_x)


@pytest.mark.parametrize("task", ["classes", "label-sets", "numbers"])
def test_labels_that_come_in_blocks_have_the_same_regression(monkeypatch, task):
    whole = regression(X, targets(task), SEEN)
    monkeypatch.setattr(theta_module, "ROWS_AT_A_TIME", 7)
    for one, two in zip(regression(X, targets(task), SEEN), whole, strict=True):
        torch.testing.assert_close(one, two)
