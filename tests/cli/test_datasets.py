"""`pine datasets`."""

from __future__ import annotations

from pathlib import Path

from support.command_line import pine

from pine.datasets import CATALOG


def test_datasets_lists_all_of_them_and_how_to_get_those_that_are_not_here(tmp_path: Path):
    done = pine("datasets", XDG_CACHE_HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    for name in CATALOG:
        assert name in done.stdout
    assert "To get it" in done.stdout
    (row,) = (line for line in done.stdout.splitlines() if line.startswith("│ chameleon"))
    assert row.split()[1:8:2] == ["chameleon", "2,277", "31,371", "numbers"]
    words = " ".join(done.stdout.split())
    assert words.count("Used for no choice") == sum(entry.untouched for entry in CATALOG.values())
