"""torchrun as a person starts it, and its ranks as the system shows them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def torchrun(*arguments: Any, cwd: Path) -> subprocess.Popen[str]:
    """torchrun on this machine, with all that it prints in one pipe."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=cwd,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip


def ranks_of(started: subprocess.Popen[str]) -> list[int]:
    """The processes of the ranks, the first one first (Linux)."""
    found = []
    for task in Path(f"/proc/{started.pid}/task").iterdir():
        found += [int(child) for child in (task / "children").read_text().split()]
    return sorted(child for child in found if b"RANK=" in Path(f"/proc/{child}/environ").read_bytes())
