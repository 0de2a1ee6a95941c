"""Read columns of a csv, tsv or space-separated file, and name the line when something is wrong with it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
from numpy.typing import NDArray

from pine._internal.parallel import compiled
from pine.errors import InputError, listed
from pine.graph.ids.column import column
from pine.graph.read.dialect import Dialect, is_number, open_binary

INTEGER = re.compile(r"^(0|-?[1-9][0-9]{0,18})$")
_LEADING_ZERO = r"^[+-]?0[0-9]"
WIDE_BLOCK = 1 << 25  # bytes that are parsed at once where lines may be long
_RUNS_OF_BLANKS = re.compile(rb"[ \t]+")


def read_columns(
    file: Dialect, ids: Sequence[int], numbers: Sequence[int] = (), text: Sequence[int] = ()
) -> Iterator[list[Any]]:
    """Read columns in batches: ids, all of one kind, as Columns; numbers as float64 arrays; text as lists."""
    wanted = [*ids, *numbers, *text]
    kinds = [pa.float64()] * len(numbers) + [pa.string()] * len(text)
    if _looks_integer(file, ids):
        try:
            # Integers are small: the whole table at once is fastest.
            yield _converted(file, _table(file, wanted, [pa.int64()] * len(ids) + kinds), ids, 0)
            return
        except pa.ArrowInvalid:
            _explain_line(file, numbers)  # If no line is wrong, some id further down is no integer.
    row = 0
    try:
        for batch in _stream(file, wanted, [pa.string()] * len(ids) + kinds):
            yield _converted(file, batch, ids, row)
            row += len(batch)
    except pa.ArrowInvalid as problem:
        _explain_line(file, numbers)
        raise InputError(f"{file.path}: {problem}") from None


def read_batches(file: Dialect, wanted: Sequence[int], kinds: Sequence[pa.DataType]) -> Iterator[pa.RecordBatch]:
    """Read columns as Arrow types in batches of rows, for tables that may be wide."""
    try:
        yield from _stream(file, wanted, kinds, WIDE_BLOCK)
    except pa.ArrowInvalid as problem:
        _explain_line(file, [i for i, kind in zip(wanted, kinds, strict=True) if pa.types.is_floating(kind)])
        raise InputError(f"{file.path}: {problem}") from None


def _converted(file: Dialect, batch: pa.Table | pa.RecordBatch, ids: Sequence[int], row: int) -> list[Any]:
    read: list[Any] = []
    for i, values in zip(ids, batch.columns[: len(ids)], strict=True):
        empty = pc.index(values.is_null() if pa.types.is_integer(values.type) else pc.equal(values, ""), True).as_py()
        if empty >= 0:
            raise InputError(f"{file.where(row + empty)}: column {file.names[i]!r} is empty")
        read.append(column(values))
    for values in batch.columns[len(ids) :]:
        is_text = pa.types.is_string(values.type)
        read.append(values.to_pylist() if is_text else np.asarray(values.to_numpy(zero_copy_only=False)))
    return read


def _looks_integer(file: Dialect, ids: Sequence[int]) -> bool:
    return all(INTEGER.match(row[i]) for row in file.sample for i in ids) and not _has_leading_zeros(file, ids)


def _has_leading_zeros(file: Dialect, ids: Sequence[int]) -> bool:
    """Ids such as 007 are text: as integers they would lose their zeros, and 007 and 7 would become one node."""
    if not any(_zero_before_digit(block, ord(file.delimiter)) for block in _blocks(file.path)):
        return False
    columns = _table(file, ids, [pa.string()] * len(ids)).columns
    return any(pc.any(pc.match_substring_regex(each, _LEADING_ZERO)).as_py() for each in columns)


def _options(
    file: Dialect, wanted: Sequence[int], kinds: Sequence[pa.DataType], block: int | None = None
) -> dict[str, Any]:
    return {
        "read_options": pacsv.ReadOptions(
            column_names=[str(i) for i in range(len(file.names))], skip_rows=file.skipped, block_size=block
        ),
        "parse_options": pacsv.ParseOptions(delimiter=file.delimiter),
        "convert_options": pacsv.ConvertOptions(
            column_types={str(i): kind for i, kind in zip(wanted, kinds, strict=True)},
            include_columns=[str(i) for i in wanted],
            strings_can_be_null=False,
        ),
    }


def _table(file: Dialect, wanted: Sequence[int], kinds: Sequence[pa.DataType]) -> pa.Table:
    options = _options(file, wanted, kinds)
    try:
        return pacsv.read_csv(file.path, **options)
    except OSError as problem:
        raise InputError(f"{file.path} cannot be read to its end: {problem}") from None
    except pa.ArrowInvalid:
        if file.delimiter != " ":
            raise
        return pacsv.read_csv(_single_blanks(file), **options)


def _stream(
    file: Dialect, wanted: Sequence[int], kinds: Sequence[pa.DataType], block: int | None = None
) -> Iterator[pa.RecordBatch]:
    source = _single_blanks(file) if file.delimiter == " " else file.path
    try:
        with pacsv.open_csv(source, **_options(file, wanted, kinds, block)) as reader:
            yield from reader
    except OSError as problem:
        raise InputError(f"{file.path} cannot be read to its end: {problem}") from None


def _single_blanks(file: Dialect) -> io.BytesIO:
    """The file with single blanks between its fields, for a reader that takes every blank for a delimiter."""
    with open_binary(file.path) as raw:
        lines = [_RUNS_OF_BLANKS.sub(b" ", line).strip(b" \r") for line in raw.read().split(b"\n")]
    return io.BytesIO(b"\n".join(lines))


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


@compiled
def _zero_before_digit(data: NDArray[Any], delimiter: int) -> bool:
    """Whether a field may begin with a zero and go on with a digit; without branches, so that it vectorizes."""
    found = False
    for i in range(1, len(data) - 1):
        before, digit = data[i - 1], data[i + 1]
        # A field begins after the delimiter, a blank or line break (up to 32), a quote (34) or a sign (43, 45).
        begins = (before == delimiter) | (before <= 32) | (before == 34) | (before == 43) | (before == 45)
        found |= (data[i] == 48) & (digit >= 48) & (digit <= 57) & begins
    return found


def _blocks(path: Path) -> Iterator[NDArray[np.uint8]]:
    """The bytes of a file in blocks that overlap by two, the first one after a line break."""
    space = bytearray(b"\n\n") + bytearray(1 << 22)
    block = np.frombuffer(space, np.uint8)
    try:
        with open_binary(path) as file:
            while size := file.readinto(memoryview(space)[2:]):
                yield block[: size + 2]
                space[:2] = space[size : size + 2]
    except (EOFError, OSError) as problem:
        raise InputError(f"{path} cannot be read to its end: {problem}") from None
