"""Parquet files in batches of rows, and one sentence for those that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pine.errors import InputError, listed

PARQUET = (".parquet", ".pq")  # endings of files
ROWS_PER_BATCH = 1 << 20  # that are read at once


def open_parquet(path: Path) -> pq.ParquetFile:
    """Open a file whose columns have distinct names."""
    try:
        file = pq.ParquetFile(path)
        names = file.schema_arrow.names
    except (OSError, ValueError, pa.ArrowException) as problem:  # ValueError: a name with a zero byte
        if isinstance(problem, FileNotFoundError | PermissionError | IsADirectoryError):
            raise InputError(f"cannot read {path}: {problem.strerror or problem}") from None
        raise InputError(f"{path} is not a Parquet file: {problem}") from None
    if len(set(names)) < len(names):
        raise InputError(f"{path} names a column twice: {listed(names, 20)}; rename one")
    return file


def parquet_batches(path: Path, file: pq.ParquetFile, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Some columns of it, in batches of rows; text must be UTF-8."""
    row = 0
    try:
        for batch in file.iter_batches(ROWS_PER_BATCH, columns=list(columns)):
            for name in columns:
                _check_text(batch.column(name), f"{path}, from row {row} on: {name}")
            yield batch
            row += len(batch)
    except (OSError, pa.ArrowException) as problem:
        raise InputError(f"{path} cannot be read to its end: {problem}") from None


def _check_text(values: pa.Array, what: str) -> None:
    """Text is UTF-8, and numbers that point into a dictionary point to something: what Arrow takes on trust."""
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    try:
        values.validate(full=True)
    except (pa.ArrowInvalid, IndexError) as problem:
        if "UTF8" in str(problem) or "UTF-8" in str(problem):
            raise InputError(f"{what} is not UTF-8 text; store it as UTF-8") from None
        raise InputError(f"{what} is damaged, of type {kind}: {problem}") from None
