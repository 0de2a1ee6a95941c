"""The arrays of a data file, each checked at the moment it is taken out: present, of the right shape, in range."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pine._internal.npz_sizes import UNREADABLE, check_sizes
from pine.errors import InputError, listed

DTYPE_KINDS = {
    "iu": "integers",
    "biu": "integers",
    "iuf": "numbers",
    "biuf": "numbers",
    "f": "floats",
    "S": "bytes",
    "SU": "text",
}


def unfit(where: object, what: str) -> InputError:
    """The error for a file that is not what its name says."""
    return InputError(f"{where}: {what}; this is not the file that PINE expects: remove it and get it again")


@dataclass(frozen=True)
class Arrays:
    """Arrays by name, and where they come from for the sake of error messages."""

    values: Mapping[str, NDArray[Any]]
    where: str

    def take(self, name: str, kinds: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
        """The array of that name; kinds is a key of DTYPE_KINDS, None in shape stands for any length."""
        if name not in self.values:
            raise self.wrong(f"must hold an array {name!r}, got {listed(self.values)}")
        array = self.values[name]
        fits = len(array.shape) == len(shape) and all(
            want in (None, got) for want, got in zip(shape, array.shape, strict=True)
        )
        if array.dtype.kind not in kinds or not fits:
            words = ["any" if want is None else str(want) for want in shape]
            wanted = f"({words[0]},)" if len(words) == 1 else f"({', '.join(words)})"
            raise self.wrong(
                f"{name} must be {DTYPE_KINDS[kinds]} of shape {wanted}, got {array.dtype} of shape {array.shape}"
            )
        return array

    def edges(self, name: str, sources: int, targets: int, rows: int | None = None) -> NDArray[np.int64]:
        """Pairs of node numbers, (rows, 2)."""
        edges = self.take(name, "iu", (rows, 2)).astype(np.int64)
        for end, count in enumerate((sources, targets)):
            self._within(f"column {end} of {name}", edges[:, end], 0, count - 1)
        return edges

    def classes(self, name: str, count: int, classes: int, lowest: int = -1) -> NDArray[np.int64]:
        """One class a node, (count,), -1 for none."""
        labels = self.take(name, "iu", (count,)).astype(np.int64)
        self._within(name, labels, lowest, classes - 1)
        return labels

    def label_sets(self, name: str, count: int, classes: int) -> NDArray[np.uint8]:
        """A set of classes for every node, (count, classes) of 0 and 1."""
        labels = self.take(name, "biu", (count, classes))
        self._within(name, labels, 0, 1)
        return labels.astype(np.uint8)

    def numbers(self, name: str, count: int) -> NDArray[np.float32]:
        """One number a node, (count,), NaN for none."""
        numbers = self.take(name, "iuf", (count,)).astype(np.float32)
        if np.isinf(numbers).any():
            raise self.wrong(f"{name} must be finite, got infinity")
        return numbers

    def split(self, name: str, count: int) -> NDArray[np.int64]:
        """Node numbers of one part of a split, none twice."""
        nodes = self.take(name, "iu", (None,)).astype(np.int64)
        self._within(name, nodes, 0, count - 1)
        if len(np.unique(nodes)) != len(nodes):
            raise self.wrong(f"{name} must hold every node once, got some of its {len(nodes)} nodes twice")
        return nodes

    def weights(self, name: str, rows: int) -> NDArray[np.float32]:
        """Positive weights of edges, (rows,)."""
        weights = self.take(name, "iuf", (rows,)).astype(np.float32)
        if not (np.isfinite(weights).all() and (weights > 0).all()):
            raise self.wrong(f"{name} must be positive numbers, got {weights.min()}")
        return weights

    def features(self, count: int, prefix: str = "feat") -> Any:
        """The sparse matrix that feature_arrays took apart: CSR of float32, (count, num_features)."""
        rows, columns = map(int, self.take(f"{prefix}_shape", "iu", (2,)))
        if rows != count:
            raise self.wrong(f"{prefix}_shape must begin with the number of nodes, {count}, got {rows}")
        indptr = self.take(f"{prefix}_indptr", "iu", (count + 1,)).astype(np.int64)
        indices = self.take(f"{prefix}_indices", "iu", (None,))
        data = self.take(f"{prefix}_data", "biuf", indices.shape).astype(np.float32)
        self._within(f"{prefix}_indices", indices, 0, columns - 1)
        if indptr[0] != 0 or indptr[-1] != len(indices) or (np.diff(indptr) < 0).any():
            raise self.wrong(f"{prefix}_indptr must rise from 0 to {len(indices)}, the number of {prefix}_indices")
        return sp.csr_array((data, indices.astype(np.int32), indptr), shape=(rows, columns))

    def wrong(self, what: str) -> InputError:
        """The error for arrays that do not fit."""
        return unfit(self.where, what)

    def _within(self, name: str, values: NDArray[Any], low: int, high: int) -> None:
        if values.size and not low <= values.min() <= values.max() <= high:
            got = values.min() if values.min() < low else values.max()
            raise self.wrong(f"{name} must be between {low} and {high}, got {got}")


def read_npz(files: Iterable[tuple[str, Path | IO[bytes]]]) -> Arrays:
    """The arrays of one or several npz files, (name for messages, file) each, without running anything in them."""
    values: dict[str, NDArray[Any]] = {}
    names = []
    for name, file in files:
        names.append(name)
        try:
            # Opened here, because np.load leaves a damaged archive open.
            with (
                file.open("rb") if isinstance(file, Path) else nullcontext(file) as opened,
                np.load(opened, allow_pickle=False) as arrays,
            ):
                check_sizes(arrays.zip)
                values.update({key: arrays[key] for key in arrays.files})
        except MemoryError:
            raise InputError(f"{name} holds more than fits into memory") from None
        except UNREADABLE as problem:  # TypeError: of a .npy file, np.load gives an array to close
            raise unfit(name, f"cannot be read as an npz file of plain arrays ({problem})") from None
    return Arrays(values, " and ".join(names))


def feature_arrays(features: Any, dtype: Any, prefix: str = "feat") -> dict[str, NDArray[Any]]:
    """A sparse matrix of features as four arrays, the columns of a row in rising order."""
    rows = sp.csr_array(features)
    rows.sort_indices()
    return {
        f"{prefix}_indptr": rows.indptr.astype(np.int32),
        f"{prefix}_indices": rows.indices.astype(np.int32),
        f"{prefix}_data": rows.data.astype(dtype),
        f"{prefix}_shape": np.array(rows.shape, np.int32),
    }


def content_sha256(values: Mapping[str, NDArray[Any]]) -> str:
    """sha256 over names, types, shapes and bytes, whatever the order in which a source lists its edges."""
    total = hashlib.sha256()
    for name in sorted(values):
        array = values[name]
        if name.split("_")[0] == "edges":
            array = array[np.lexsort((array[:, 1], array[:, 0]))]
        array = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        total.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        total.update(array.tobytes())
    return total.hexdigest()
