"""Points with classes that tests share."""

from __future__ import annotations

import numpy as np


def points(count: int = 80, dim: int = 5, num_classes: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, num_classes, count)
    return rng.normal(size=(num_classes, dim))[y] + rng.normal(size=(count, dim)), y
