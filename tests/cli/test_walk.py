"""The walk of docs/walk.md over users' own files prints what the document says."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.walk import DOCUMENT, WALK, comparable, sections, walked

SHOWN = dict(zip(WALK, sections(DOCUMENT.read_text(encoding="utf-8")), strict=True))


@pytest.mark.parametrize("name", WALK)
def test_the_walk_prints_what_the_document_says(name: str, tmp_path: Path, need_data):
    section = WALK[name]
    assert [command for command, _ in SHOWN[name]] == section.commands, "python scripts/walk.py writes it anew"
    data = None if section.data is None else need_data(section.data)
    for (command, printed), (_, shown) in zip(walked(section, tmp_path, data), SHOWN[name], strict=True):
        assert comparable(command, printed) == comparable(command, shown), f"{command}\n{printed}"
