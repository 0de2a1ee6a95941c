"""Files of node ids, one a line or a column of a table: the closed list of the nodes of a type."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from pine.errors import InputError
from pine.graph.ids.column import Column, column
from pine.graph.ids.integers import as_integers
from pine.graph.read.columns import ID_COLUMNS, ReadColumns, find_column
from pine.graph.read.dialect import Dialect, sniff
from pine.graph.read.parquet import open_parquet, parquet_batches
from pine.graph.read.text import read_columns


def read_node_file(path: str | Path, id_column: str | None = None) -> tuple[Column, ReadColumns]:
    """The ids of a file, as Graph.from_edges(nodes=...) takes them, and the column that they come from.

    The column is the named one, one called id, node, node_id or name, or the first. A text file has a header where its
    first line names a column so, or where all ids but the first are integers.
    """
    path = Path(path)
    if path.suffix in (".parquet", ".pq"):
        file = open_parquet(path)
        names = file.schema_arrow.names
        at = _position(names, id_column, str(path))
        parts = [column(part.column(0)) for part in parquet_batches(path, file, [names[at]])]
        has_header = True
    else:
        text = sniff(path, least=1)
        text = text.with_header() if _has_header(text, id_column) else text
        names, has_header = list(text.names), text.has_header
        at = _position(names, id_column, str(path))
        parts = [ids for (ids,) in read_columns(text, [at])]
    ids = parts[0] if len(parts) == 1 else _joined(parts)
    if not len(ids):
        raise InputError(f"{path} has no ids")
    ignored = tuple(name for i, name in enumerate(names) if i != at)
    return ids, ReadColumns(str(path), {"ids": names[at]}, ignored, has_header)


def _joined(parts: list[Column]) -> Column:
    """One column of all, which is text where some of it is."""
    kind = "int" if all(part.kind == "int" for part in parts) else "str"
    pieces = [piece for part in parts for piece in part.as_kind(kind).pieces]  # type: ignore[arg-type]
    return Column(kind, pieces, written=any(part.written for part in parts))  # type: ignore[arg-type]


def _position(names: list[str], id_column: str | None, origin: str) -> int:
    if id_column is not None:
        return find_column(names, id_column, origin)
    lowered = [name.strip().lower() for name in names]
    return next((lowered.index(name) for name in ID_COLUMNS if name in lowered), 0)


def _has_header(text: Dialect, id_column: str | None) -> bool:
    if id_column is not None and id_column not in text.names:
        return True
    if any(field.lower() in ID_COLUMNS for field in text.first):
        return True
    if as_integers(pa.array(text.first[:1])) is not None or not text.below().has_rows():
        return False
    return all(ids.kind == "int" for (ids,) in read_columns(text.below(), [0]))
