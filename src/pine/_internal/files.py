"""Files that appear whole or not at all."""

from __future__ import annotations

import glob
import os
import tempfile
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
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=PART, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.chmod(name, 0o644)  # mkstemp's files are for their owner alone
        os.replace(name, path)
    except BaseException:
        # Also when it is interrupted: nothing half-written stays.
        os.unlink(name)
        raise
