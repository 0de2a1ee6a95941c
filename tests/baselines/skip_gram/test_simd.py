"""The arithmetic of rows in LLVM's vector types is NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from pine._internal.parallel import compiled
from pine.baselines.skip_gram.simd import LANES, aligned_zeros, dot, mutual_update, padded


@compiled
def _dot(x, i, y, j):
    return dot(x, i, y, j)


@compiled
def _mutual_update(g, x, i, y, j, count):
    mutual_update(g, x, i, y, j, count)


@pytest.mark.parametrize("width", [16, 48, 64])
def test_vector_arithmetic_is_that_of_numpy(width):
    rng = np.random.default_rng(2)
    x, y = (rng.normal(size=(4, width)).astype(np.float32) for _ in range(2))
    assert _dot(x, 1, y, 2) == pytest.approx(float(x[1].astype(float) @ y[2]), abs=1e-5)
    g, rows = np.array([0.5, -2.0, 9.0], np.float32), np.array([3, 0, 1])
    want_x, want_y = x[2] + 0.5 * y[3] - 2 * y[0], y + np.outer([-2.0, 0, 0, 0.5], x[2])
    rest = np.delete(x, 2, axis=0)
    _mutual_update(g, x, 2, y, rows, 2)
    np.testing.assert_allclose(x[2], want_x, atol=1e-5)
    np.testing.assert_allclose(y, want_y, atol=1e-5)
    np.testing.assert_array_equal(np.delete(x, 2, axis=0), rest)


def test_buffers_are_zero_and_aligned_and_widths_a_multiple_of_the_lanes():
    assert [padded(width) for width in (1, 16, 17, 64)] == [LANES, LANES, 2 * LANES, 64]
    made = aligned_zeros((3, 5, LANES))
    assert made.shape == (3, 5, LANES)
    assert made.dtype == np.float32
    assert not made.any()
    assert made.ctypes.data % 64 == 0
