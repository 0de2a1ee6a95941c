"""The bytes of a text file in blocks of whole lines, unpacked and checked, with single blanks where blanks separate."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pine._internal.parallel import compiled
from pine.errors import InputError

BLOCK = 1 << 20  # bytes that are read at once
LONGEST_LINE = 1 << 20
UNPACKED_SIZE, UNPACKED_TIMES = 1 << 28, 100  # a .gz file may grow to the larger of this size and this multiple
# A comment is a line that begins with # or %, alone or followed by a blank or the same sign: #python is an id.
COMMENT = re.compile(rb"^[ \t]*(#(?=[ \t\r\n#]|$)|%(?=[ \t\r\n%]|$))")
_COMMENT_BELOW = re.compile(rb"(?:^|\n)[ \t]*(?:#[ \t\r\n#]|%[ \t\r\n%])")
_LONE_RETURN = re.compile(rb"\r(?!\n)")
_RUNS_OF_BLANKS = re.compile(rb"[ \t]+")
_BLANKS_AT_ENDS = re.compile(rb"^ | (?=\r?$)", re.MULTILINE)


def open_binary(path: Path) -> BinaryIO:
    """Open a file for its bytes, unpacked where it is gzipped."""
    try:
        return gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb")  # type: ignore[return-value]
    except (OSError, ValueError) as problem:  # ValueError: a name with a zero byte
        raise InputError(f"cannot read {path}: {getattr(problem, 'strerror', None) or problem}") from None


def raw_blocks(path: Path, size: int = BLOCK) -> Iterator[bytes]:
    """The bytes of a file, unpacked up to a limit."""
    read = 0
    with open_binary(path) as file:
        limit = max(UNPACKED_SIZE, UNPACKED_TIMES * path.stat().st_size) if path.suffix == ".gz" else None
        while True:
            try:
                block = file.read(size)
            except (gzip.BadGzipFile, zlib.error, EOFError) as problem:
                raise InputError(f"{path} ends in .gz but cannot be unpacked: {problem}") from None
            except OSError as problem:
                raise InputError(f"cannot read {path}: {problem.strerror or problem}") from None
            if not block:
                return
            read += len(block)
            if limit is not None and read > limit:
                raise InputError(
                    f"{path} unpacks to more than {limit:,} bytes, {UNPACKED_TIMES} times its size; unpack it yourself "
                    "if that is right"
                )
            yield block


def whole_lines(path: Path, skipped: int = 0, longest: int = LONGEST_LINE) -> Iterator[bytes]:
    """The file from line `skipped` on, in blocks that end with a line."""
    rest, start = b"", 0
    for block in raw_blocks(path):
        cut = block.rfind(b"\n") + 1
        if not cut:
            rest += block
            _check_ends(path, rest.removesuffix(b"\r"), start)
            _check_lengths(path, rest, start, longest)
            continue
        lines, rest = rest + block[:cut], block[cut:]
        _check(path, lines, start, longest)
        start += len(lines)
        lines, skipped = _without_first(lines, skipped)
        if lines:
            yield lines
    if rest:
        _check(path, rest, start, longest)
        rest, _ = _without_first(rest, skipped)
        if rest:
            yield rest


def _without_first(lines: bytes, skipped: int) -> tuple[bytes, int]:
    """Drop lines at the top; returns what is left of them to drop, too."""
    while skipped and lines:
        lines = lines[end:] if (end := lines.find(b"\n") + 1) else b""
        skipped -= 1
    return lines, skipped


def single_blanks(lines: bytes) -> bytes:
    """Lines with one blank between their fields and none around them."""
    if _has_other_blanks(np.frombuffer(b"\n" + lines + b"\n", np.uint8)):
        lines = _BLANKS_AT_ENDS.sub(b"", _RUNS_OF_BLANKS.sub(b" ", lines))
    return lines


@compiled
def _has_other_blanks(data: NDArray[Any]) -> bool:
    """Whether there is a tab, or a blank beside a blank or at an end of a line; no branches, so that it vectorizes."""
    found = False
    for i in range(1, len(data) - 1):
        # Below 33 are blanks and the ends of lines.
        found |= (data[i] == 9) | ((data[i] == 32) & ((data[i - 1] < 33) | (data[i + 1] < 33)))
    return found


def find_comment(lines: bytes) -> int:
    """Where the first line begins that is a comment, or -1."""
    found = _COMMENT_BELOW.search(lines) if b"#" in lines or b"%" in lines else None
    return -1 if found is None else found.start() + (lines[found.start()] == ord("\n"))


def _check(path: Path, lines: bytes, start: int, longest: int) -> None:
    if b"\0" in lines:
        raise InputError(f"{path} is not UTF-8 text: it holds zero bytes")
    _check_ends(path, lines, start)
    _check_lengths(path, lines, start, longest)


def _check_ends(path: Path, lines: bytes, start: int) -> None:
    alone = _LONE_RETURN.search(lines) if b"\r" in lines else None
    if alone:
        line = line_number(path, start + alone.start())
        raise InputError(
            f"{path}, line {line}: lines end as on old Macs, with a carriage return alone; save the file with \\n or "
            "\\r\\n at the end of lines"
        )


def _check_lengths(path: Path, lines: bytes, start: int, longest: int) -> None:
    at = 0
    while len(lines) - at > longest:
        end = lines.rfind(b"\n", at, at + longest + 1) + 1
        if not end:
            raise InputError(f"{path}, line {line_number(path, start + at)}: longer than {longest:,} bytes")
        at = end


def line_number(path: Path, offset: int) -> int:
    """The number of the line that a byte is in."""
    number, seen = 1, 0
    for block in raw_blocks(path):
        number += block.count(b"\n", 0, max(0, offset - seen))
        seen += len(block)
        if seen >= offset:
            break
    return number
