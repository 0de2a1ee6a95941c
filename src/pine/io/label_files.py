"""Files of labels, a node id and a label a row, as the labels that fit takes.

Empty cells are unknown, and so are NA, <NA> and NaN, as pandas and others write them. In text, labels are integers
where all of them are, numbers where all of them are, and otherwise words.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pine.errors import InputError, listed, quoted
from pine.graph import Graph
from pine.graph.ids.integers import as_integers
from pine.graph.ids.node_ids import NodeIds
from pine.graph.read.columns import ReadColumns
from pine.graph.read.dialect import is_number
from pine.io.label_rows import open_label_rows

UNKNOWN_CELLS = frozenset({"", "NA", "<NA>", "NaN", "nan"})
LEADING_ZERO = re.compile(r"^[+-]?0[0-9]")
SEPARATORS = (";", "|")


@dataclass(frozen=True)
class LabelTable:
    """Labels {id: label} of nodes of a type, the columns that they come from, and what was left out."""

    labels: dict[Any, Any]
    type: str
    columns: ReadColumns
    num_unknown: int  # empty cells
    left_out: Sequence[Any]  # ids that are no nodes of the graph
    separator: str | None  # that may stand between several labels, but was not given


def read_label_file(
    path: str | Path,
    graph: Graph,
    type: str | None = None,
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    header: bool | None = None,
    separator: str | None = None,
) -> dict[Any, Any]:
    """{id: label}, or {type: {id: label}} for a typed graph, from a csv, tsv, space-separated or Parquet file.

    An id on several lines, or a cell with the separator (A;B), has a set of labels. Empty cells are unknown; labels of
    ids that are not in the graph are left out, with a warning. The first line is a header if its id is no node and its
    label stands in no other line; header=True or False overrides.
    """
    table = read_label_table(path, graph, type, id_column, label_column, header, separator)
    for warning in label_warnings(table):
        warnings.warn(warning, stacklevel=2)
    return table.labels if len(graph.node_types) == 1 else {table.type: table.labels}


def label_warnings(table: LabelTable) -> list[str]:
    """What a user should know about labels that were read."""
    found = []
    if table.left_out:
        count, some = len(table.left_out), listed(table.left_out, 3)
        number = (
            "1 label is left out, of an id that is" if count == 1 else f"{count:,} labels are left out, of ids that are"
        )
        found.append(
            f"{table.columns.origin}: {number} not in the graph: {some}; nodes without edges come in with nodes=... "
            "(--nodes FILE)"
        )
    if table.separator is not None:
        found.append(
            f"{table.columns.origin}: labels hold {table.separator!r}; if it separates several labels of a node, say "
            f"separator={table.separator!r} (--separator '{table.separator}')"
        )
    return found


def read_label_table(
    path: str | Path,
    graph: Graph,
    type: str | None = None,
    id_column: str | None = None,
    label_column: str | None = None,
    header: bool | None = None,
    separator: str | None = None,
) -> LabelTable:
    """Labels with what was read of the file, and what was not."""
    path = Path(path)
    if type is None and len(graph.node_types) > 1:
        type = _type_of(path, graph, id_column, label_column, header)
    type = graph.nodes.check_type(type)
    known = graph.nodes.of(type)
    found: dict[int, list[Any]] = {}
    left_out: list[Any] = []
    num_unknown = row = 0
    columns, rows = open_label_rows(path, graph, type, id_column, label_column, header)
    for ids, names in rows:
        given = ids.as_kind(known.kind)
        for position, node, name in zip(known.find(given).tolist(), given.objects(), names, strict=True):
            row += 1
            if _is_unknown(name):
                num_unknown += 1
            elif position < 0:
                left_out.append(node)
            else:
                found.setdefault(position, []).append(name)
    if not found:
        some = (
            f"; ids such as {quoted(left_out[0])} are not in the graph, which has {quoted(known[0])}"
            if left_out
            else ""
        )
        raise InputError(f"{path}: no node has a label{some}")
    cells = [name for names in found.values() for name in names]
    if separator is None:
        labels = _one_or_several(path, dict(zip(found, _grouped(found, _typed(cells)), strict=True)), known)
    else:
        if not separator:
            raise InputError("separator must not be empty")
        sets = [[part.strip() for part in str(cell).split(separator) if part.strip()] for cell in cells]
        typed = iter(_typed([part for parts in sets for part in parts]))
        given_sets = iter([{next(typed) for _ in parts} for parts in sets])
        labels = {known[at]: set().union(*(next(given_sets) for _ in names)) for at, names in found.items()}
    likely = None if separator is not None else _likely_separator(cells)
    return LabelTable(labels, type, columns, num_unknown, left_out, likely)


def _type_of(path: Path, graph: Graph, id_column: str | None, label_column: str | None, header: bool | None) -> str:
    """The only type with nodes of the ids in a file."""
    found = []
    for type in graph.node_types:
        known = graph.nodes.of(type)
        _, rows = open_label_rows(path, graph, type, id_column, label_column, header)
        if any((known.find(ids.as_kind(known.kind)) >= 0).any() for ids, _ in rows):
            found.append(type)
    if len(found) != 1:
        where = f"are of the node types {listed(found)}" if found else f"are in none of {listed(graph.node_types)}"
        raise InputError(f"{path}: ids {where}; say which type the labels are on: type=... (--label-type)")
    return found[0]


def _is_unknown(label: Any) -> bool:
    return label is None or label != label or (isinstance(label, str) and label.strip() in UNKNOWN_CELLS)


def _typed(cells: list[Any]) -> list[Any]:
    """Text as integers or numbers, where all of it is; anything else as it is."""
    if not cells or not all(isinstance(cell, str) for cell in cells):
        return cells
    integers = as_integers(pa.array(cells, pa.large_string()))
    if integers is not None:
        return list(integers.tolist())
    # Codes such as 007 are words: as numbers they would lose their zeros.
    plain = all(is_number(cell) and not LEADING_ZERO.match(cell) for cell in cells)
    return [float(cell) for cell in cells] if plain else cells


def _grouped(found: dict[int, list[Any]], cells: list[Any]) -> Iterator[list[Any]]:
    """The cells of each node again."""
    start = 0
    for names in found.values():
        yield cells[start : start + len(names)]
        start += len(names)


def _one_or_several(path: Path, found: dict[int, list[Any]], known: NodeIds) -> dict[Any, Any]:
    """A label a node, or, where an id has several, a set for every node."""
    lists = any(isinstance(name, list) for names in found.values() for name in names)
    if lists:
        return {known[at]: {each for name in names for each in name} for at, names in found.items()}
    several = [at for at, names in found.items() if len(set(names)) > 1]
    if several and isinstance(found[several[0]][0], float | np.floating):
        at = several[0]
        raise InputError(
            f"{path}: node {quoted(known[at])} has several numbers as labels: {listed(found[at])}; keep one"
        )
    return {known[at]: set(names) if several else names[0] for at, names in found.items()}


def _likely_separator(cells: list[Any]) -> str | None:
    text = [cell for cell in cells if isinstance(cell, str)]
    return next((each for each in SEPARATORS if text and sum(each in cell for cell in text) > len(text) / 4), None)
