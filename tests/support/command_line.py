"""The command line as a person meets it: in a process of its own, or, quicker, in this one."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from pine.cli import main


def pine_process(*arguments: Any, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `pine ARGUMENTS` without the benchmark data, with other variables of the environment."""
    command = [sys.executable, "-m", "pine", *map(str, arguments)]
    environment = _environment(variables)
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, check=False)


def pine(*arguments: Any, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """The same in this process: what main prints, and its exit code."""
    out, err = io.StringIO(), io.StringIO()
    code = _run(arguments, cwd, variables, out, err)
    return subprocess.CompletedProcess(["pine", *map(str, arguments)], code, out.getvalue(), err.getvalue())


def pine_transcript(*arguments: Any, cwd: Path) -> str:
    """What a terminal would show: standard output and error in their order."""
    both = io.StringIO()
    _run(arguments, cwd, {}, both, both)
    return both.getvalue()


def _run(arguments: Sequence[Any], cwd: Path | None, variables: dict[str, str], out: IO[str], err: IO[str]) -> int:
    words = ["pine", *map(str, arguments)]
    started = _as_if_started(words, cwd or Path.cwd(), _environment(variables))
    with started, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            return int(end.code or 0)
    return 0


def _environment(variables: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key != "PINE_DATA"} | variables


@contextlib.contextmanager
def _as_if_started(words: list[str], folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """The arguments, folder and environment of a new process, and afterwards those of before."""
    before = sys.argv, dict(os.environ), warnings.showwarning
    with contextlib.chdir(folder):
        try:
            sys.argv = words
            os.environ.clear()
            os.environ.update(environment)
            yield
        finally:
            sys.argv, variables, warnings.showwarning = before
            os.environ.clear()
            os.environ.update(variables)


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
