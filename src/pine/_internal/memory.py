"""Free memory, and the refusal of what would not fit into it before a method starts."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from pine.errors import InputError

resource: ModuleType | None
try:
    import resource
except ImportError:  # not on Windows
    resource = None

# Both versions of control groups (a container is one): the files of a group's limit and of its usage, and the key in
# memory.stat for the part of the usage that the kernel gives up on demand, cached files.
CGROUP_V1_FILES = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
CGROUP_V2_FILES = ("memory.max", "memory.current", "inactive_file")

LOG = logging.getLogger("pine")


def require_memory(method: str, needed: float, steps: float, way_out: str, root: Path = Path("/")) -> None:
    """Log how many bytes and steps a method needs for a graph; refuse what does not fit, with a way out."""
    LOG.info("%s needs %s of memory and about %.1e steps", method, format_bytes(needed), steps)
    free = free_memory(root)
    if free is not None and needed > free:
        raise InputError(
            f"{method} needs {format_bytes(needed)} of memory for this graph and {format_bytes(free)} are free; "
            f"{way_out}"
        )


def free_memory(root: Path = Path("/")) -> int | None:
    """Bytes available within all limits; without Linux's /proc below root the physical memory, or None if unknown."""
    meminfo = root / "proc/meminfo"
    if meminfo.exists():
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                available = int(line.split()[1]) * 1024
                return min([available, *cgroup_headrooms(root), *address_space_headroom(root)])
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def cgroup_headrooms(root: Path = Path("/")) -> Iterator[int]:
    """Bytes below the limit of each control group that this process is in, and of each group that contains it."""
    own_groups, mount = root / "proc/self/cgroup", root / "sys/fs/cgroup"
    lines = own_groups.read_text().splitlines() if own_groups.exists() else []
    for _, controllers, path in (line.split(":", 2) for line in lines):
        if controllers and "memory" not in controllers.split(","):
            continue
        top, files = (mount / "memory", CGROUP_V1_FILES) if controllers else (mount, CGROUP_V2_FILES)
        group = top / path.lstrip("/")
        for folder in (group, *group.parents):
            if folder.is_relative_to(top):
                # A file that is not there, or "max", which is no number: no limit.
                with contextlib.suppress(OSError, ValueError):
                    yield _headroom(folder, *files)


def address_space_headroom(root: Path = Path("/")) -> Iterator[int]:
    """Bytes below RLIMIT_AS (ulimit -v), if there is one."""
    statm = root / "proc/self/statm"
    if resource is not None and statm.exists():
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            yield max(0, limit - int(statm.read_text().split()[0]) * resource.getpagesize())


def resident_memory(root: Path = Path("/")) -> int:
    """Bytes that this process has in memory; 0 if unknown."""
    statm = root / "proc/self/statm"
    if resource is None or not statm.exists():
        return 0
    return int(statm.read_text().split()[1]) * int(resource.getpagesize())


def _headroom(group: Path, limit: str, usage: str, reclaimable: str) -> int:
    """Bytes below the limit of one control group."""
    stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    used = int((group / usage).read_text()) - int(stat.get(reclaimable, 0))
    return max(0, int((group / limit).read_text()) - used)


def format_bytes(size: float) -> str:
    """Such as 12.3 GB."""
    if size < 1000:
        return f"{size:.0f} bytes"
    for unit in ("KB", "MB", "GB", "TB"):
        size /= 1000
        if size < 1000 or unit == "TB":
            break
    return f"{size:.1f}".removesuffix(".0") + f" {unit}"
