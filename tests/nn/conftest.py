"""What the tests of pine.nn share: neighbors drawn at random, some nodes with none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pine.graph.csr import CSR, build_csr


@pytest.fixture
def draw_csr() -> Callable[..., CSR]:
    """Random neighbors: rows x columns, about `degree` a row; the first and the last row have none."""

    def draw(rows: int, columns: int, degree: float = 3, weighted: bool = False, seed: int = 0) -> CSR:
        rng = np.random.default_rng(seed)
        count = int(degree * rows)
        weights = rng.uniform(0.1, 2, count).astype(np.float32) if weighted else None
        source, target = rng.integers(1, max(2, rows - 1), count), rng.integers(0, columns, count)
        return build_csr(source, target, weights, (rows, columns), duplicates="keep")

    return draw
