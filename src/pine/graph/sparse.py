"""SciPy's sparse matrices, whose indices nobody has checked: with wrong ones SciPy reads beyond its arrays."""

from __future__ import annotations

from typing import Any

from pine.errors import InputError


def check_indices(matrix: Any, what: str) -> None:
    """Raise where a sparse matrix has entries outside of its shape."""
    try:
        if hasattr(matrix, "check_format"):
            # Of another object with the same arrays: the check may give an array another type.
            type(matrix)(matrix, copy=False).check_format(full_check=True)
        elif matrix.format == "coo" and matrix.nnz:
            for place, size in zip(matrix.coords, matrix.shape, strict=True):
                if not 0 <= place.min() <= place.max() < size:
                    raise ValueError(f"an index of {int(place.max())} in {size}")
    except ValueError as problem:
        raise InputError(f"{what} is no sound sparse matrix: {problem}") from None
