"""The files that Planetoid publishes, ind.NAME.*, as the arrays of our own form.

x, y are the training nodes; allx, ally all nodes but the test ones; tx, ty the test nodes, in the order that test.index
lists them; graph is {node: neighbors}. Citeseer's test.index skips 15 nodes that nobody described: they get empty
features and no label.

All but test.index are Python 2 pickles: their bytes must be the known ones, and only six harmless names may be called.
"""

from __future__ import annotations

import collections
import hashlib
import io
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pine.datasets.arrays import feature_arrays
from pine.errors import InputError

PLANETOID_PARTS = ("x", "y", "tx", "ty", "allx", "ally", "graph", "test.index")
VALIDATION_NODES = 500  # Yang et al. 2016: the nodes after the training ones


def read_planetoid(paths: Mapping[str, Path], sha256: Mapping[str, str], dtype: Any) -> dict[str, NDArray[Any]]:
    """Arrays from the eight parts, paths and sha256 of each; dtype is that of the features."""
    parts = {part: read_old_pickle(paths[part], sha256[part]) for part in PLANETOID_PARTS if part != "test.index"}
    test = np.array(paths["test.index"].read_text("ascii").split(), np.int64)
    start, stop = int(test.min()), int(test.max()) + 1
    features = sp.vstack([_matrix(parts["allx"]), _scattered(_matrix(parts["tx"]), test - start, stop - start)], "csr")
    one_hot = np.zeros((stop, parts["ally"].shape[1]), np.int64)
    one_hot[:start] = parts["ally"]
    one_hot[test] = parts["ty"]
    train = len(parts["y"])
    return {
        "edges": np.array([(u, v) for u, neighbors in parts["graph"].items() for v in neighbors], np.int32),
        "labels": np.where(one_hot.any(1), one_hot.argmax(1), -1).astype(np.int16),
        "train_idx": np.arange(train, dtype=np.int32),
        "val_idx": np.arange(train, train + VALIDATION_NODES, dtype=np.int32),
        "test_idx": np.sort(test).astype(np.int32),
        **feature_arrays(features, dtype),
    }


def _matrix(rows: Rows) -> Any:
    return sp.csr_array((rows.data, rows.indices, rows.indptr), shape=rows.shape)


def _scattered(rows: Any, positions: NDArray[np.int64], count: int) -> Any:
    """A matrix of `count` rows with the given rows at their positions and zeros elsewhere."""
    ones, sources = np.ones(len(positions)), np.arange(len(positions))
    scatter = sp.csr_array((ones, (positions, sources)), shape=(count, len(positions)))
    return scatter @ rows


# ---- pickles of Python 2 ----


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


ALLOWED_NAMES = {
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
        if (module, name) not in ALLOWED_NAMES:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return ALLOWED_NAMES[module, name]


def read_old_pickle(path: Path, sha256: str) -> Any:
    """The object in a pickle file whose bytes have the given sha256; any other file is refused unopened."""
    content = path.read_bytes()
    got = hashlib.sha256(content).hexdigest()
    # A pickle can run code, so a list of allowed names is the second lock; this is the first.
    if got != sha256:
        raise InputError(f"{path} must have the sha256 {sha256}, got {got}; it is a pickle, so no other file is opened")
    try:
        return _Unpickler(io.BytesIO(content), encoding="latin1").load()
    except pickle.UnpicklingError as problem:
        raise InputError(f"{path} must hold plain arrays, but {problem}") from None
