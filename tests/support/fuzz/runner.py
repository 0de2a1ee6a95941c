"""Runs cases in child processes, in batches, and counts what came of them."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

SECONDS = 60  # for a case; most take milliseconds
MEMORY = 1 << 30  # bytes that a case may take beyond what is loaded
BATCH = 1000  # a process takes seconds to begin
TESTS = Path(__file__).parent.parent.parent


@dataclass
class Outcome:
    """What came of the cases of a target."""

    target: str
    read: int = 0
    refused: int = 0
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def cases(self) -> int:
        return self.read + self.refused + len(self.faults)


def fuzz(cases: Mapping[str, int], processes: int = 2) -> list[Outcome]:
    """So many cases of each target, in child processes."""
    batches = [
        (name, first, min(BATCH, count - first)) for name, count in cases.items() for first in range(0, count, BATCH)
    ]
    outcomes = {name: Outcome(name) for name in cases}
    with ThreadPoolExecutor(processes) as pool:
        for part in pool.map(lambda batch: run_batch(*batch), batches):
            whole = outcomes[part.target]
            whole.read, whole.refused = whole.read + part.read, whole.refused + part.refused
            whole.faults, whole.seconds = whole.faults + part.faults, whole.seconds + part.seconds
    return list(outcomes.values())


def run_batch(target: str, first: int, count: int) -> Outcome:
    """Cases first, first + 1, ...; after a case that ends its process, another process takes the rest."""
    outcome, stop = Outcome(target), first + count
    while first < stop:
        begin = time.monotonic()
        command = [sys.executable, "-m", "support.fuzz.runner", target, str(first), str(stop - first)]
        child = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False, errors="replace")
        outcome.seconds += time.monotonic() - begin
        done = first
        for line in child.stdout.splitlines():
            number, kind, *words = line.split(" ", 2)
            if not number.isdecimal() or int(number) != done or kind not in ("read", "refused", "fault"):
                continue  # printed by what is fuzzed
            done += 1
            outcome.read += kind == "read"
            outcome.refused += kind == "refused"
            outcome.faults += [f"{target} {number}: {words[0]}"] if kind == "fault" else []
        if done < stop:
            last = (child.stderr.strip().splitlines() or [""])[-1][:300]
            outcome.faults.append(f"{target} {done}: the process ended with {_ending(child.returncode)} {last}")
            done += 1
        first = done
    return outcome


def _ending(code: int) -> str:
    if -code == signal.SIGALRM:
        return "no result after its time"
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def table(outcomes: Sequence[Outcome]) -> str:
    """In Markdown."""
    lines = ["| what | cases | refused | read | faults |", "|---|---:|---:|---:|---:|"]
    rows = [(each.target, each.cases, each.refused, each.read, len(each.faults)) for each in outcomes]
    total = ("**all**", *(sum(row[i] for row in rows) for i in range(1, 5)))  # type: ignore[misc]
    lines += [f"| {row[0]} | " + " | ".join(f"{number:,}" for number in row[1:]) + " |" for row in [*rows, total]]
    return "\n".join(lines)


def seed_of(target: str, number: int) -> list[int]:
    """Every case has its own, whatever was run before it."""
    return [zlib.crc32(target.encode()), number]


# ---- in the child ----


def results(target: Any, name: str, first: int, count: int) -> Iterator[tuple[int, str]]:
    """The outcome of each case."""
    from pine import InputError
    from pine.errors import LONGEST_MESSAGE

    with tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        made = target(Path(folder))
        _limit_memory()
        for number in range(first, first + count):
            rng = np.random.default_rng(seed_of(name, number))
            signal.setitimer(signal.ITIMER_REAL, getattr(made, "seconds", SECONDS))
            try:
                made.case(rng)
                kind = "read"
            except InputError as problem:
                said = str(problem)
                kind = "refused"
                if len(said) > LONGEST_MESSAGE or not said.isprintable() or not said:
                    kind = f"fault an error of {len(said)} characters: {said[:400]!r}"
            except BaseException as problem:
                where = traceback.extract_tb(problem.__traceback__)[-1]
                kind = f"fault {type(problem).__name__} at {Path(where.filename).name}:{where.lineno}: {problem}"[:500]
            signal.setitimer(signal.ITIMER_REAL, 0)
            yield number, " ".join(kind.encode("ascii", "backslashreplace").decode().split())


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY,) * 2)


def main() -> None:
    from support.fuzz.targets import CASES, FAULTY, TARGETS

    if len(sys.argv) == 1:
        outcomes = fuzz(CASES)
        print(table(outcomes))
        print("\n".join(fault for each in outcomes for fault in each.faults))
        return
    name, first = sys.argv[1], int(sys.argv[2])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process, also within C
    for number, kind in results((TARGETS | FAULTY)[name](), name, first, count):
        print(number, kind, flush=True)


if __name__ == "__main__":
    main()
