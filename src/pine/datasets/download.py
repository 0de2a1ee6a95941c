"""Fetch a file: all of it or nothing, with a bar that shows how far it is."""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from pine._internal.files import atomic_write
from pine.errors import InputError

TIMEOUT = 30.0  # seconds without a byte
CHUNK = 1 << 16


def save_npz(path: Path, values: dict[str, NDArray[np.generic]]) -> None:
    """Write arrays as an npz file, all or nothing."""
    with atomic_write(path) as file:
        np.savez_compressed(file, **values)  # type: ignore[arg-type]


def fetch(url: str, path: Path, sha256: str = "") -> None:
    """Download a file and check its sum, if one is given, before it gets its name; an error leaves nothing behind."""
    # Not urllib's shared opener: this one sees the proxies of the moment.
    opener = urllib.request.build_opener()
    request = urllib.request.Request(url, headers={"User-Agent": "pine-embedding"})
    total = hashlib.sha256()
    try:
        with opener.open(request, timeout=TIMEOUT) as answer, atomic_write(path) as file:
            length = answer.headers.get("Content-Length")
            size = int(length) if length else None
            done = 0
            with _bar(path.name, size) as advance:
                while block := answer.read(CHUNK):
                    file.write(block)
                    total.update(block)
                    done += len(block)
                    advance(len(block))
            if size is not None and done != size:
                raise InputError(f"{url} must send {size} bytes, got {done}; the transfer broke off, try again")
            if sha256 and total.hexdigest() != sha256:
                raise InputError(f"{url} must have the sha256 {sha256}, got {total.hexdigest()}; it is not opened")
    except urllib.error.HTTPError as problem:
        problem.close()
        raise InputError(f"{url} answers {problem.code} {problem.reason}") from None
    except urllib.error.URLError as problem:
        raise InputError(f"{url} cannot be reached ({problem.reason})") from None
    except (OSError, http.client.HTTPException) as problem:
        raise InputError(f"{url} could not be fetched ({problem or type(problem).__name__})") from None


@contextmanager
def _bar(name: str, size: int | None) -> Iterator[Callable[[int], None]]:
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(name, total=size)
        yield lambda count: progress.advance(task, count)
