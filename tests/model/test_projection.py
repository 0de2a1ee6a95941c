"""Vectors of structure and of features in dim columns."""

from __future__ import annotations

import numpy as np

from pine.model.projection import Projection

RNG = np.random.default_rng(0)
X, FEATURES = (RNG.normal(size=(50, 4)).astype(np.float32) * scale for scale in (1.0, 100.0))


def test_columns_are_the_principal_components_and_the_size_of_a_part_s_numbers_does_not_matter():
    made = Projection.of(X, FEATURES, (0.5, 0.25, 0.25))
    vectors = made.apply(X, FEATURES)
    assert vectors.shape == (50, 4)
    np.testing.assert_allclose(vectors.mean(axis=0), 0, atol=1e-4)
    covariance = np.cov(vectors.T)
    np.testing.assert_allclose(covariance, np.diag(np.diag(covariance)), atol=1e-3)
    small = FEATURES / np.float32(1000)
    np.testing.assert_allclose(Projection.of(X, small, (0.5, 0.25, 0.25)).apply(X, small), vectors, atol=1e-3)


def test_a_part_of_nearly_all_the_weight_is_what_remains():
    vectors = Projection.of(X, FEATURES, (0.999, 0.001, 0.0)).apply(X, FEATURES)
    fit = np.linalg.lstsq(vectors, X - X.mean(axis=0), rcond=None)[0]
    np.testing.assert_allclose(vectors @ fit, X - X.mean(axis=0), atol=0.2)


def test_it_is_saved_and_read():
    made = Projection.of(X, FEATURES, (0.5, 0.5, 0.0))
    again = Projection.restored(made.arrays())
    assert again is not None
    np.testing.assert_array_equal(again.apply(X, FEATURES), made.apply(X, FEATURES))
    assert Projection.restored({}) is None


def test_one_node_and_constant_vectors_give_finite_ones():
    for count in (1, 3):
        flat = np.ones((count, 4), np.float32)
        assert np.isfinite(Projection.of(flat, flat, (0.5, 0.5, 0.0)).apply(flat, flat)).all()
