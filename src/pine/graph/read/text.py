"""Read columns of a csv, tsv or space-separated file, and name the line when something is wrong with it."""

from __future__ import annotations

import csv
import gzip
import io
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
from numpy.typing import NDArray

from pine._internal.compiled import compiled
from pine.errors import InputError, listed
from pine.graph.ids.column import column

SAMPLE = 1 << 16
_COMMENT = re.compile(r"^(%|#(\s|$))")
_INTEGER = re.compile(r"^(0|-?[1-9][0-9]{0,18})$")
_LEADING_ZERO = r"^[+-]?0[0-9]"
_RUNS_OF_BLANKS = re.compile(rb"[ \t]+")
USUAL_NAMES = "source|target|src|dst|from|to|u|v|head|tail|start|end|weight|id|label|labels|class|y|type|name|value"
ID_NAMES = "(node|id)[-_ ]?[ab12]?|(from|to|source|target)[-_ ]?(node)?[-_ ]?(id)?"
HEADER_NAME = re.compile(rf"^#?\s*({USUAL_NAMES}|{ID_NAMES})$")


@dataclass(frozen=True)
class TextFile:
    """What a look at the first lines told: how lines split into fields, and which lines are not data."""

    path: Path
    delimiter: str  # " " stands for any run of blanks
    skipped: int  # comment lines and header before the first line of data
    names: tuple[str, ...]  # of the header, or "0", "1", ...
    has_header: bool
    sample: tuple[tuple[str, ...], ...]

    def where(self, row: int) -> str:
        """The place of a row of data: `edges.csv, line 18`."""
        for number, (line, _) in enumerate(self._rows()):
            if number == row:
                return f"{self.path}, line {line}"
        return f"{self.path}, row {row}"

    def read(self, ids: Sequence[int], numbers: Sequence[int] = (), text: Sequence[int] = ()) -> Iterator[list[Any]]:
        """Read columns in batches: ids, all of one kind, as Columns; numbers as float64 arrays; text as lists."""
        wanted = [*ids, *numbers, *text]
        kinds = [pa.float64()] * len(numbers) + [pa.string()] * len(text)
        if self._looks_integer(ids):
            try:
                # Integers are small: the whole table at once is fastest.
                yield self._converted(self._table(wanted, [pa.int64()] * len(ids) + kinds), ids, 0)
                return
            except pa.ArrowInvalid:
                self._explain_line(numbers)  # If no line is wrong, some id further down is no integer.
        row = 0
        try:
            for batch in self._stream(wanted, [pa.string()] * len(ids) + kinds):
                yield self._converted(batch, ids, row)
                row += len(batch)
        except pa.ArrowInvalid as problem:
            self._explain_line(numbers)
            raise InputError(f"{self.path}: {problem}") from None

    def _converted(self, batch: pa.Table | pa.RecordBatch, ids: Sequence[int], row: int) -> list[Any]:
        read: list[Any] = []
        for place, values in zip(ids, batch.columns[: len(ids)], strict=True):
            empty = pc.index(
                values.is_null() if pa.types.is_integer(values.type) else pc.equal(values, ""), True
            ).as_py()
            if empty >= 0:
                raise InputError(f"{self.where(row + empty)}: column {self.names[place]!r} is empty")
            read.append(column(values))
        for values in batch.columns[len(ids) :]:
            is_text = pa.types.is_string(values.type)
            read.append(values.to_pylist() if is_text else np.asarray(values.to_numpy(zero_copy_only=False)))
        return read

    def is_number(self, place: int) -> bool:
        """Whether a column holds numbers, as far as the first lines tell."""
        return all(_is_number(row[place]) for row in self.sample)

    def _looks_integer(self, ids: Sequence[int]) -> bool:
        return all(_INTEGER.match(row[i]) for row in self.sample for i in ids) and not self._has_leading_zeros(ids)

    def _has_leading_zeros(self, ids: Sequence[int]) -> bool:
        """Ids such as 007 are text: as integers they would lose their zeros, and 007 and 7 would become one node."""
        if not any(_zero_before_digit(block, ord(self.delimiter)) for block in _blocks(self.path)):
            return False
        columns = self._table(ids, [pa.string()] * len(ids)).columns
        return any(pc.any(pc.match_substring_regex(each, _LEADING_ZERO)).as_py() for each in columns)

    def _options(self, wanted: Sequence[int], kinds: Sequence[pa.DataType]) -> dict[str, Any]:
        return {
            "read_options": pacsv.ReadOptions(
                column_names=[str(i) for i in range(len(self.names))], skip_rows=self.skipped
            ),
            "parse_options": pacsv.ParseOptions(delimiter=self.delimiter),
            "convert_options": pacsv.ConvertOptions(
                column_types={str(i): kind for i, kind in zip(wanted, kinds, strict=True)},
                include_columns=[str(i) for i in wanted],
                strings_can_be_null=False,
            ),
        }

    def _table(self, wanted: Sequence[int], kinds: Sequence[pa.DataType]) -> pa.Table:
        options = self._options(wanted, kinds)
        try:
            return pacsv.read_csv(self.path, **options)
        except OSError as problem:
            raise InputError(f"{self.path} cannot be read to its end: {problem}") from None
        except pa.ArrowInvalid:
            if self.delimiter != " ":
                raise
            return pacsv.read_csv(self._single_blanks(), **options)

    def _stream(self, wanted: Sequence[int], kinds: Sequence[pa.DataType]) -> Iterator[pa.RecordBatch]:
        source = self._single_blanks() if self.delimiter == " " else self.path
        try:
            with pacsv.open_csv(source, **self._options(wanted, kinds)) as reader:
                yield from reader
        except OSError as problem:
            raise InputError(f"{self.path} cannot be read to its end: {problem}") from None

    def _single_blanks(self) -> io.BytesIO:
        """The file with single blanks between its fields, for a reader that takes every blank for a delimiter."""
        with _open(self.path) as file:
            lines = [_RUNS_OF_BLANKS.sub(b" ", line).strip(b" \r") for line in file.read().split(b"\n")]
        return io.BytesIO(b"\n".join(lines))

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Every line of data with its number, slowly: only errors are looked up this way."""
        with _open(self.path) as raw, io.TextIOWrapper(raw, "utf-8-sig", errors="replace", newline="") as file:
            for _ in range(self.skipped):
                file.readline()
            if self.delimiter == " ":
                for number, line in enumerate(file, self.skipped + 1):
                    if line.strip():
                        yield number, line.split()
                return
            reader = csv.reader(file, delimiter=self.delimiter)
            for fields in reader:
                if fields:
                    yield self.skipped + reader.line_num, fields

    def _explain_line(self, numbers: Sequence[int]) -> None:
        """Raise for the first line that is wrong, if there is one."""
        for line, fields in self._rows():
            if len(fields) != len(self.names):
                raise InputError(
                    f"{self.path}, line {line}: expected {len(self.names)} fields as in the first line, "
                    f"got {len(fields)}: {listed(fields)}"
                )
            if any("\ufffd" in field for field in fields):
                raise InputError(f"{self.path}, line {line}: not UTF-8 text: {listed(fields)}")
            for i in numbers:
                if fields[i].strip() and not _is_number(fields[i]):
                    raise InputError(f"{self.path}, line {line}: {self.names[i]} must be a number, got {fields[i]!r}")


def sniff(path: Path, header: bool | None = None, names: Sequence[str] = (), types: tuple[str, ...] = ()) -> TextFile:
    """Look at the first lines of a text file.

    header None means: find out. A line with a column that the user named, or with the two types of a relation, is one.
    """
    lines = _first_lines(path)
    skipped = 0
    while skipped < len(lines) and (not lines[skipped].strip() or _COMMENT.match(lines[skipped])):
        skipped += 1
    data = [line for line in lines[skipped:] if line.strip()]
    if not data:
        raise InputError(f"{path} has no lines of data")
    delimiter = _delimiter(path, data[0])
    rows = [_split(line, delimiter) for line in data]
    if len(rows[0]) < 2:
        raise InputError(
            f"{path}, line {skipped + 1}: expected at least two columns separated by commas, tabs or blanks, "
            f"got {len(rows[0])}: {listed(rows[0])}"
        )
    found = _is_header(rows) or any(name in rows[0] for name in names) or rows[0][:2] == types
    has_header = found if header is None else header
    if header is None and not found:
        _warn_of_unusual_header(path, skipped + 1, rows)
    columns = rows[0] if has_header else tuple(str(i) for i in range(len(rows[0])))
    if len(set(columns)) < len(columns):
        raise InputError(f"{path}, line {skipped + 1}: the header names a column twice: {listed(columns)}")
    sample = tuple(row for row in rows[has_header:] if len(row) == len(columns))
    if len(rows) == has_header:
        raise InputError(f"{path} has a header and no lines of data")
    return TextFile(path, delimiter, skipped + has_header, tuple(columns), has_header, sample)


def _is_header(rows: Sequence[tuple[str, ...]]) -> bool:
    """A first line is a header when its words are usual names, or when it has words where the rest has numbers."""
    first, rest = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    if any(_is_number(field) for field in first) or len(set(first)) < len(first):
        return False
    if all(HEADER_NAME.match(field.strip().lower()) for field in first[:2]):
        return True
    return bool(rest) and any(all(_is_number(row[i]) for row in rest) for i in range(len(first)))


def _warn_of_unusual_header(path: Path, line: int, rows: Sequence[tuple[str, ...]]) -> None:
    """Say so when a first line of words, found nowhere below, is read as data."""
    below = {field for row in rows[1:] for field in row}
    if len(rows) > 2 and not any(field in below or _is_number(field) for field in rows[0]):
        warnings.warn(
            f"{path}, line {line} is read as data: {listed(rows[0])}. If it is a header, say header=True; "
            "if it is not, header=False.",
            stacklevel=2,
        )


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


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _delimiter(path: Path, line: str) -> str:
    usual = "\t" if ".tsv" in path.suffixes else ","
    for delimiter in (usual, "\t", ",", ";"):
        if delimiter in line:
            return delimiter
    return " "


def _split(line: str, delimiter: str) -> tuple[str, ...]:
    return tuple(line.split()) if delimiter == " " else tuple(next(csv.reader([line], delimiter=delimiter)))


def _open(path: Path) -> gzip.GzipFile | io.BufferedReader:
    return gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb")


def _blocks(path: Path) -> Iterator[NDArray[np.uint8]]:
    """The bytes of a file in blocks that overlap by two, the first one after a line break."""
    space = bytearray(b"\n\n") + bytearray(1 << 22)
    block = np.frombuffer(space, np.uint8)
    try:
        with _open(path) as file:
            while size := file.readinto(memoryview(space)[2:]):
                yield block[: size + 2]
                space[:2] = space[size : size + 2]
    except (EOFError, OSError) as problem:
        raise InputError(f"{path} cannot be read to its end: {problem}") from None


def _first_lines(path: Path) -> list[str]:
    try:
        with _open(path) as file:
            sample = file.read(SAMPLE)
            whole = not file.read(1)
    except (gzip.BadGzipFile, EOFError, OSError) as problem:
        if isinstance(problem, FileNotFoundError | PermissionError | IsADirectoryError):
            raise InputError(f"cannot read {path}: {problem.strerror}") from None
        raise InputError(f"{path} ends in .gz but cannot be unpacked: {problem}") from None
    if not sample:
        raise InputError(f"{path} is empty")
    for start, kind in ((b"PAR1", "a Parquet file"), (b"\x1f\x8b", "a gzip file"), (b"PK\x03\x04", "a zip file")):
        if sample.startswith(start):
            raise InputError(f"{path} is {kind}, not text as its ending says; rename it or unpack it")
    if b"\0" in sample:
        raise InputError(f"{path} is not UTF-8 text: it holds zero bytes")
    if not whole:
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    try:
        text = sample.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = sample[: problem.start].count(b"\n") + 1
        raise InputError(f"{path}, line {line}: not UTF-8 text; save it as UTF-8") from None
    # Not splitlines(): it also splits at characters that may stand inside an id.
    return [line.removesuffix("\r") for line in text.split("\n")]
