"""Files that appear whole or not at all."""

from __future__ import annotations

import glob
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

PART = ".part"


def half_written(path: Path) -> list[Path]:
    """What processes that were killed while writing a file have left beside it."""
    return sorted(path.parent.glob(f".{glob.escape(path.name)}.*{PART}"))


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears under its name when the block ends well, and not at all when it does not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Its name is known before it is made: nothing half-written stays, at whatever moment a signal comes.
    name = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}{PART}")
    try:
        with name.open("xb") as file:
            yield file
        name.chmod(0o644)  # whatever the umask
        os.replace(name, path)
    except BaseException as problem:
        name.unlink(missing_ok=True)
        if isinstance(problem, OSError) and problem.errno is not None and problem.filename is None:
            raise OSError(problem.errno, problem.strerror, str(path)) from None  # a full disk does not say which file
        raise
