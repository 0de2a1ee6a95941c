"""pip install in one line: what it is doing and for how long, and all that it said where it fails.

python scripts/install.py --constraint constraints.txt --editable '.[dev]'
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Sequence

STEPS = ("Collecting", "Downloading", "Using cached", "Building", "Installing", "Preparing", "Obtaining")
ALL_AT_ONCE = "Installing collected packages"
SAID_EVERY = 10.0  # seconds, where there is no terminal
WIDTH = 79


def install(arguments: Sequence[str]) -> int:
    """Run pip; its exit code."""
    command = [sys.executable, "-m", "pip", "install", "--progress-bar", "off", *arguments]
    pip = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    assert pip.stdout is not None
    begin, output, ended = time.monotonic(), list[str](), threading.Event()
    clock = threading.Thread(target=_show, args=(output, begin, ended), daemon=True)
    clock.start()
    output.extend(iter(pip.stdout.readline, ""))
    code = pip.wait()
    ended.set()
    clock.join()
    if code:
        sys.stderr.write("".join(output))
        sys.stderr.write(f"pip ended with exit code {code}; the reason stands above\n")
    else:
        print(f"Installed in {time.monotonic() - begin:.0f} s.")
    return code


def _show(output: list[str], begin: float, ended: threading.Event) -> None:
    """One line that changes on a terminal, one every ten seconds elsewhere."""
    terminal = sys.stdout.isatty()
    while not ended.wait(0.5 if terminal else SAID_EVERY):
        line = f"{time.monotonic() - begin:4.0f} s, {step(list(output))}"[:WIDTH]
        print(f"\r{line:{WIDTH}}" if terminal else line, end="" if terminal else "\n", flush=True)
    if terminal:
        print("\r" + " " * WIDTH + "\r", end="", flush=True)


def step(output: Sequence[str]) -> str:
    """What pip is at, of all that it said so far."""
    steps = [line.strip() for line in output if line.strip().startswith(STEPS)]
    if not steps:
        return "pip begins"
    last = steps[-1].split(" (")[0]
    if last.startswith(ALL_AT_ONCE):
        return f"installing {last.count(',') + 1} packages"
    packages = sum(each.startswith("Collecting") for each in steps)
    return f"{packages} packages found, {last[0].lower()}{last[1:]}"


if __name__ == "__main__":
    sys.exit(install(sys.argv[1:]))
