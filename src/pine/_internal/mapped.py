"""Arrays in files, for what is larger than memory: the system keeps of them in memory what it has room for.

Each lies in a file of its own without a name. Its room on the disk is free again when the array is, or when the process
ends, however it does. What is read from the first row to the last is mapped; what is read in pieces far apart is read
by its ranges (FileOfFloats), as a system that maps reads megabytes around each (8 on some machines), to no use.
"""

from __future__ import annotations

import errno
import math
import mmap
import os
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pine._internal.memory import format_bytes
from pine.errors import InputError

Made = TypeVar("Made")


class MappedArrays:
    """Arrays in files of a folder, which is made where it is not there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise InputError(f"cannot make the folder {folder}: {problem.strerror or problem}") from None

    def zeros(self, *shape: int, dtype: DTypeLike = np.float32) -> NDArray[Any]:
        """An array of zeros."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        if size == 0:
            return np.zeros(shape, dtype)
        memory = self.in_file(size, lambda file: mmap.mmap(file, size))
        if hasattr(mmap, "MADV_SEQUENTIAL"):
            memory.madvise(mmap.MADV_SEQUENTIAL)
        return np.frombuffer(memory, dtype).reshape(shape)

    def in_file(self, size: int, use: Callable[[int], Made]) -> Made:
        """What use makes of a new file of so many bytes, all of them 0, without a name; its number is closed then."""
        try:
            with tempfile.TemporaryFile(dir=self.folder) as file:
                _reserve(file.fileno(), size)
                return use(file.fileno())
        except OSError as problem:
            raise InputError(
                f"cannot keep {format_bytes(size)} in a file of {self.folder}: {problem.strerror or problem}; "
                "name a folder of a larger disk"
            ) from None


class FileOfFloats:
    """So many zeros of float32, read and written by ranges, from several threads too."""

    def __init__(self, arrays: MappedArrays, count: int) -> None:
        if not hasattr(os, "preadv"):
            raise InputError("this system cannot read a file by ranges: leave mmap_dir out, or use Linux or macOS")
        self.file = arrays.in_file(4 * count, os.dup)
        weakref.finalize(self, os.close, self.file)
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self.file, 0, 0, os.POSIX_FADV_RANDOM)

    def read(self, first: int, count: int) -> NDArray[np.float32]:
        found = np.empty(count, np.float32)
        self._whole(os.preadv, found, first)
        return found

    def write(self, first: int, values: NDArray[np.float32]) -> None:
        self._whole(os.pwritev, values, first)

    def _whole(self, move: Callable[[int, Any, int], int], values: NDArray[np.float32], first: int) -> None:
        """The system may move less at once than it is asked to."""
        rest, place = memoryview(values.reshape(-1).view(np.uint8).data), 4 * first
        while rest:
            moved = move(self.file, [rest], place)
            if moved == 0:
                raise OSError("a file of arrays ended too soon")
            rest, place = rest[moved:], place + moved


def _reserve(file: int, size: int) -> None:
    """Take the room now: of a disk that is full later, the process would be told by a signal that ends it."""
    if not hasattr(os, "posix_fallocate"):
        os.truncate(file, size)
        return
    try:
        os.posix_fallocate(file, 0, size)
    except OSError as problem:
        if problem.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
            raise
        os.truncate(file, size)  # a file system that cannot
