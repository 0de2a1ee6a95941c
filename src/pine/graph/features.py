"""Node features as a graph keeps them: float32, dense or CSR, a row a node; rows that are not known are zeros."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from pine.errors import InputError, quoted
from pine.graph.ids.node_ids import NodeIds
from pine.graph.sparse import check_indices

Features = Any  # NDArray[np.float32] or scipy.sparse.csr_array
Mask = NDArray[np.bool_]

NUMBER_KINDS = "biuf"
# What else arrays and columns hold, by NumPy's letter, and the way out.
TEXT_KIND = ("text", "encode it, for example with pandas.get_dummies")
DATES = ("dates", "turn them into numbers, such as days since the first")
OBJECTS = ("objects", "make them numbers, with NaN for what is missing: np.asarray(features, float)")
OTHER_KINDS = {
    **dict.fromkeys("UST", TEXT_KIND),
    **dict.fromkeys("Mm", DATES),
    "c": ("complex numbers", "give their real and imaginary parts as columns of their own"),
    "O": OBJECTS,
}


def checked_features(values: Any, mask: Any, ids: NodeIds, type: str) -> tuple[Features, Mask | None]:
    """Features of the nodes of one type, (count, num_features), and which rows are known; None: all are.

    values: an array, a sparse matrix, a pandas or polars frame or an Arrow table, in node order; rows that are not
    known may hold anything.
    """
    what = f"features of type {type!r}"
    known = _checked_mask(mask, len(ids), type)
    given, names = _numbers(values, what)
    if given.ndim != 2 or given.shape[0] != len(ids):
        one = "; one number a node is a column: features.reshape(-1, 1)" if given.ndim == 1 else ""
        raise InputError(f"{what} must have one row per node, ({len(ids)}, ...), got shape {given.shape}{one}")
    if given.shape[1] == 0:
        raise InputError(f"{what} must have at least one column, got shape {given.shape}; leave them out instead")
    with np.errstate(over="ignore", invalid="ignore"):
        if sp.issparse(given):
            given = given if known is None else _without_rows(given, ~known)
            matrix = given.astype(np.float32)
            entries = matrix.data
        else:
            entries = matrix = np.array(given, np.float32, order="C")
            if known is not None:
                matrix[~known] = 0
    if not np.isfinite(entries).all():
        raise _not_finite(what, given, matrix, ids, names)
    for array in (matrix.data, matrix.indices, matrix.indptr) if sp.issparse(matrix) else (matrix,):
        array.flags.writeable = False
    return matrix, known


def _checked_mask(mask: Any, count: int, type: str) -> Mask | None:
    """Which rows are known; None where all are."""
    if mask is None:
        return None
    known = np.array(mask)
    if known.dtype != bool or known.shape != (count,):
        raise InputError(
            f"feature_mask of type {type!r} must be True (known) or False for each node, shape ({count},), "
            f"got {known.dtype} of shape {known.shape}"
        )
    known.flags.writeable = False
    return None if known.all() else known


def _numbers(values: Any, what: str) -> tuple[Any, Sequence[str] | None]:
    """Features as a NumPy array or a CSR matrix of numbers; the names of the columns where they have any."""
    if sp.issparse(values):
        _check_kind(values.dtype.kind, what)
        check_indices(values, what)
        return (sp.csr_array(values) if values.ndim == 2 else values), None
    if values.__class__.__module__.startswith("pandas") and hasattr(values, "iloc") and values.ndim == 2:
        return _from_pandas(values, what)
    if isinstance(values, pa.Table | pa.RecordBatch) or hasattr(values, "get_columns"):
        return numbers_from_arrow(pa.table(values), what)
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"{what} must be numbers in rows of one length, got rows of several") from None
    if array.dtype.kind == "O":
        odd = next((each for each in array.ravel() if not isinstance(each, float | int | np.number)), None)
        raise _not_numbers(what, TEXT_KIND if isinstance(odd, str) else (f"objects such as {quoted(odd)}", OBJECTS[1]))
    _check_kind(array.dtype.kind, what)
    return array, None


def _from_pandas(frame: Any, what: str) -> tuple[Any, list[str]]:
    names = [str(name) for name in frame.columns]
    for i, (name, dtype) in enumerate(zip(names, frame.dtypes, strict=True)):
        kind = getattr(dtype, "kind", "O")
        if kind == "O" and str(dtype) in ("object", "category", "str", "string"):
            words = next((True for each in frame.iloc[:, i] if isinstance(each, str)), False)
            raise _not_numbers(what, TEXT_KIND if words else OBJECTS, name)
        _check_kind(kind, what, name)
    if len(names) and all(str(dtype).startswith("Sparse") for dtype in frame.dtypes):
        return sp.csr_array(frame.sparse.to_coo()), names
    return frame.to_numpy(dtype=np.float64, na_value=np.nan), names


def numbers_from_arrow(table: pa.Table, what: str) -> tuple[NDArray[Any], list[str]]:
    """The columns of a table side by side, (num_rows, num_columns) with NaN for what is missing, and their names."""
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        if pa.types.is_temporal(kind):
            raise _not_numbers(what, DATES, name)
        if pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view":
            raise _not_numbers(what, TEXT_KIND, name)
        try:
            whole = column.null_count == 0 and (pa.types.is_integer(kind) or pa.types.is_floating(kind))
            columns.append(column.to_numpy() if whole else pc.cast(column, pa.float64()).to_numpy())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise _not_numbers(what, (f"values of type {kind}", OBJECTS[1]), name) from None
    return np.column_stack(columns) if columns else np.empty((len(table), 0)), table.column_names


def _check_kind(kind: str, what: str, column: str | None = None) -> None:
    if kind not in NUMBER_KINDS:
        raise _not_numbers(what, OTHER_KINDS.get(kind, OBJECTS), column)


def _not_numbers(what: str, found: tuple[str, str], column: str | None = None) -> InputError:
    at = "" if column is None else f" in column {column!r}"
    return InputError(f"{what} must be numbers, got {found[0]}{at}; {found[1]}")


def _without_rows(matrix: Any, rows: Mask) -> Any:
    """A CSR matrix without the entries of some rows."""
    keep = np.repeat(~rows, np.diff(matrix.indptr))
    indptr = np.concatenate([[0], np.cumsum(np.where(rows, 0, np.diff(matrix.indptr)))])
    return sp.csr_array((matrix.data[keep], matrix.indices[keep], indptr), shape=matrix.shape)


def _not_finite(what: str, given: Any, matrix: Any, ids: NodeIds, names: Sequence[str] | None) -> InputError:
    """The error for the first entry that is NaN, infinite, or too large for float32."""
    if sp.issparse(matrix):
        at = int(np.flatnonzero(~np.isfinite(matrix.data))[0])
        row, column = int(np.searchsorted(matrix.indptr, at, side="right")) - 1, int(matrix.indices[at])
        value = float(given.data[at])
    else:
        row, column = (int(each[0]) for each in np.nonzero(~np.isfinite(matrix)))
        value = float(given[row, column])
    name = column if names is None else repr(names[column])
    place = f"for node {quoted(ids[row])} in column {name}"
    if np.isfinite(value):
        return InputError(f"{what} must fit into float32, got {value:g} {place}; scale them down")
    word = "NaN" if np.isnan(value) else "infinity"
    return InputError(
        f"{what} must be finite numbers, got {word} {place}; fill it, or say which nodes' features are known: "
        "feature_mask=..."
    )
