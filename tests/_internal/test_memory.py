"""Free memory is what the system has and what the limits of a process's control groups leave, whichever is less."""

from __future__ import annotations

import os

import pytest

from pine import InputError
from pine._internal.memory import format_bytes, free_memory, require_memory

FREE = 9000 * 1024
NO_LIMIT = 9223372036854771712  # as version 1 of control groups writes it
V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
V2 = ("memory.max", "memory.current", "inactive_file")


@pytest.fixture
def add_groups(tmp_path):
    """A system below tmp_path with 9000 kB free and no groups; gives a function that adds some and sets our own."""
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/meminfo").write_text("MemTotal: 99000 kB\nMemAvailable:   9000 kB\n")

    def add(own, files=V2, **groups):
        (tmp_path / "proc/self/cgroup").write_text(own)
        for name, (limit, usage, reclaimable) in groups.items():
            folder = tmp_path / "sys/fs/cgroup" / name.replace("_", "/").replace("root", ".")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / files[0]).write_text(f"{limit}\n")
            (folder / files[1]).write_text(f"{usage}\n")
            (folder / "memory.stat").write_text(f"anon 77\n{files[2]} {reclaimable}\nfile 5\n")

    return add


def test_a_group_leaves_its_limit_less_what_is_used_and_cannot_be_reclaimed(add_groups, tmp_path):
    add_groups("0::/box\n", box=(1_000_000, 700_000, 300_000))
    assert free_memory(tmp_path) == 600_000
    require_memory("it", 600_000, 1, "take less", tmp_path)
    with pytest.raises(InputError, match="it needs 1 MB of memory for this graph and 600 KB are free; take less"):
        require_memory("it", 1_000_000, 1, "take less", tmp_path)


def test_the_groups_around_it_have_limits_too(add_groups, tmp_path):
    add_groups("0::/box/inner\n", box_inner=("max", 50, 0), box=(500_000, 100_000, 0), root=(900_000, 0, 0))
    assert free_memory(tmp_path) == 400_000
    add_groups("0::/\n")
    assert free_memory(tmp_path) == 900_000, "the root of a container is its own group"
    add_groups("0::/elsewhere/that/is/not/shown\n")
    assert free_memory(tmp_path) == 900_000


@pytest.mark.parametrize("line", ["7:memory:/box", "7:cpu,memory:/box"])
def test_the_first_version_of_groups_is_read_as_well(add_groups, tmp_path, line):
    add_groups(
        f"9:cpuset:/\n{line}\n0::/\n",
        V1,
        memory_box=(1_000_000, 700_000, 300_000),
        memory=(NO_LIMIT, 800_000, 0),
        box=(1, 1, 0),
    )
    assert free_memory(tmp_path) == 600_000


def test_without_a_limit_there_is_what_the_system_has(add_groups, tmp_path):
    assert free_memory(tmp_path) == FREE, "no groups at all"
    add_groups("0::/box\n", box=("max", 700_000, 300_000))
    assert free_memory(tmp_path) == FREE
    add_groups("4:memory:/\n", V1, memory=(NO_LIMIT, 800_000, 0))
    assert free_memory(tmp_path) == FREE
    add_groups("0::/large\n", large=(100 * FREE, 0, 0))
    assert free_memory(tmp_path) == FREE


def test_a_group_above_its_limit_has_nothing_left(add_groups, tmp_path):
    add_groups("0::/box\n", box=(1_000, 2_000, 0))
    assert free_memory(tmp_path) == 0


def test_a_system_that_does_not_tell_is_taken_at_its_physical_memory_or_left_unknown(monkeypatch, tmp_path):
    physical = free_memory(tmp_path)
    assert physical is not None
    assert physical > FREE
    monkeypatch.setattr(os, "sysconf_names", {})
    assert free_memory(tmp_path) is None
    require_memory("anything", 10**30, 1, "worry", tmp_path)  # is not refused where nothing is known


def test_bytes_are_written_with_the_unit_that_fits():
    assert [format_bytes(size) for size in (7, 2_500, 10**6, 12_345_678_901, 3 * 10**12)] == [
        "7 bytes", "2.5 KB", "1 MB", "12.3 GB", "3 TB"
    ]  # fmt: skip
