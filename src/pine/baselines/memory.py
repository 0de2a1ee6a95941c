"""What a method needs is said before it starts, and what does not fit in memory is refused."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from pine.errors import InputError

# What Linux says of its memory; other systems have no such file.
MEMINFO = Path("/proc/meminfo")

LOG = logging.getLogger("pine")


def need_memory(method: str, needed: float, steps: float, way_out: str) -> None:
    """Say how many bytes and steps a method needs for a graph; refuse what does not fit, with a way out."""
    LOG.info("%s needs %s of memory and about %.1e steps", method, in_words(needed), steps)
    free = free_memory()
    if free is not None and needed > free:
        raise InputError(
            f"{method} needs {in_words(needed)} of memory for this graph and {in_words(free)} are free; {way_out}"
        )


def free_memory() -> int | None:
    """Bytes that can still be had; where the system does not say, all that it has, or None."""
    if MEMINFO.exists():
        for line in MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def in_words(size: float) -> str:
    """Bytes as people say them: 12.3 GB."""
    if size < 1000:
        return f"{size:.0f} bytes"
    for unit in ("KB", "MB", "GB", "TB"):
        size /= 1000
        if size < 1000 or unit == "TB":
            break
    return f"{size:.1f}".removesuffix(".0") + f" {unit}"
