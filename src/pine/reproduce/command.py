"""`pine reproduce`: run experiments, and write their rows, tables, figures and the report into a folder."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from pine._internal.files import atomic_write
from pine._internal.parallel import number_of_threads
from pine._internal.progress import ProgressCounter
from pine._version import __version__
from pine.cli.progress import progress_bar
from pine.errors import InputError
from pine.reproduce import experiment as experiments
from pine.reproduce.claims import verdicts
from pine.reproduce.experiment import Experiment
from pine.reproduce.figures import figures
from pine.reproduce.outcome import Outcome, amount, outcome_of
from pine.reproduce.report import Section, write_report
from pine.reproduce.rows import Row, read_rows, write_rows
from pine.reproduce.run import Runner
from pine.reproduce.store import Store
from pine.reproduce.tables import tables
from pine.reproduce.tasks import Machine, labelled
from pine.reproduce.workers import Limits

STORE = "store.sqlite"


def show_list(console: Console) -> None:
    """The experiments, one a line."""
    table = Table("name", "what", "in the paper", box=None)
    for name in experiments.names():
        each = experiments.read(name)
        table.add_row(name, each.title, each.place)
    console.print(table)


@dataclass(frozen=True)
class Asked:
    """What a user asked for."""

    names: Sequence[str]
    out: Path
    quick: bool
    machine: Machine
    processes: int
    limits: Limits
    take: Sequence[Path] = ()
    only_kept: bool = False


def reproduce(asked: Asked, console: Console) -> None:
    """Run experiments one after another; what is done stays done when it is interrupted."""
    begin = time.monotonic()
    chosen = _chosen(asked, console)
    store = Store(asked.out / STORE)
    for other in asked.take:
        console.print(f"{store.take(other):,} results taken from {other}")
    sections, outcomes = [], []
    with progress_bar(console, "results") as progress:
        work = ProgressCounter(progress, "results")
        work.plan(sum(map(amount, chosen)))
        runner = Runner(store, asked.machine, asked.processes, asked.limits, work, asked.only_kept)
        for experiment in chosen:
            outcome = outcome_of(experiment, runner, _earlier(experiment, asked))
            section = written(experiment, outcome.rows, asked.out)
            outcomes.append(outcome)
            sections.append(section)
            for verdict in section.verdicts:
                numbers = f"; {verdict.numbers}" if verdict.numbers else ""
                console.print(f"{experiment.name}: {verdict.claim.text} [b]{verdict.said}[/b]{numbers}")
    facts = _facts(asked, time.monotonic() - begin, outcomes)
    with atomic_write(asked.out / "about.json") as file:
        file.write(json.dumps(facts, indent=1).encode() + b"\n")
    write_report(sections, in_words(facts), asked.out / "report.html")
    console.print(f"The report: {asked.out / 'report.html'}")
    store.close()


def _earlier(experiment: Experiment, asked: Asked) -> list[Row]:
    """With --kept, the rows that an earlier run left in the folder."""
    path = asked.out / f"{experiment.name}.csv"
    return read_rows(path) if asked.only_kept and path.exists() else []


def written(experiment: Experiment, rows: Sequence[Row], folder: Path) -> Section:
    """Write the rows of an experiment, and its tables and figures, which come from them alone."""
    write_rows(rows, folder / f"{experiment.name}.csv")
    text = tables(experiment, rows)
    with atomic_write(folder / f"{experiment.name}.md") as file:
        file.write(f"# {experiment.title}\n\n{experiment.place}\n\n{text}".encode())
    return Section(experiment, text, figures(experiment, rows, folder), verdicts(experiment, rows))


def _chosen(asked: Asked, console: Console) -> list[Experiment]:
    """The experiments, cut to a slice with --quick; of all, those are left out whose data is not at hand."""
    everything = "all" in asked.names
    found = []
    for name in experiments.names() if everything else dict.fromkeys(asked.names):
        whole = experiments.read(name)
        experiment = whole.quicker() if asked.quick else whole
        try:
            if experiment.kind == "inductive":
                _need_pyg(experiment)
            for dataset in experiment.datasets:
                labelled(dataset, asked.machine.data_dir)
        except InputError as problem:
            if not everything:
                raise
            console.print(f"{name} is left out: {problem}")
            continue
        found.append(experiment)
    return found


def _need_pyg(experiment: Experiment) -> None:
    from pine._internal.optional import need_pyg

    need_pyg(f"the experiment {experiment.name}")


def _facts(asked: Asked, seconds: float, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    fits = sum(row.get("seconds") or 0.0 for outcome in outcomes for row in outcome.rows)
    return {
        "date": time.strftime("%Y-%m-%d"),
        "version": __version__,
        "commit": _commit(),
        "machine": _machine(asked),
        "processes": asked.processes,
        "minutes": round(seconds / 60, 1),
        "hours of fits": round(fits / 3600, 2),
        "budget": asked.limits.said,
        "quick": asked.quick,
        "cells of earlier runs": sum(outcome.earlier for outcome in outcomes),
        "empty cells": sum(outcome.empty for outcome in outcomes),
    }


def in_words(facts: dict[str, Any]) -> list[str]:
    """The facts of a run, for the head of the report."""
    size = "A small slice of every experiment (--quick). " if facts["quick"] else ""
    if facts["empty cells"]:
        size += f"Cells still to be made, which are empty: {facts['empty cells']:,}. "
    if earlier := facts["cells of earlier runs"]:
        size += f"Cells as an earlier run had them, by the code and settings of then: {earlier:,}. "
    return [
        f"{size}{facts['date']}, PINE {facts['version']}, commit {facts['commit']}; {facts['machine']}, "
        f"{facts['processes']} processes, {facts['minutes']} minutes in this run; the fits of all tables took "
        f"{facts['hours of fits']} hours.",
        "The same splits for all methods. PINE runs with its one default. Each other method has the better of the "
        "paper's setting and of those named below, chosen on held-out training labels of the split. "
        f"A fit may take {facts['budget']}; what took more is marked.",
    ]


def _commit() -> str:
    command = ["git", "-C", os.path.dirname(__file__), "rev-parse", "--short", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _machine(asked: Asked) -> str:
    if asked.only_kept:
        return "from kept results alone"
    return f"{platform.machine()}, {number_of_threads(asked.machine.threads)} cores, device {_device(asked)}"


def _device(asked: Asked) -> str:
    from pine.nn.training import device_of

    return str(device_of(asked.machine.device))
