"""Rows of node features out of csv, tsv, Parquet, npy and npz files, in the order of the file; none of it is run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from pine._internal.npz_sizes import UNREADABLE, check_sizes
from pine.errors import InputError, listed
from pine.graph.features import numbers_from_arrow
from pine.graph.ids.column import Column, column
from pine.graph.read.columns import ID_COLUMNS
from pine.graph.read.dialect import Dialect, is_number, sniff
from pine.graph.read.parquet import open_parquet, parquet_batches
from pine.graph.read.text import read_batches, stripped
from pine.graph.sparse import check_indices

SPARSE_WIDTH, SPARSE_ZEROS = 64, 0.75  # wider than this, and with more zeros than this, a table becomes CSR
SWITCH_WORDS = {"true", "false"}


@dataclass(frozen=True)
class FeatureRows:
    """Features of some nodes, in the order of a file; where(row) names a row of it."""

    ids: Column
    values: Any  # (num_rows, num_features), dense or CSR
    names: Sequence[str]
    where: Callable[[int], str]


def rows_from_text(path: Path, id_column: str | None) -> FeatureRows:
    """Those of a csv, tsv or space-separated file."""
    file = sniff(path)
    file = file.with_header() if _is_header(file.first, id_column) else file
    at = _id_position(path, file.names if file.has_header else (), id_column)
    wanted = [i for i in range(len(file.names)) if i != at]
    kinds = [pa.string(), *(_kind(file, i) for i in wanted)]
    batches = (part.set_column(0, "id", stripped(part.column(0))) for part in read_batches(file, [at, *wanted], kinds))
    return _collected(path, batches, [file.names[i] for i in wanted], file.where)


def _is_header(first: Sequence[str], id_column: str | None) -> bool:
    """Whether a first line holds names: that of the ids, none for them as pandas writes it, or words for numbers."""
    fields = [field.strip().lower() for field in first]
    named = id_column in first or fields[0] == "" or any(name in fields for name in ID_COLUMNS)
    return named or any(not (field in SWITCH_WORDS or is_number(field or "0")) for field in fields[1:])


def _kind(file: Dialect, i: int) -> pa.DataType:
    """Numbers, or true and false, as far as the first lines tell."""
    given = [row[i].strip() for row in file.sample if row[i].strip()]
    if given and all(field.lower() in SWITCH_WORDS for field in given):
        return pa.bool_()
    text = next((field for field in given if not is_number(field) and field.lower() not in ("na", "null")), None)
    if text is not None:
        raise InputError(
            f"{file.path}: column {file.names[i]!r} must be numbers, got text such as {text!r}; encode it, for example "
            "with pandas.get_dummies, or leave it out"
        )
    return pa.float64()


def rows_from_parquet(path: Path, id_column: str | None) -> FeatureRows:
    """Those of a Parquet file."""
    file = open_parquet(path)
    names = file.schema_arrow.names
    at = _id_position(path, names, id_column)
    wanted = [names[at], *(name for i, name in enumerate(names) if i != at)]
    batches = (part.select(wanted) for part in parquet_batches(path, file, wanted))
    return _collected(path, batches, wanted[1:], lambda row: f"{path}, row {row}")


def _id_position(path: Path, names: Sequence[str], id_column: str | None) -> int:
    """Which column holds the ids: the named one, one of a usual name, or the first."""
    if id_column is not None:
        if id_column not in names:
            raise InputError(f"{path} has no column {id_column!r}; its columns are {listed(names, 20)}")
        return list(names).index(id_column)
    lowered = [name.strip().lower() for name in names]
    return next((lowered.index(name) for name in ID_COLUMNS if name in lowered), 0)


def _collected(
    path: Path, batches: Iterator[pa.RecordBatch], names: Sequence[str], where: Callable[[int], str]
) -> FeatureRows:
    """Batches of a column of ids and columns of numbers, as one table; CSR where most of a wide one is zero."""
    if not names:
        raise InputError(f"{path} has no columns of features beside the ids")
    ids: list[pa.Array] = []
    parts: list[Any] = []
    for batch in batches:
        ids.append(batch.column(0))
        table = pa.Table.from_arrays(batch.columns[1:], names=list(names))
        numbers, _ = numbers_from_arrow(table, f"{path}: features")
        with np.errstate(over="ignore"):
            part = numbers.astype(np.float32)
        parts.append(sp.csr_array(part) if _is_sparse(np.count_nonzero(part), part.shape) else part)
    if not ids:
        raise InputError(f"{path} has no rows")
    try:
        found = column(pa.chunked_array(ids))
    except InputError as problem:
        raise InputError(f"{path}: {problem}") from None
    nonzero = sum(part.nnz if sp.issparse(part) else np.count_nonzero(part) for part in parts)
    if _is_sparse(nonzero, (len(found), len(names))):
        return FeatureRows(found, sp.csr_array(sp.vstack(parts)), names, where)
    return FeatureRows(
        found, np.vstack([part.toarray() if sp.issparse(part) else part for part in parts]), names, where
    )


def _is_sparse(nonzero: Any, shape: tuple[int, ...]) -> bool:
    return shape[1] > SPARSE_WIDTH and nonzero < (1 - SPARSE_ZEROS) * shape[0] * shape[1]


def rows_from_numpy(path: Path) -> Any:
    """An array or a sparse matrix in node order, or rows with ids."""
    try:
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return loaded
            check_sizes(loaded.zip)
            arrays = {name: loaded[name] for name in loaded.files if name in ("format", "features", "ids")}
        if "format" in arrays:
            matrix = sp.load_npz(path)
            check_indices(matrix, str(path))
            return matrix
    except InputError:
        raise
    except MemoryError:
        raise InputError(f"{path} holds more than fits into memory") from None
    except UNREADABLE as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise InputError(f"{path} cannot be read as an array of numbers: {reason}") from None
    if "features" not in arrays:
        raise InputError(f"{path} must hold a sparse matrix, or an array `features`, got {listed(loaded.files)}")
    values, ids = arrays["features"], arrays.get("ids")
    if ids is None:
        return values
    given = column(ids)
    if values.ndim != 2 or len(values) != len(given) or values.dtype.kind not in "biuf":
        raise InputError(
            f"{path}: features must be numbers with one row for each of {len(given)} ids, "
            f"got {values.dtype} of shape {values.shape}"
        )
    names = [f"column {i}" for i in range(values.shape[1])]
    with np.errstate(over="ignore"):
        return FeatureRows(given, values.astype(np.float32), names, lambda row: f"{path}, row {row}")
