"""Kills train, evaluate and reproduce at random moments, then lets each end: python -m support.kills FOLDER COUNT SEED

Everything is imported once, and each run is a fork, a session of its own. A run is killed up to three times, by KILL,
TERM or INT, then it goes on to its end, which must be that of a run that was never killed, bit by bit. Prints a JSON
object for each command: kills by signal, runs, those that were lost, processes left behind.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import shutil
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file

import pine.reproduce.reproduction as reproduction
from pine.__main__ import main
from pine.datasets import planted_classes
from pine.reproduce.catalog import experiment_of
from support.reproduce import SMALL

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
MOST_KILLS = 3  # of one run
LONGEST = 120  # seconds; a run takes few
SOONER = 0.9  # after a kill that came when all was done, which does not count
TRAIN = "train edges.csv --labels labels.csv --out run --epochs 60 --dim 8 --threads 1 --overwrite"
EVALUATE = (
    "evaluate edges.csv --labels labels.csv --methods label-propagation,pine:epochs=5:dim=4 --ratios 0.3,0.6"
    " --repeats 3 --json runs.json --resume"
)
REPRODUCE = "reproduce small --out made --processes 1"
# What Python itself prints in a worker whose parent is killed while it starts.
ORPHANED = re.compile(
    r'Traceback[^\n]*\n  File "<string>", line 1, in <module>\n(?:  .*\n)+EOFError: Ran out of input\n'
)


def train_end(folder: Path) -> Any:
    arrays = load_file(folder / "run" / "run.safetensors")
    assert not (folder / "run.unfinished").exists()
    return {name: hashlib.sha256(array.tobytes()).hexdigest() for name, array in arrays.items()}


def evaluate_end(folder: Path) -> Any:
    rows = json.loads((folder / "runs.json").read_text())
    return sorted(json.dumps({key: row[key] for key in row if "seconds" not in key}, sort_keys=True) for row in rows)


def reproduce_end(folder: Path) -> Any:
    with (folder / "made" / "small.csv").open() as file:
        rows = list(csv.DictReader(file))
    return sorted(json.dumps({key: row[key] for key in row if key not in ("seconds", "alone")}) for row in rows)


ENDS = {"train": (TRAIN, train_end), "evaluate": (EVALUATE, evaluate_end), "reproduce": (REPRODUCE, reproduce_end)}


def start(folder: Path, words: str) -> int:
    """A fork that runs a command in a folder, in a session of its own."""
    child = os.fork()
    if child:
        return child
    os.setsid()
    os.chdir(folder)
    sys.modules["__main__"] = sys.modules["pine.__main__"]  # what workers import first, as they do for users
    printed = os.open("printed", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    sys.argv = ["pine", *words.split()]
    code = 0
    try:
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    sys.stdout.flush()
    os._exit(code)


def ended(child: int) -> int:
    """The exit code of a process; one that hangs fails all."""
    end = time.monotonic() + LONGEST
    while not (found := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            sys.exit(f"a process hung for {LONGEST} seconds")
        time.sleep(0.005)
    return os.waitstatus_to_exitcode(found[1])


def left_behind(session: int) -> list[int]:
    """Processes of a session, but for those that have ended."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended by now
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def gone(session: int, within: float = 10.0) -> bool:
    """Whether nothing of a session is left after a while; what is left is ended."""
    end = time.monotonic() + within
    while left := left_behind(session):
        if time.monotonic() > end:
            for each in left:
                os.kill(each, signal.SIGKILL)
            return False
        time.sleep(0.05)
    return True


def inputs(folder: Path) -> None:
    folder.mkdir(parents=True)
    graph, classes = planted_classes(400, classes=3)
    links = graph.links()
    pairs = np.stack([links.rows(), links.indices], 1)
    lines = [f"v{a},v{b}" for a, b in pairs.tolist() if a < b]
    (folder / "edges.csv").write_text("source,target\n" + "\n".join(lines) + "\n")
    named = {f"v{v}" for line in lines for v in (line.split(",")[0][1:], line.split(",")[1][1:])}
    rows = [f"v{v},{label}" for v, label in enumerate(classes.tolist()) if v % 2 and f"v{v}" in named]
    (folder / "labels.csv").write_text("id,label\n" + "\n".join(rows) + "\n")


def kill_runs(folder: Path, command: str, count: int, rng: np.random.Generator) -> dict[str, Any]:
    words, end_of = ENDS[command]
    for name in ("warm", "whole"):  # the first one compiles
        shutil.copytree(folder / "inputs", folder / command / name)
        begin = time.monotonic()
        assert ended(start(folder / command / name, words)) == 0, (folder / command / name / "printed").read_text()
    seconds, wanted = time.monotonic() - begin, end_of(folder / command / "whole")
    kills, lost, left, tracebacks, run = Counter[str](), list[str](), 0, list[str](), 0
    while kills.total() < count:
        place = folder / command / str(run)
        shutil.copytree(folder / "inputs", place)
        for _ in range(min(int(rng.integers(1, MOST_KILLS + 1)), count - kills.total())):
            number = SIGNALS[int(rng.integers(len(SIGNALS)))]
            child = start(place, words)
            time.sleep(float(rng.random()) * seconds)
            os.kill(child, number)
            is_late = ended(child) == 0
            left += not gone(child)
            if is_late:
                seconds *= SOONER
                break
            kills[number.name] += 1
        code = ended(start(place, words))
        printed = (place / "printed").read_text()
        printed = ORPHANED.sub("", printed)
        if "Traceback" in printed:
            tracebacks.append(printed[printed.index("Traceback") :][-1000:])
        if code != 0 or end_of(place) != wanted:
            lost.append(f"run {run}, exit code {code}: {printed[-500:]}")
        run += 1
        shutil.rmtree(place)
    return {
        "command": command, "kills": dict(kills), "runs": run, "lost": lost,
        "tracebacks": tracebacks, "left behind": left,
    }  # fmt: skip


if __name__ == "__main__":
    place, total, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    reproduction.experiments = lambda: {"small": experiment_of("small", SMALL)}  # type: ignore[attr-defined]
    inputs(place / "inputs")
    for number, name in enumerate(ENDS):
        share = total // len(ENDS) + (number < total % len(ENDS))
        print(json.dumps(kill_runs(place, name, share, np.random.default_rng([seed, number]))), flush=True)
