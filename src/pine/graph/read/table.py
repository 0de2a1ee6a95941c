"""Edges from anything tabular: arrays, lists of pairs, pandas, polars, Arrow, csv, tsv and Parquet files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pine._internal.numbers import as_float
from pine.errors import InputError, listed, quoted
from pine.graph.ids.column import Column, MissingId, column
from pine.graph.read.columns import ReadColumns, edge_columns, usual_ends
from pine.graph.read.dialect import sniff
from pine.graph.read.header import find_header
from pine.graph.read.parquet import PARQUET, open_parquet, parquet_batches
from pine.graph.read.text import read_columns


@dataclass(frozen=True)
class EdgeBatch:
    """Some edges: two columns of ids, and weights (num_edges,) or None."""

    source: Column
    target: Column
    weights: NDArray[Any] | None = None


@dataclass(frozen=True)
class EdgeTable:
    """Edges in batches, to be read once; where(row), which names the file and line of a row for error messages; and
    which columns they are, if they have any."""

    batches: Iterable[EdgeBatch]
    where: Callable[[int], str]
    columns: ReadColumns | None = None


def edge_table(
    edges: Any,
    weights: Any = "auto",
    source: str | None = None,
    target: str | None = None,
    header: bool | None = None,
    types: tuple[str, ...] = (),
) -> EdgeTable:
    """Read edges; weights are a column's name, an array, None for none, or "auto", a column that is called weight.

    With "auto", another column that may hold weights is refused (columns.py). An EdgeTable stays as it is.
    """
    if isinstance(edges, EdgeTable):
        return edges
    columns = weights if weights is None or isinstance(weights, str) else None
    if isinstance(edges, str | os.PathLike):
        table = _from_file(Path(edges), columns, source, target, header, types)
    elif isinstance(edges, np.ndarray):
        table = _from_array(edges)
    elif hasattr(edges, "__arrow_c_stream__") or isinstance(edges, pa.Table) or _is_frame(edges):
        table = _from_frame(edges, columns, source, target)
    elif hasattr(edges, "__array__"):
        table = _from_array(np.asarray(edges))
    else:
        table = _from_pairs(edges)
    return EdgeTable(_checked(table, weights), table.where, table.columns)


def timed_edges(
    path: Path, times: str, source: str | None = None, target: str | None = None, header: bool | None = None
) -> Iterator[EdgeBatch]:
    """The edges of a file, with the numbers of a column of times where weights would be, as they stand there."""
    yield from _from_file(path, times, source, target, header, ()).batches


def column_names(path: Path) -> tuple[str, ...]:
    """What columns of a file can be called: the names of a Parquet file; the first line's fields and their numbers."""
    if path.suffix in PARQUET:
        return tuple(open_parquet(path).schema_arrow.names)
    file = sniff(path)
    return (*file.first, *file.names)


def _checked(table: EdgeTable, weights: Any) -> Iterator[EdgeBatch]:
    """The same batches with weights that are numbers, finite and not negative."""
    given = None if weights is None or isinstance(weights, str) else _as_array(weights)
    start = 0
    for batch in table.batches:
        stop = start + len(batch.source)
        if given is not None:
            batch = replace(batch, weights=given[start:stop])
        elif isinstance(weights, str) and weights != "auto" and batch.weights is None:
            raise InputError(f"weights={weights!r} names a column, but the edges have none; give an array instead")
        if batch.weights is not None:
            batch = replace(batch, weights=_checked_weights(batch.weights, start, table.where))
        yield batch
        start = stop
        del batch
    if given is not None and given.shape != (start,):
        raise InputError(f"weights must have one entry per edge, shape ({start},), got {given.shape}")


def _as_array(weights: Any) -> NDArray[Any]:
    try:
        given = np.asarray(weights)
    except (ValueError, TypeError):  # rows of different lengths
        given = np.empty((0, 0))
    if given.ndim != 1:
        raise InputError(f"weights must be one number per edge, got {quoted(weights)}")
    return given


def _checked_weights(given: NDArray[Any], start: int, where: Callable[[int], str]) -> NDArray[np.float32]:
    if given.dtype.kind not in "iufb":
        given = given.astype(object)
    for row, weight in enumerate(given if given.dtype.kind == "O" else ()):
        if not isinstance(weight, Real):
            raise InputError(f"{where(start + row)}: the weight must be a number, got {quoted(weight)}")
    if given.dtype.kind == "O":
        given = np.array([as_float(weight) for weight in given])
    with np.errstate(over="ignore"):
        weights: NDArray[np.float32] = given.astype(np.float32)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        value = float(given[wrong[0]])
        fault = "negative" if value < 0 else "too large" if value > 0 else "missing or not a number"
        raise InputError(
            f"{where(start + int(wrong[0]))}: the weight is {fault}, {value:g}; weights must be finite and not negative"
        )
    return weights


def _from_file(
    path: Path, weights: Any, source: str | None, target: str | None, header: bool | None, types: tuple[str, ...]
) -> EdgeTable:
    if path.suffix in PARQUET:
        return _from_parquet(path, weights, source, target)
    named = weights if isinstance(weights, str) and weights != "auto" else None
    file = sniff(path)
    file = find_header(file, header, [name for name in (source, target, named) if name], types, usual_ends(file.first))
    at, columns = edge_columns(file.names, weights, source, target, str(path), file.has_header)
    return EdgeTable((EdgeBatch(*read) for read in read_columns(file, at[:2], at[2:])), file.where, columns)


def _from_parquet(path: Path, weights: Any, source: str | None, target: str | None) -> EdgeTable:
    """Batches of rows, so that a large file never lies in memory whole."""
    file = open_parquet(path)
    names = file.schema_arrow.names
    at, columns = edge_columns(names, weights, source, target, str(path))
    wanted = [names[i] for i in at]

    def where(row: int) -> str:
        return f"{path}, row {row}"

    def batches() -> Iterator[EdgeBatch]:
        start = 0
        for part in parquet_batches(path, file, wanted):
            yield _batch([part.column(name) for name in wanted], wanted, where, start)
            start += len(part)

    return EdgeTable(batches(), where, columns)


def _is_frame(edges: Any) -> bool:
    return hasattr(edges, "columns") and hasattr(edges, "__getitem__")


def _from_frame(frame: Any, weights: Any, source: str | None, target: str | None) -> EdgeTable:
    """Columns of a pandas or polars frame, an Arrow table, or anything that speaks the Arrow stream protocol."""
    if not isinstance(frame, pa.Table) and not _is_frame(frame):
        frame = pa.table(frame)
    labels = frame.column_names if isinstance(frame, pa.Table) else list(frame.columns)
    names = [str(label) for label in labels]
    if len(set(names)) < len(names):
        raise InputError(f"edges name a column twice: {listed(names, 20)}")
    # A frame of an array has the numbers of its columns for names.
    named = names != [str(i) for i in range(len(names))]
    at, columns = edge_columns(names, weights, source, target, "edges", named)
    batch = _batch([frame[labels[i]] for i in at], [names[i] for i in at], _row_of_edges)
    return EdgeTable(iter([batch]), _row_of_edges, columns)


def _batch(values: Sequence[Any], names: Sequence[str], where: Callable[[int], str], start: int = 0) -> EdgeBatch:
    """Two columns of ids and, if there is a third, weights."""
    columns = []
    for name, each in zip(names[:2], values[:2], strict=True):
        try:
            columns.append(column(each))
        except MissingId as problem:
            raise InputError(
                f"{where(start + problem.row)}: {name} is missing; every edge needs both of its ends"
            ) from None
        except InputError as problem:
            raise InputError(f"edges, {name}: {problem}") from None
    if len(columns[0]) != len(columns[1]):
        raise InputError(f"source and target must be equally long, got {len(columns[0])} and {len(columns[1])}")
    return EdgeBatch(columns[0], columns[1], np.asarray(values[2]) if len(values) > 2 else None)


def _row_of_edges(row: int) -> str:
    return f"edges, row {row}"


def _from_array(edges: NDArray[Any]) -> EdgeTable:
    if edges.ndim != 2 or edges.shape[1] != 2:
        hint = "; transpose it: edges.T" if edges.ndim == 2 and edges.shape[0] == 2 else ""
        raise InputError(f"edges must have shape (num_edges, 2), got {edges.shape}{hint}")
    return _ends(edges[:, 0], edges[:, 1])


def _from_pairs(edges: Any) -> EdgeTable:
    try:
        pairs = list(edges)
    except TypeError:
        raise InputError(
            "edges must be an array of shape (num_edges, 2), a list of pairs, a pandas or polars frame, an Arrow "
            f"table, or the path of a csv, tsv or Parquet file, got {type(edges).__name__}"
        ) from None
    for row, pair in enumerate(pairs):
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise InputError(f"edges, row {row}: expected a pair (source, target), got {quoted(pair)}")
    first, second = zip(*pairs, strict=True) if pairs else ((), ())
    return _ends(list(first), list(second))


def _ends(first: Any, second: Any) -> EdgeTable:
    return EdgeTable(iter([_batch([first, second], ["source", "target"], _row_of_edges)]), _row_of_edges)
