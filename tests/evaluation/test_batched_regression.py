"""Logistic regressions side by side are those of scikit-learn, one at a time."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from pine.evaluation.batched_regression import _minimum, _Problem, _Regressions, _solved, classify_all
from pine.evaluation.logistic_regression import classify, scaled
from pine.labels import Labels

CPU = torch.device("cpu")
RNG = np.random.default_rng(0)
VALUES = RNG.integers(0, 4, 240)
VECTORS = np.eye(4)[VALUES] @ RNG.standard_normal((4, 6)) + RNG.standard_normal((240, 6))
SETS = (VECTORS[:, :3] + RNG.standard_normal((240, 3)) > 0.3).astype(np.uint8)


def classes(nodes):
    return Labels("classes", "node", np.asarray(nodes), VALUES[nodes], np.arange(4))


def label_sets(nodes, sets=SETS):
    return Labels("label-sets", "node", np.asarray(nodes), sets[nodes], np.arange(sets.shape[1]))


PARTS = [np.arange(0, 240, 8), np.arange(0, 240, 3), np.arange(150), np.arange(4)]


@pytest.mark.parametrize("labels", [classes, label_sets])
def test_all_parts_at_once_are_each_part_alone(labels):
    known = [labels(nodes) for nodes in PARTS]
    found = classify_all(VECTORS, known, range(4), CPU)
    for seed, (each, probabilities) in enumerate(zip(known, found, strict=True)):
        np.testing.assert_allclose(probabilities, classify(VECTORS, each, seed), atol=1e-2)


@pytest.mark.parametrize("c", [0.001, 1.0, 10.0])
@pytest.mark.parametrize("present", [2, 3, 4])
def test_the_minimum_is_that_of_scikit_learn(c, present, monkeypatch):
    monkeypatch.setattr("pine.evaluation.batched_regression.SMALL_GRADIENT", 1e-7)
    x = scaled(VECTORS)
    nodes = np.flatnonzero(np.less(VALUES, present))[:90]
    y = np.eye(4)[VALUES]
    (found,) = _solved(with_ones(x), torch.tensor(y), [_Problem(nodes, c)], classes=True)
    exact = LogisticRegression(C=c, tol=1e-9, max_iter=10_000).fit(x[nodes], VALUES[nodes])
    np.testing.assert_allclose(found[:, :present], exact.predict_proba(x), atol=1e-5)
    assert (found[:, present:] == 0).all()


def test_the_minimum_of_label_sets_is_that_of_scikit_learn(monkeypatch):
    monkeypatch.setattr("pine.evaluation.batched_regression.SMALL_GRADIENT", 1e-7)
    x, nodes = scaled(VECTORS), np.arange(100)
    (found,) = _solved(with_ones(x), torch.tensor(SETS.astype(float)), [_Problem(nodes, 1.0)], classes=False)
    exact = OneVsRestClassifier(LogisticRegression(tol=1e-9, max_iter=10_000)).fit(x[nodes], SETS[nodes])
    np.testing.assert_allclose(found, exact.predict_proba(x), atol=1e-5)


@pytest.mark.parametrize("task", [True, False])
def test_the_gradient_is_that_of_the_value(task):
    y = np.eye(4)[VALUES] if task else SETS.astype(float)
    problems = [_Problem(np.arange(50), 0.1), _Problem(np.arange(20, 200, 2), 10.0)]
    regressions = _Regressions.of(with_ones(scaled(VECTORS)), torch.tensor(y), problems, task)
    w = torch.randn(2, 7, y.shape[1], dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    value, gradient = regressions.value_and_gradient(w)
    (expected,) = torch.autograd.grad(value.sum(), w)
    torch.testing.assert_close(gradient, expected)


def test_every_regression_ends_where_its_gradient_is_nothing():
    problems = [_Problem(nodes, c) for nodes in PARTS[:3] for c in (0.001, 0.1, 10.0)]
    regressions = _Regressions.of(with_ones(scaled(VECTORS)), torch.tensor(np.eye(4)[VALUES]), problems, True)
    _, gradient = regressions.value_and_gradient(_minimum(regressions))
    assert float(gradient.abs().max()) <= 1e-4


def test_a_label_that_all_or_none_have_is_a_constant():
    sets = np.column_stack([SETS[:, 0], np.ones(240), np.zeros(240)]).astype(np.uint8)
    (found,) = classify_all(VECTORS, [label_sets(np.arange(100), sets)], [0], CPU)
    assert (found[:, 1] == 1).all()
    assert (found[:, 2] == 0).all()


def test_a_single_class_is_certain():
    nodes = np.flatnonzero(VALUES == 2)[:9]
    (found,) = classify_all(VECTORS, [classes(nodes)], [0], CPU)
    np.testing.assert_array_equal(found, np.eye(4)[np.full(240, 2)])


def test_more_regressions_than_fit_into_memory_at_once_are_solved_in_turn(monkeypatch):
    monkeypatch.setattr("pine.evaluation.batched_regression.SMALL_GRADIENT", 1e-7)
    known = [classes(nodes) for nodes in PARTS]
    together = classify_all(VECTORS, known, range(4), CPU)
    monkeypatch.setattr("pine.evaluation.batched_regression.MOST_SCORES", 240 * 4 * 7)
    for one, other in zip(together, classify_all(VECTORS, known, range(4), CPU), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_finds_what_a_cpu_finds(monkeypatch):
    monkeypatch.setattr("pine.evaluation.batched_regression.SMALL_GRADIENT", 1e-7)
    known = [classes(nodes) for nodes in PARTS]
    pairs = zip(
        *(classify_all(VECTORS, known, range(4), torch.device(device)) for device in ("cpu", "cuda")), strict=True
    )
    for one, other in pairs:
        np.testing.assert_allclose(one, other, atol=1e-4)


def with_ones(x):
    return torch.tensor(np.column_stack([x, np.ones(len(x))]))
