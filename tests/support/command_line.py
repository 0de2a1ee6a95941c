"""The command line as a person meets it: real processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def pine(*arguments: Any, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `pine ARGUMENTS` without the benchmark data, with other variables of the environment."""
    environment = {key: value for key, value in os.environ.items() if key != "PINE_DATA"} | variables
    command = [sys.executable, "-m", "pine", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, check=False)


def refused(done: subprocess.CompletedProcess[str]) -> str:
    """The one sentence by which a command was refused, with exit code 2."""
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def write_ring(folder: Path) -> tuple[Path, Path]:
    """Files of edges: a ring of v0, ..., v11 in which next nodes but one are linked too, and one with a new node."""
    ring = "".join(f"v{i},v{(i + 1) % 12}\nv{i},v{(i + 2) % 12}\n" for i in range(12))
    (folder / "edges.csv").write_text("source,target\n" + ring)
    (folder / "grown.csv").write_text("source,target\n" + ring + "new,v0\nnew,v1\n")
    return folder / "edges.csv", folder / "grown.csv"
