"""Read a Python 2 pickle of plain arrays: the bytes must be known ones, and only six harmless names may be called."""

from __future__ import annotations

import collections
import hashlib
import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np

from pine.errors import InputError


class Rows:
    """What a pickled scipy.sparse.csr_matrix leaves: data, indices, indptr and _shape, and no code of SciPy's."""

    data: Any
    indices: Any
    indptr: Any
    _shape: Any

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        rows, columns = self._shape
        return int(rows), int(columns)


ALLOWED = {
    # NumPy moved this function between versions; an array names the present one itself.
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("scipy.sparse.csr", "csr_matrix"): Rows,
    ("collections", "defaultdict"): collections.defaultdict,
    ("__builtin__", "list"): list,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ALLOWED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return ALLOWED[module, name]


def read_old_pickle(path: Path, sha256: str) -> Any:
    """The object in a pickle file whose bytes have the given sum; any other file is refused unopened."""
    content = path.read_bytes()
    got = hashlib.sha256(content).hexdigest()
    # A pickle can run code, so a list of allowed names is the second lock; this is the first.
    if got != sha256:
        raise InputError(f"{path} must have the sha256 {sha256}, got {got}; it is a pickle, so no other file is opened")
    try:
        return _Unpickler(io.BytesIO(content), encoding="latin1").load()
    except pickle.UnpicklingError as problem:
        raise InputError(f"{path} must hold plain arrays, but {problem}") from None
