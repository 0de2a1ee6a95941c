"""Columns of a csv, tsv or space-separated file in batches, and the line of whatever is wrong with it.

A field is what stands between delimiters, without the blanks around it. Ids are integers where every id of their node
type is one (see integers.py), and otherwise text as it is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from pine.errors import InputError, listed
from pine.graph.ids.column import Column
from pine.graph.ids.integers import as_integers, has_blank_ends
from pine.graph.read.dialect import Dialect, is_number
from pine.graph.read.lines import LONGEST_LINE, find_comment, single_blanks, whole_lines

WIDE_LINE = 1 << 25  # bytes of a line in tables that may be wide
LONGEST_ID = 1 << 17  # bytes


def read_columns(
    file: Dialect, ids: Sequence[int], numbers: Sequence[int] = (), text: Sequence[int] = ()
) -> Iterator[list[Any]]:
    """Read columns in batches: ids as Columns, numbers as float64 arrays, text as lists of strings."""
    row = 0
    kinds = [pa.string()] * len(ids) + [pa.float64()] * len(numbers) + [pa.string()] * len(text)
    for batch in read_batches(file, [*ids, *numbers, *text], kinds, LONGEST_LINE):
        read: list[Any] = [_ids(file, i, values, row) for i, values in zip(ids, batch.columns, strict=False)]
        for values in batch.columns[len(ids) :]:
            is_text = pa.types.is_string(values.type)
            read.append(stripped(values).to_pylist() if is_text else values.to_numpy(zero_copy_only=False))
        yield read
        row += len(batch)


def read_batches(
    file: Dialect, wanted: Sequence[int], kinds: Sequence[pa.DataType], longest: int = WIDE_LINE
) -> Iterator[pa.RecordBatch]:
    """Read columns as Arrow types in batches of rows."""
    options = {
        "read_options": pacsv.ReadOptions(
            column_names=[str(i) for i in range(len(file.names))], block_size=2 * longest
        ),
        # Where blanks separate, quotes are characters like others.
        "parse_options": pacsv.ParseOptions(
            delimiter=file.delimiter, newlines_in_values=True, quote_char='"' if file.delimiter != " " else False
        ),
        "convert_options": pacsv.ConvertOptions(
            column_types={str(i): kind for i, kind in zip(wanted, kinds, strict=True)},
            include_columns=[str(i) for i in dict.fromkeys(wanted)],
            strings_can_be_null=False,
        ),
    }
    try:
        with pacsv.open_csv(pa.PythonFile(_Lines(file, longest), "r"), **options) as reader:
            yield from reader
    except (pa.ArrowInvalid, pa.ArrowKeyError) as problem:
        _explain_line(file, [i for i, kind in zip(wanted, kinds, strict=True) if pa.types.is_floating(kind)])
        raise InputError(f"{file.path}: {problem}") from None


def stripped(values: pa.Array) -> pa.Array:
    """Strings without the blanks around them."""
    return pc.utf8_trim(values, " \t") if has_blank_ends(values) else values


def _ids(file: Dialect, i: int, values: pa.Array, row: int) -> Column:
    integers = as_integers(values)
    if integers is None:
        values = stripped(values)
        lengths = np.asarray(pc.binary_length(values))
        if len(lengths) and lengths.min() == 0:
            raise InputError(f"{file.where(row + int(lengths.argmin()))}: column {file.names[i]!r} is empty")
        if len(lengths) and lengths.max() > LONGEST_ID:
            where = file.where(row + int(lengths.argmax()))
            raise InputError(f"{where}: an id of {lengths.max():,} bytes; ids may have {LONGEST_ID:,}")
        integers = as_integers(values)
    return Column("str", [values], written=True) if integers is None else Column("int", [integers], written=True)


class _Lines:
    """The lines of data of a file, as a file that Arrow can read."""

    closed = False

    def __init__(self, file: Dialect, longest: int) -> None:
        self._file = file
        self._blocks = whole_lines(file.path, file.skipped, longest)
        self._block, self._at = b"", 0

    def read(self, size: int) -> bytes:
        if self._at == len(self._block):
            self._block, self._at = next(self._blocks, b""), 0
            if find_comment(self._block) >= 0:
                _refuse_comment(self._file)
            if self._file.delimiter == " ":
                self._block = single_blanks(self._block)
        read = self._block[self._at : self._at + size]
        self._at += len(read)
        return read

    def close(self) -> None:
        self._blocks = iter(())


def _refuse_comment(file: Dialect) -> None:
    """Comments stand above the data: further down, a line may be either, and is never dropped."""
    line = file.skipped + 1
    for lines in whole_lines(file.path, file.skipped, WIDE_LINE):
        at = find_comment(lines)
        if at >= 0:
            line += lines.count(b"\n", 0, at)
            raise InputError(
                f"{file.path}, line {line}: a comment below the first line of data; remove "
                "it, or put its first field in quotes if it is an id"
            )
        line += lines.count(b"\n")


def _explain_line(file: Dialect, numbers: Sequence[int]) -> None:
    """Raise for the first line that is wrong, if there is one."""
    for line, fields in file.rows():
        if len(fields) != len(file.names):
            raise InputError(
                f"{file.path}, line {line}: expected {len(file.names)} fields as in the first line, "
                f"got {len(fields)}: {listed(fields)}"
            )
        if any("\ufffd" in field for field in fields):
            raise InputError(f"{file.path}, line {line}: not UTF-8 text: {listed(fields)}")
        for i in numbers:
            if fields[i].strip() and not is_number(fields[i]):
                raise InputError(f"{file.path}, line {line}: {file.names[i]} must be a number, got {fields[i]!r}")
