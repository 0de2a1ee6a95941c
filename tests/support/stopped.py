"""Runs `pine ARGUMENTS` many times, each stopped by a signal at another moment: python stopped.py FOLDER RUNS ARGUMENTS

Everything is imported once, and each run is a fork in a folder of its own: FOLDER/0, FOLDER/1, ..., copies of
FOLDER/inputs. Prints the runs as JSON: signal, exit code, what was printed, and the files that are left.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

from pine.__main__ import main


def run(words: list[str]) -> int:
    sys.argv = ["pine", *words]
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def stopped_run(folder: Path, number: int, delay: float, words: list[str]) -> dict[str, Any]:
    shutil.copytree(folder.parent / "inputs", folder)
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        printed = os.open(folder / "printed", os.O_WRONLY | os.O_CREAT)
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        try:
            code = run(words)
            sys.stdout.flush()
        except BaseException:  # a traceback is what nobody should see
            sys.excepthook(*sys.exc_info())
            sys.stderr.flush()
            os._exit(1)
        os._exit(code)
    while not (folder / "printed").exists():
        time.sleep(0.001)
    time.sleep(0.005 + delay)
    os.kill(child, number)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    text = (folder / "printed").read_text()
    (folder / "printed").unlink()
    left = sorted(path.name for path in folder.iterdir())
    return {"signal": number, "delay": delay, "code": code, "text": text, "left": left}


def stopped_runs(folder: Path, count: int, words: list[str]) -> list[dict[str, Any]]:
    shutil.copytree(folder / "inputs", folder / "first")
    with contextlib.chdir(folder / "first"), contextlib.redirect_stdout(sys.stderr):
        assert run(words) == 0  # everything is imported and compiled
    begin = time.monotonic()
    assert stopped_run(folder / "whole", 0, 0.0, words)["code"] == 0
    step = (time.monotonic() - begin) / count
    signals = [signal.SIGINT, signal.SIGTERM]
    return [stopped_run(folder / str(i), signals[i % 2], step * (i + 0.5), words) for i in range(count)]


if __name__ == "__main__":
    _, place, runs, *arguments = sys.argv
    print(json.dumps(stopped_runs(Path(place), int(runs), arguments)))
