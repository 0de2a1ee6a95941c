"""`pine demo`."""

from __future__ import annotations

import os
from pathlib import Path

from support.command_line import pine_process as pine


def test_the_demo_prints_an_accuracy_and_draws_a_picture(tmp_path: Path):
    done = pine("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "label propagation: accuracy 0.8" in done.stdout
    assert "logistic regression on PINE's start: accuracy 0.8" in done.stdout
    assert "PINE: accuracy 0.8" in done.stdout
    picture = (tmp_path / "demo" / "cora.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 50_000
    assert os.listdir(tmp_path / "demo") == ["cora.png"]
