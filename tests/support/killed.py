"""Work that is killed again and again, in forks of one process: everything is imported once."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

SCRIPT = """
import os, signal, sys, time
from pathlib import Path
place = Path(sys.argv[1])
{setup}
for wait in {waits}:
    child = os.fork()
    if child == 0:
        while True:
            {work}
    time.sleep(wait)
    assert os.waitpid(child, os.WNOHANG) == (0, 0), "it ended by itself"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    {check}
"""


def kill_again_and_again(place: Path, *, setup: str, work: str, check: str, waits: Sequence[float]) -> None:
    """Lines of Python: setup, then work without an end, killed after so many seconds each, and a check."""
    script = SCRIPT.format(setup=textwrap.dedent(setup), work=work, check=check, waits=tuple(waits))
    done = subprocess.run([sys.executable, "-c", script, str(place)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
