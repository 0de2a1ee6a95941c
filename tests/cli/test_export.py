"""`pine export`."""

from __future__ import annotations

from pathlib import Path

from support.command_line import pine, refused, write_ring


def test_a_run_is_exported_and_what_cannot_be_is_refused(tmp_path: Path):
    edges, _ = write_ring(tmp_path)
    assert pine("train", edges, "--out", tmp_path / "run").returncode == 0
    done = pine("export", tmp_path / "run", "--format", "word2vec", "--out", tmp_path / "v.txt")
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "v.txt").read_text().splitlines()
    assert lines[0] == "12 64"
    assert lines[1].split()[0] == "v0"
    assert "format must be one of" in refused(pine("export", tmp_path / "run", "--format", "pdf", "--out", "x"))
    assert "is not a saved run" in refused(pine("export", tmp_path / "nothing", "--out", "x"))
