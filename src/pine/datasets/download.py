"""Download a file: all of it or nothing."""

from __future__ import annotations

import hashlib
import http.client
import logging
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pine._internal.files import atomic_write
from pine._internal.progress import ProgressCounter
from pine.errors import InputError

LOG = logging.getLogger("pine")


def save_npz(path: Path, values: dict[str, NDArray[np.generic]]) -> None:
    """Write arrays as an npz file, all or nothing."""
    with atomic_write(path) as file:
        np.savez_compressed(file, **values)  # type: ignore[arg-type]


def fetch(
    url: str, path: Path, sha256: str = "", *, progress: ProgressCounter | None = None, timeout: float = 30.0
) -> None:
    """Download a file and check its sha256, if given, before it gets its name; an error leaves nothing behind.

    progress counts bytes; timeout is in seconds without a byte.
    """
    counter = ProgressCounter(None, "") if progress is None else progress
    LOG.info("downloading %s", url)
    # Not urllib's shared opener: this one sees the proxies of the moment.
    opener = urllib.request.build_opener()
    request = urllib.request.Request(url, headers={"User-Agent": "pine-embedding"})
    total = hashlib.sha256()
    try:
        with opener.open(request, timeout=timeout) as answer, atomic_write(path) as file:
            length = answer.headers.get("Content-Length")
            size = int(length) if length else None
            done = 0
            counter.plan(size or 0)
            while block := answer.read(1 << 16):
                file.write(block)
                total.update(block)
                done += len(block)
                if size is None:
                    counter.plan(len(block))
                counter.advance(len(block), path.name)
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
