"""How a csv, tsv or space-separated file splits into fields: its delimiter, the lines above its data, its names.

All of it is in the first line of data; what the columns hold is decided on whole columns, where they are read.
"""

from __future__ import annotations

import contextlib
import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pine.errors import InputError, listed
from pine.graph.read.lines import COMMENT, raw_blocks, whole_lines

LEAST_LINES, LARGEST_SAMPLE = 3, 1 << 26  # of the sample: lines, and bytes
NUMBER = re.compile(r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$|^[+-]?(inf|infinity|nan)$", re.IGNORECASE)


@dataclass(frozen=True)
class Dialect:
    """How the lines of a file split into fields, and which lines are not data."""

    path: Path
    delimiter: str  # " " stands for any run of blanks
    skipped: int  # comment lines and header before the first line of data
    names: tuple[str, ...]  # of the header, or "0", "1", ...
    has_header: bool
    sample: tuple[tuple[str, ...], ...]  # the fields of the first lines of data
    first: tuple[str, ...]  # the fields of the first line, be it header or data

    def where(self, row: int) -> str:
        """Where a row of data is: `edges.csv, line 18`."""
        for number, (line, _) in enumerate(self.rows()):
            if number == row:
                return f"{self.path}, line {line}"
        return f"{self.path}, row {row}"

    def with_header(self) -> Dialect:
        """The same file, whose first line is a header; its names must be distinct."""
        twice = next((name for i, name in enumerate(self.first) if name in self.first[:i]), None)
        if twice is not None:
            raise InputError(
                f"{self.path}, line {self.skipped + 1}: the header names a column twice: {twice!r}; rename one, or say "
                "that there is no header: header=False (--no-header)"
            )
        below = self.below()
        if not below.has_rows():
            raise InputError(f"{self.path} has a header and no lines of data")
        return replace(below, names=self.first, has_header=True)

    def below(self) -> Dialect:
        """The same file without its first line."""
        return replace(self, skipped=self.skipped + 1, sample=self.sample[1:])

    def has_rows(self) -> bool:
        """Whether there is a line of data."""
        return bool(self.sample) or next(self.rows(), None) is not None

    def rows(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Every line of data with its number and fields, slowly: only to explain errors."""
        number = self.skipped
        record: list[str] = []
        for block in whole_lines(self.path, self.skipped, LARGEST_SAMPLE):
            for line in block.decode("utf-8-sig", errors="replace").removesuffix("\n").split("\n"):
                number += 1
                record.append(line.removesuffix("\r"))
                text = "\n".join(record)
                if self.delimiter != " " and text.count('"') % 2:
                    continue  # a quoted field goes on in the next line
                if text:
                    yield number, split_fields(text, self.delimiter)
                record = []


def sniff(path: Path, least: int = 2) -> Dialect:
    """The dialect of a text file of at least so many columns, its first line taken for data."""
    lines = _first_lines(path)
    skipped = 0
    while skipped < len(lines) and (not lines[skipped].strip() or COMMENT.match(lines[skipped].encode())):
        skipped += 1
    data = [line for line in lines[skipped:] if line.strip()]
    if not data:
        raise InputError(f"{path} has no lines of data")
    delimiter = _delimiter(path, data[0])
    rows = [split_fields(line, delimiter) for line in data]
    if len(rows[0]) < least:
        raise InputError(
            f"{path}, line {skipped + 1}: expected at least two columns separated by commas, tabs or blanks, "
            f"got {len(rows[0])}: {listed(rows[0])}"
        )
    columns = tuple(str(i) for i in range(len(rows[0])))
    sample = tuple(row for row in rows if len(row) == len(columns))
    return Dialect(path, delimiter, skipped, columns, False, sample, rows[0])


def is_number(field: str) -> bool:
    """Whether a field is a number."""
    return NUMBER.match(field.strip()) is not None


def split_fields(line: str, delimiter: str) -> tuple[str, ...]:
    """The fields of a line, without the blanks around them."""
    if delimiter == " ":
        return tuple(line.split())
    fields = line.split(delimiter)
    if '"' in line:
        with contextlib.suppress(csv.Error):  # a field beyond the csv module's limit; the reader has one of its own
            fields = next(csv.reader([line], delimiter=delimiter))
    return tuple(field.strip(" \t") for field in fields)


def _delimiter(path: Path, line: str) -> str:
    unquoted = re.sub(r'"[^"]*"', "", line)
    usual = "\t" if ".tsv" in path.suffixes else ","
    for delimiter in (usual, "\t", ",", ";"):
        if delimiter in unquoted:
            return delimiter
    return " " if unquoted == line else ","


def _first_lines(path: Path) -> list[str]:
    """Some lines from the top; the first one that is data is always whole."""
    parts: list[bytes] = []
    size = ends = 0
    whole = True
    for block in raw_blocks(path, 1 << 16):
        if (ends >= LEAST_LINES and _has_data(b"".join(parts))) or size >= LARGEST_SAMPLE:
            whole = False
            break
        parts.append(block)
        size, ends = size + len(block), ends + block.count(b"\n")
    sample = b"".join(parts)
    if not sample:
        raise InputError(f"{path} is empty")
    for start, kind in ((b"PAR1", "a Parquet file"), (b"\x1f\x8b", "a gzip file"), (b"PK\x03\x04", "a zip file")):
        if sample.startswith(start):
            raise InputError(f"{path} is {kind}, not text as its ending says; rename it or unpack it")
    if b"\0" in sample:
        raise InputError(f"{path} is not UTF-8 text: it holds zero bytes")
    if b"\r" in sample.replace(b"\r\n", b"").removesuffix(b"\r"):
        next(whole_lines(path, longest=LARGEST_SAMPLE))  # says in which line
    if not whole:
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    try:
        text = sample.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = sample[: problem.start].count(b"\n") + 1
        raise InputError(f"{path}, line {line}: not UTF-8 text; save it as UTF-8") from None
    # Not splitlines(): it also splits at characters that may stand inside an id.
    return [line.removesuffix("\r") for line in text.split("\n")]


def _has_data(sample: bytes) -> bool:
    """Whether more than comments and blank lines is in it, to a line's end."""
    lines = sample.removeprefix(b"\xef\xbb\xbf").split(b"\n")[:-1]
    return any(line.strip() and not COMMENT.match(line) for line in lines)
