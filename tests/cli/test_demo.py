"""`pine demo`."""

from __future__ import annotations

import os
import re
from pathlib import Path

from support.command_line import pine_process as pine


def test_the_demo_compares_three_ways_on_two_graphs_and_draws_a_picture(tmp_path: Path):
    done = pine("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = {}
    for way in ("label propagation", "logistic regression on PINE's start", "PINE"):
        rows[way] = [float(value) for value in re.findall(rf"│ {way} +│ (\S+) ", done.stdout)]
        assert len(rows[way]) == 2
    cora, planted = zip(*rows.values(), strict=True)
    assert all(0.8 <= accuracy < 0.9 for accuracy in cora)
    assert cora[2] == max(cora)
    assert planted[2] > planted[1] + 0.03 > planted[0] + 0.06
    picture = (tmp_path / "demo" / "cora.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 50_000
    assert os.listdir(tmp_path / "demo") == ["cora.png"]
