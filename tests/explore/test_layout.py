"""Vectors in two dimensions."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from pine import InputError
from pine.explore import LAYOUTS, check_layout, default_layout, lay_out, seconds_needed


def test_few_nodes_are_laid_out_by_tsne_and_many_by_their_principal_axes():
    assert default_layout(20_000) == default_layout(5) == "tsne"
    assert default_layout(20_001) == default_layout(4) == "pca"
    assert seconds_needed("tsne", 20_000) > seconds_needed("tsne", 100) > seconds_needed("pca", 100)


@pytest.mark.parametrize("layout", ["tsne", "pca"])
@pytest.mark.parametrize("shape", [(1, 3), (2, 3), (3, 1), (4, 2), (6, 1), (40, 5)])
def test_every_number_of_nodes_has_finite_points_between_minus_one_and_one(layout, shape):
    vectors = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    points = lay_out(vectors, layout)
    assert points.shape == (len(vectors), 2)
    assert points.dtype == np.float32
    assert np.isfinite(points).all()
    assert np.abs(points).max(initial=0) <= 1 + 1e-6


@pytest.mark.parametrize("layout", ["tsne", "pca"])
@pytest.mark.parametrize("value", [0, 1, np.nan, np.inf])
def test_vectors_that_are_all_the_same_or_not_finite_have_points_too(layout, value):
    assert np.isfinite(lay_out(np.full((9, 3), value, np.float32), layout)).all()


def test_directions_that_are_near_are_near_on_the_map():
    rng = np.random.default_rng(1)
    group = np.repeat([0, 1, 2], 20)
    vectors = (np.eye(3)[group] * 5 + rng.normal(size=(60, 3)) * 0.3) * rng.uniform(0.1, 10, (60, 1))
    for layout in ("tsne", "pca"):
        points = lay_out(vectors.astype(np.float32), layout)
        apart = np.linalg.norm(points[:, None] - points, axis=2) + 9 * np.eye(60)
        assert (group[apart.argmin(axis=1)] == group).all()


@pytest.mark.skipif(importlib.util.find_spec("umap") is not None, reason="umap-learn is installed")
def test_umap_is_refused_with_the_name_of_its_extra():
    assert "umap" in LAYOUTS
    with pytest.raises(InputError, match=r"pip install 'pine-embedding\[umap\]'"):
        check_layout("umap")
