"""The eigenpairs of largest magnitude of a symmetric operator, from a random block and its images (block Krylov)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

EXTRA = 16  # columns of a block beyond those asked for: they speed convergence up


def leading_eigenpairs(
    multiply: Callable[[NDArray[Any]], NDArray[Any]],
    size: int,
    count: int,
    rng: np.random.Generator,
    rounds: int,
    dtype: DTypeLike,
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """At most count eigenvalues by falling magnitude, and their vectors (size, found), of a (size, size) operator.

    multiply maps (size, k) to (size, k) and is called rounds + 1 times. Memory is that of rounds blocks of
    count + EXTRA columns. Directions that the operator maps to zero are not returned. Of an operator that is not quite
    symmetric, the symmetric part is taken on the space found.
    """
    width = min(size, count + EXTRA)
    basis = np.empty((size, rounds * width), dtype)
    small = np.zeros((rounds * width, rounds * width))  # basis' M basis
    image = multiply(rng.standard_normal((size, width), np.float32).astype(dtype))
    before = here = slice(0, 0)
    for _ in range(rounds):
        block = _new_directions(basis[:, : here.stop], image)
        before, here = here, slice(here.stop, here.stop + block.shape[1])
        if before.stop > 0:
            # An image lies in the space of the blocks so far and the one made of it: later blocks add nothing here.
            small[here, before] = block.T @ image
        if block.shape[1] == 0:
            break
        basis[:, here] = block
        image = multiply(block)
        small[: here.stop, here] = basis[:, : here.stop].T @ image
    small = small[: here.stop, : here.stop]
    values, rotation = np.linalg.eigh((small + small.T) / 2)
    order = np.argsort(-np.abs(values), kind="stable")[:count]
    order = order[np.abs(values[order]) > _precision(dtype) * np.abs(values).max(initial=0.0)]
    return values[order], basis[:, : here.stop] @ rotation[:, order].astype(dtype)


def _new_directions(basis: NDArray[Any], block: NDArray[Any]) -> NDArray[Any]:
    """An orthonormal basis of what block adds to an orthonormal basis."""
    scale = float(np.sqrt(np.square(block).sum(axis=0, dtype=np.float64).max(initial=0.0)))
    for _ in range(2):  # one pass leaves rounding errors, two do not
        block = block - basis @ (basis.T @ block)
        values, rotation = np.linalg.eigh((block.T @ block).astype(np.float64))
        keep = np.sqrt(np.maximum(values, 0.0)) > _precision(block.dtype) * scale
        block = block @ (rotation[:, keep] / np.sqrt(values[keep])).astype(block.dtype)
        scale = 1.0
    return block


def _precision(dtype: DTypeLike) -> float:
    """What is smaller than this, relative to the largest, is rounding."""
    return float(np.sqrt(np.finfo(dtype).eps))
