"""Arrays in files, for what is larger than memory: the system keeps of them in memory what it has room for.

Each lies in a file of its own without a name. Its room on the disk is free again when the array is, or when the process
ends, however it does.
"""

from __future__ import annotations

import errno
import math
import mmap
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pine._internal.memory import format_bytes
from pine.errors import InputError


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
        try:
            with tempfile.TemporaryFile(dir=self.folder) as file:
                _reserve(file.fileno(), size)
                memory = mmap.mmap(file.fileno(), size)
        except OSError as problem:
            raise InputError(
                f"cannot keep {format_bytes(size)} in a file of {self.folder}: {problem.strerror or problem}; "
                "name a folder of a larger disk"
            ) from None
        return np.frombuffer(memory, dtype).reshape(shape)


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
