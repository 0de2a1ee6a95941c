"""The columns of ids and labels in a csv, tsv, space-separated or Parquet file.

The first line of text is a header if its id is no node of the graph and its label stands in no other line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from pine.errors import InputError, listed
from pine.graph import Graph
from pine.graph.ids.column import Column, column
from pine.graph.read.columns import ID_COLUMNS, ReadColumns, find_column
from pine.graph.read.dialect import sniff
from pine.graph.read.header import find_header
from pine.graph.read.parquet import open_parquet, parquet_batches
from pine.graph.read.text import read_columns

LABEL_NAMES = ("label", "labels", "class", "classes", "y", "target", "category", "group")


def open_label_rows(
    path: Path, graph: Graph, type: str, id_column: str | None, label_column: str | None, header: bool | None
) -> tuple[ReadColumns, Iterator[tuple[Column, list[Any]]]]:
    """Which columns hold ids and labels, and batches of the two; labels of text are strings."""
    if path.suffix in (".parquet", ".pq"):
        file = open_parquet(path)
        names = file.schema_arrow.names
        ids, label = _positions(names, id_column, label_column, str(path))
        wanted = [names[ids], names[label]]
        _check_kind(path, file.schema_arrow.field(label).type)
        batches = parquet_batches(path, file, wanted)
        rows = (
            (column(part.column(0)), part.column(1).to_pylist()) for part in (each.select(wanted) for each in batches)
        )
        return _described(path, names, ids, label, True), rows
    text = sniff(path)
    named = [name for name in (id_column, label_column) if name is not None]
    at = _positions(text.first, None, None, str(path))
    if header is None and not named and _is_node(graph, type, text.first[at[0]]):
        header = False
    text = find_header(text, header, named, columns=at)
    names = list(text.names)
    ids, label = _positions(names, id_column, label_column, str(path))
    return _described(path, names, ids, label, text.has_header), (
        (given, labels) for given, labels in read_columns(text, [ids], text=[label])
    )


def _check_kind(path: Path, kind: pa.DataType) -> None:
    """Labels must be what a saved run can hold."""
    inner = kind
    while pa.types.is_dictionary(inner) or pa.types.is_list(inner) or pa.types.is_large_list(inner):
        inner = inner.value_type
    plain = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_null)
    if not any(test(inner) for test in plain) and str(inner) not in ("string", "large_string", "string_view"):
        raise InputError(f"{path}: labels must be numbers, text or lists of these, got {kind}; turn them into text")


def _is_node(graph: Graph, type: str, word: str) -> bool:
    known = graph.nodes.of(type)
    return bool(known.find(Column("str", [pa.array([word])], written=True).as_kind(known.kind))[0] >= 0)


def _positions(names: Sequence[str], id_column: str | None, label_column: str | None, origin: str) -> tuple[int, int]:
    """Columns of ids and labels: those named, those of usual names, or the first two."""
    lowered = [name.strip().lower().lstrip("# ") for name in names]
    ids = _position(names, lowered, id_column, ID_COLUMNS, origin)
    label = _position(names, lowered, label_column, LABEL_NAMES, origin)
    if ids is None:
        ids = next(i for i in range(len(names)) if i != label)
    if label is None:
        label = next((i for i in range(len(names)) if i != ids), None)
    if label is None or label == ids:
        raise InputError(f"{origin}: expected two columns, ids and labels, got {listed(names)}")
    return ids, label


def _position(
    names: Sequence[str], lowered: Sequence[str], name: str | None, usual: Sequence[str], origin: str
) -> int | None:
    if name is not None:
        return find_column(names, name, origin)
    return next((lowered.index(each) for each in usual if each in lowered), None)


def _described(path: Path, names: Sequence[str], ids: int, label: int, has_header: bool) -> ReadColumns:
    ignored = tuple(name for i, name in enumerate(names) if i not in (ids, label))
    return ReadColumns(str(path), {"ids": names[ids], "labels": names[label]}, ignored, has_header)
