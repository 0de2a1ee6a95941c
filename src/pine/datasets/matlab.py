"""Matrices out of MATLAB files of version 5 to 7, every size checked before it is believed.

Such a file is a header of 128 bytes and elements: a tag (kind, number of bytes), then the bytes, padded to eight. A
matrix is an element of elements: its class, its shape, its name, and the numbers; of a sparse one first the rows of its
entries, and where each column begins. SciPy's reader crashes on some damaged files; this one refuses them.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pine.datasets.arrays import unfit

HEAD_BYTES = 128
MATRIX, COMPRESSED = 14, 15  # kinds of elements
NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
SPARSE_CLASS, DENSE_CLASSES = 5, range(6, 16)  # classes of matrices
COMPLEX = 0x800
LARGEST = 2**31  # bytes that one element may unpack to
MOST_ROWS = 10_000_000  # and columns, of a matrix: where fewer are filled, memory would go by what a file says


class Damaged(ValueError):
    """What a file holds is not what its sizes say."""


def read_matrices(path: Path) -> dict[str, Any]:
    """The matrices of a file by name, as csc_array; anything else in it is left out."""
    try:
        content = path.read_bytes()
        if content[:4] == b"\x89HDF" or content[124:126] == b"\x00\x02":
            raise Damaged("it is of version 7.3; save it as version 7")
        order = {b"IM": "<", b"MI": ">"}.get(content[126:HEAD_BYTES])
        if order is None:
            raise Damaged("it does not begin as one")
        return dict(_matrices(memoryview(content)[HEAD_BYTES:], order, packed=True))
    except (OSError, Damaged, zlib.error) as problem:
        raise unfit(path, f"cannot be read as a MATLAB file ({problem})") from None


def _matrices(content: memoryview, order: str, *, packed: bool) -> Iterator[tuple[str, Any]]:
    """packed: whether elements may be compressed ones."""
    for kind, data in _elements(content, order):
        if kind == COMPRESSED and packed:
            yield from _matrices(_unpacked(data), order, packed=False)
        elif kind == MATRIX:
            found = _matrix(data, order)
            if found is not None:
                yield found


def _unpacked(data: memoryview) -> memoryview:
    unpacking = zlib.decompressobj()
    made = unpacking.decompress(data, LARGEST)
    if unpacking.unconsumed_tail:
        raise Damaged(f"a part of it unpacks to more than {LARGEST:,} bytes")
    if not unpacking.eof:
        raise Damaged("a part of it ends too early")
    return memoryview(made)


def _elements(content: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Kinds and bytes."""
    at = 0
    while at < len(content):
        if at + 8 > len(content):
            raise Damaged("it ends within an element")
        kind, size = struct.unpack_from(f"{order}II", content, at)
        if kind >> 16:  # up to four bytes are in the tag itself
            kind, size, begin, end = kind & 0xFFFF, kind >> 16, at + 4, at + 8
        else:
            begin = at + 8
            end = begin + (size if kind == COMPRESSED else -(-size // 8) * 8)
        if begin + size > len(content) or size > max(end - begin, 0):
            raise Damaged("an element is longer than the file")
        yield kind, content[begin : begin + size]
        at = end


def _matrix(data: memoryview, order: str) -> tuple[str, Any] | None:
    """A name and its matrix; None for cells, texts and the like."""
    parts = list(_elements(data, order))
    if len(parts) < 4:
        raise Damaged("a matrix lacks a part")
    flags = _array(parts[0], order)
    shape = _array(parts[1], order)
    name = bytes(parts[2][1]).decode("latin-1")[:63]  # the most that MATLAB gives a name
    if not len(flags):
        raise Damaged(f"{name!r} has no class")
    kind = int(flags[0]) & 0xFF
    if kind != SPARSE_CLASS and kind not in DENSE_CLASSES:
        return None
    if int(flags[0]) & COMPLEX or len(shape) != 2 or (shape < 0).any():
        raise Damaged(f"{name!r} is no matrix of real numbers")
    rows, columns = map(int, shape)
    if max(rows, columns) > MOST_ROWS:
        raise Damaged(f"{name!r} has more than {MOST_ROWS:,} rows or columns")
    numbers = [_array(part, order) for part in parts[3:]]
    if kind == SPARSE_CLASS:
        return name, _sparse(name, rows, columns, numbers)
    if len(numbers[0]) != rows * columns:
        raise Damaged(f"{name!r} must have {rows} x {columns} numbers, got {len(numbers[0])}")
    return name, sp.csc_array(numbers[0].reshape(columns, rows).T)


def _sparse(name: str, rows: int, columns: int, numbers: list[NDArray[Any]]) -> Any:
    if len(numbers) != 3:
        raise Damaged(f"{name!r} lacks a part")
    row, begin, entries = numbers
    if row.dtype.kind == "f" or begin.dtype.kind == "f" or len(begin) != columns + 1:
        raise Damaged(f"{name!r} must say where each of its {columns} columns begins")
    row, begin = row.astype(np.int64), begin.astype(np.int64)
    count = int(begin[-1])
    if begin[0] != 0 or (np.diff(begin) < 0).any() or count > min(len(row), len(entries)):
        raise Damaged(f"the columns of {name!r} must follow each other within its {len(entries)} entries")
    row, entries = row[:count], entries[:count]  # room for more may be there
    if count and not 0 <= row.min() <= row.max() < rows:
        raise Damaged(f"the entries of {name!r} must be in its {rows} rows")
    return sp.csc_array((entries, row, begin), shape=(rows, columns))


def _array(part: tuple[int, memoryview], order: str) -> NDArray[Any]:
    kind, data = part
    if kind not in NUMBERS:
        raise Damaged(f"numbers of kind {kind} are unknown")
    form = np.dtype(f"{order}{NUMBERS[kind]}")
    if len(data) % form.itemsize:
        raise Damaged("numbers are cut off")
    return np.frombuffer(data, form).astype(form.newbyteorder("="))
