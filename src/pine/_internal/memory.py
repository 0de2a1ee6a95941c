"""What a method needs is said before it starts, and what does not fit in memory is refused."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path

from pine.errors import InputError

# What Linux says of its memory, of the control groups that a process is in, and of their limits; other systems have no
# such files. A container is a group.
MEMINFO = Path("/proc/meminfo")
OWN_GROUPS = Path("/proc/self/cgroup")
GROUPS = Path("/sys/fs/cgroup")
# Both versions of groups: the files of a group's limit and of its use, and what memory.stat calls the part of the use
# that is given up when it is wanted, files that were read.
VERSION_1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
VERSION_2 = ("memory.max", "memory.current", "inactive_file")

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
    """Bytes that can still be had within all limits; where the system does not say, all that it has, or None."""
    if MEMINFO.exists():
        for line in MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return min([int(line.split()[1]) * 1024, *left_to_groups()])
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def left_to_groups() -> Iterator[int]:
    """Bytes that limits leave to the groups of this process and to the groups around these."""
    lines = OWN_GROUPS.read_text().splitlines() if OWN_GROUPS.exists() else []
    for _, controllers, path in (line.split(":", 2) for line in lines):
        if controllers and "memory" not in controllers.split(","):
            continue
        root, files = (GROUPS / "memory", VERSION_1) if controllers else (GROUPS, VERSION_2)
        group = root / path.lstrip("/")
        for folder in (group, *group.parents):
            if folder.is_relative_to(root):
                # A file that is not there, or "max", which is no number: no limit.
                with contextlib.suppress(OSError, ValueError):
                    yield left_to(folder, *files)


def left_to(group: Path, limit: str, used: str, droppable: str) -> int:
    """Bytes that its limit leaves to a group."""
    stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    taken = int((group / used).read_text()) - int(stat.get(droppable, 0))
    return max(0, int((group / limit).read_text()) - taken)


def in_words(size: float) -> str:
    """Bytes as people say them: 12.3 GB."""
    if size < 1000:
        return f"{size:.0f} bytes"
    for unit in ("KB", "MB", "GB", "TB"):
        size /= 1000
        if size < 1000 or unit == "TB":
            break
    return f"{size:.1f}".removesuffix(".0") + f" {unit}"
