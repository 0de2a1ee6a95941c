"""What the arrays of an npz file say of their sizes, beside what is there."""

from __future__ import annotations

import math
import tokenize
import zipfile
import zlib

import numpy as np

MOST_PACKED = 1100  # how many times smaller than its content a member of a zip file can be


# What NumPy and zipfile raise for damaged files; the header of an array is an expression of Python's.
UNREADABLE = (
    OSError, ValueError, EOFError, KeyError, TypeError, SyntaxError, RecursionError, NotImplementedError,
    zipfile.BadZipFile, zlib.error, tokenize.TokenError,
)  # fmt: skip


def check_sizes(archive: zipfile.ZipFile) -> None:
    """Raise where the header of an array asks for other bytes than there are: memory is taken by what headers say."""
    for member in archive.infolist():
        with archive.open(member) as stream:
            version = np.lib.format.read_magic(stream)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = read(stream)
            needed = math.prod(shape) * dtype.itemsize
            there = member.file_size - stream.tell()
        if needed != there or member.file_size > MOST_PACKED * max(1, member.compress_size):
            raise ValueError(f"{member.filename} must have {needed} bytes, got {there}")
