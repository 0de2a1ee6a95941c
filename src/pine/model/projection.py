"""Vectors of structure and of features as one of dim columns: the principal components of both side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pine.model.blend import Weights

Array = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Projection:
    """(x, features) map + offset: map (2 dim, dim), offset (dim,)."""

    map: Array
    offset: Array

    @classmethod
    def of(cls, x: Array, features: Array, weights: Weights) -> Self:
        """For vectors (num_nodes, dim) each; a part counts by its weight, whatever the size of its numbers."""
        both = np.concatenate([x, features], axis=1).astype(np.float64)
        center = both.mean(axis=0)
        dim = x.shape[1]
        scale = np.empty(2 * dim)
        for part, weight in ((slice(0, dim), weights[0]), (slice(dim, None), 1 - weights[0])):
            spread = np.sqrt(np.square(both[:, part] - center[part]).sum(axis=1).mean())
            scale[part] = np.sqrt(weight * dim) / (spread if spread > 0 else 1.0)
        covariance = np.cov(both.T) * np.outer(scale, scale) if len(both) > 1 else np.eye(2 * dim)
        directions = np.linalg.eigh(covariance)[1][:, ::-1][:, :dim]
        directions *= np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(dim)])
        map = scale[:, None] * directions
        return cls(map.astype(np.float32), (-center @ map).astype(np.float32))

    def apply(self, x: Array, features: Array) -> Array:
        """(n, dim) each to (n, dim)."""
        made: Array = np.concatenate([x, features], axis=1) @ self.map + self.offset
        return made

    def arrays(self) -> dict[str, Array]:
        """What is saved."""
        return {"projection.map": self.map, "projection.offset": self.offset}

    @classmethod
    def restored(cls, arrays: Mapping[str, Array]) -> Self | None:
        """From what arrays gave, if it did."""
        made = "projection.map" in arrays
        return cls(arrays["projection.map"], arrays["projection.offset"]) if made else None
