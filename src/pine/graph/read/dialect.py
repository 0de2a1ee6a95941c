"""The dialect of a csv, tsv or space-separated file, sniffed from its first lines: delimiter, header, comments."""

from __future__ import annotations

import csv
import gzip
import io
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pine.errors import InputError, listed

_COMMENT = re.compile(r"^(%|#(\s|$))")
USUAL_NAMES = "source|target|src|dst|from|to|u|v|head|tail|start|end|weight|id|label|labels|class|y|type|name|value"
ID_NAMES = "(node|id)[-_ ]?[ab12]?|(from|to|source|target)[-_ ]?(node)?[-_ ]?(id)?"
LEAST_LINES, LARGEST_SAMPLE = 3, 1 << 26  # of what the dialect is found in: lines, and bytes
HEADER_NAME = re.compile(rf"^#?\s*({USUAL_NAMES}|{ID_NAMES})$")


@dataclass(frozen=True)
class Dialect:
    """How the lines of a file split into fields, and which lines are not data."""

    path: Path
    delimiter: str  # " " stands for any run of blanks
    skipped: int  # comment lines and header before the first line of data
    names: tuple[str, ...]  # of the header, or "0", "1", ...
    has_header: bool
    sample: tuple[tuple[str, ...], ...]  # the fields of the first lines of data

    def where(self, row: int) -> str:
        """Where a row of data is: `edges.csv, line 18`."""
        for number, (line, _) in enumerate(self.rows()):
            if number == row:
                return f"{self.path}, line {line}"
        return f"{self.path}, row {row}"

    def is_number(self, column: int) -> bool:
        """Whether a column holds numbers, as far as the first lines tell."""
        return all(is_number(row[column]) for row in self.sample)

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Every line of data with its number and fields, slowly: only to explain errors."""
        with open_binary(self.path) as raw, io.TextIOWrapper(raw, "utf-8-sig", errors="replace", newline="") as file:
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


def sniff(path: Path, header: bool | None = None, names: Sequence[str] = (), types: tuple[str, ...] = ()) -> Dialect:
    """Find the dialect of a text file in its first lines.

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
    return Dialect(path, delimiter, skipped + has_header, tuple(columns), has_header, sample)


def _is_header(rows: Sequence[tuple[str, ...]]) -> bool:
    """A first line is a header when its words are usual names, or when it has words where the rest has numbers."""
    first, rest = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    if any(is_number(field) for field in first) or len(set(first)) < len(first):
        return False
    if all(HEADER_NAME.match(field.strip().lower()) for field in first[:2]):
        return True
    return bool(rest) and any(all(is_number(row[i]) for row in rest) for i in range(len(first)))


def _warn_of_unusual_header(path: Path, line: int, rows: Sequence[tuple[str, ...]]) -> None:
    """Say so when a first line of words, found nowhere below, is read as data."""
    below = {field for row in rows[1:] for field in row}
    if len(rows) > 2 and not any(field in below or is_number(field) for field in rows[0]):
        warnings.warn(
            f"{path}, line {line} is read as data: {listed(rows[0])}. If it is a header, say header=True; "
            "if it is not, header=False.",
            stacklevel=2,
        )


def is_number(field: str) -> bool:
    """Whether a field is a number."""
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


def open_binary(path: Path) -> gzip.GzipFile | io.BufferedReader:
    """Open a file for its bytes, unpacked where it is gzipped."""
    return gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb")


def _first_lines(path: Path, size: int = 1 << 16) -> list[str]:
    try:
        with open_binary(path) as file:
            sample = file.read(size)
            # Lines of wide tables are long, and the dialect shows in a few whole ones.
            while sample.count(b"\n") < LEAST_LINES and len(sample) < LARGEST_SAMPLE and (more := file.read(size)):
                sample += more
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
