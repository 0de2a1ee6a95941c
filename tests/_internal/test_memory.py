"""Free memory is what the system has and what the limits on the groups of a process leave, whichever is less."""

from __future__ import annotations

import pytest

from pine import InputError
from pine._internal import memory

FREE = 9000 * 1024
NO_LIMIT = 9223372036854771712  # as version 1 of groups says it
TWO = ("memory.max", "memory.current", "inactive_file")
ONE = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


@pytest.fixture
def system(monkeypatch, tmp_path):
    """A system with 9000 kB free and no groups; gives a function that adds one, and says which groups are ours."""
    (tmp_path / "meminfo").write_text("MemAvailable: 9000 kB\n")
    for name, path in (("MEMINFO", "meminfo"), ("OWN_GROUPS", "own"), ("GROUPS", "groups")):
        monkeypatch.setattr(memory, name, tmp_path / path)

    def add(own, files=TWO, **groups):
        (tmp_path / "own").write_text(own)
        for name, (limit, used, dropped) in groups.items():
            folder = tmp_path / "groups" / name.replace("_", "/").replace("root", ".")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / files[0]).write_text(f"{limit}\n")
            (folder / files[1]).write_text(f"{used}\n")
            (folder / "memory.stat").write_text(f"anon 77\n{files[2]} {dropped}\nfile 5\n")

    return add


def test_a_group_leaves_its_limit_less_what_is_used_and_cannot_be_dropped(system):
    system("0::/box\n", box=(1_000_000, 700_000, 300_000))
    assert memory.free_memory() == 600_000
    with pytest.raises(InputError, match="needs 1 MB of memory for this graph and 600 KB are free; take less"):
        memory.need_memory("it", 1_000_000, 1, "take less")


def test_the_groups_around_it_have_limits_too(system):
    system("0::/box/inner\n", box_inner=("max", 50, 0), box=(500_000, 100_000, 0), root=(900_000, 0, 0))
    assert memory.free_memory() == 400_000
    system("0::/\n")
    assert memory.free_memory() == 900_000, "the root of a container is its own group"
    system("0::/elsewhere/that/is/not/shown\n")
    assert memory.free_memory() == 900_000


@pytest.mark.parametrize("line", ["7:memory:/box", "7:cpu,memory:/box"])
def test_the_first_version_of_groups_is_read_as_well(system, line):
    system(
        f"9:cpuset:/\n{line}\n0::/\n",
        ONE,
        memory_box=(1_000_000, 700_000, 300_000),
        memory=(NO_LIMIT, 800_000, 0),
        box=(1, 1, 0),
    )
    assert memory.free_memory() == 600_000


def test_without_a_limit_there_is_what_the_system_has(system):
    assert memory.free_memory() == FREE, "no groups at all"
    system("0::/box\n", box=("max", 700_000, 300_000))
    assert memory.free_memory() == FREE
    system("4:memory:/\n", ONE, memory=(NO_LIMIT, 800_000, 0))
    assert memory.free_memory() == FREE
    system("0::/large\n", large=(100 * FREE, 0, 0))
    assert memory.free_memory() == FREE


def test_a_group_above_its_limit_has_nothing_left(system):
    system("0::/box\n", box=(1_000, 2_000, 0))
    assert memory.free_memory() == 0
