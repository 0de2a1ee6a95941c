"""Run experiments, and write their rows, tables, figures and the report into a folder."""

from __future__ import annotations

import json
import logging
import os
import platform
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pine._internal.files import atomic_write
from pine._internal.parallel import number_of_threads
from pine._internal.progress import Progress, ProgressCounter
from pine._internal.workers import Limits, run_jobs
from pine._version import __version__
from pine.datasets.catalog import CATALOG
from pine.errors import InputError, listed, quoted
from pine.nn.training import device_of
from pine.reproduce.catalog import experiments, find
from pine.reproduce.claims import Verdict
from pine.reproduce.experiment import Experiment
from pine.reproduce.kinds import KINDS
from pine.reproduce.outcome import Outcome, as_it_was, outcome_of
from pine.reproduce.report import Section, write_report
from pine.reproduce.rows import Row, read_rows, write_rows
from pine.reproduce.runner import RunJobs, Runner
from pine.reproduce.store import Store, check_archive
from pine.reproduce.tasks import Machine

LOGGER = logging.getLogger("pine")
STORE_FILE = "store.sqlite"
REPORT_FILE = "report.html"


@dataclass(frozen=True)
class ReproduceOptions:
    """Which experiments ("all": every one whose data is at hand), where to, and how.

    quick: a small slice of each. take: stores of other folders, whose results are added. only_kept: make nothing, show
    what there is, of this run and of earlier ones in the folder. slow: make methods that take hours, too. methods: make
    these alone, by their names in the experiments. What is not made is as an earlier run in the folder had it. archive:
    a file to write all single results into, which take reads.
    """

    names: Sequence[str]
    out: Path
    quick: bool = False
    machine: Machine = field(default_factory=Machine)
    processes: int = 1
    limits: Limits = field(default_factory=Limits)
    take: Sequence[Path] = ()
    only_kept: bool = False
    slow: bool = False
    methods: Sequence[str] = ()
    archive: Path | None = None

    def left(self, experiment: Experiment) -> list[str]:
        """The methods of an experiment that are not made."""
        if self.only_kept:
            return []
        names = dict.fromkeys(method.name for method in experiment.methods)
        if self.methods:
            return [name for name in names if name not in self.methods]
        return [] if self.slow else experiment.slow


def reproduce(
    options: ReproduceOptions,
    progress: Progress | None = None,
    on_verdict: Callable[[Experiment, Verdict], None] | None = None,
    on_message: Callable[[str], None] = LOGGER.info,
    known: Mapping[str, Experiment] | None = None,
    run_jobs: RunJobs = run_jobs,
) -> Path:
    """Run experiments one after another, and write the report: its path. What is done stays done when interrupted.

    on_verdict: is called with each claim that was checked; on_message: with what else users want to know. known: the
    experiments that there are, by default those of the paper. run_jobs: see Runner. Experiments that are not asked for,
    or whose data is not at hand, are in the report as the folder has them.
    """
    begin = time.monotonic()
    known = experiments() if known is None else known
    if options.archive is not None:
        check_archive(options.archive)  # before hours of work
    chosen, left_out = _chosen(options, known)
    for experiment, problem in left_out:
        on_message(f"{experiment.name} is left out: {problem}")
    store = Store(options.out / STORE_FILE)
    for other in options.take:
        on_message(f"{store.take(other):,} results taken from {other}")
    work = ProgressCounter(None if options.only_kept else progress, "results")  # what is kept takes no time
    made = [experiment.without(options.left(experiment)) for experiment in chosen]
    work.plan(sum(KINDS[experiment.kind].num_tasks(experiment) for experiment in made))
    runner = Runner(store, options.machine, options.processes, options.limits, work, options.only_kept, run_jobs)
    sections, outcomes = {}, []
    for experiment in chosen:
        left = options.left(experiment)
        if left and not options.methods:
            on_message(
                f"{experiment.name}: {', '.join(left)} take hours; --slow makes them, else they are as they were"
            )
        outcome = outcome_of(experiment, runner, _earlier(experiment, options), left)
        section = write_section(experiment, outcome.rows, options.out)
        outcomes.append(outcome)
        sections[experiment.name] = section
        for verdict in section.verdicts:
            if on_verdict is not None:
                on_verdict(experiment, verdict)
    for name in [name for name in known if name not in sections]:
        experiment = known[name].quicker() if options.quick else known[name]
        outcome = as_it_was(experiment, _in_folder(experiment, options))
        if outcome.rows:
            outcomes.append(outcome)
            sections[name] = section_of(experiment, outcome.rows, options.out)
    sections |= {each.name: not_measured(each) for each, _ in left_out if each.name not in sections}
    facts = _facts(options, time.monotonic() - begin, outcomes)
    with atomic_write(options.out / "about.json") as file:
        file.write(json.dumps(facts, indent=1).encode() + b"\n")
    write_report([sections[name] for name in known if name in sections], _in_words(facts), options.out / REPORT_FILE)
    if options.archive is not None:
        on_message(f"{store.archive(options.archive):,} results written to {options.archive}")
    store.close()
    return options.out / REPORT_FILE


def _chosen(
    options: ReproduceOptions, known: Mapping[str, Experiment]
) -> tuple[list[Experiment], list[tuple[Experiment, InputError]]]:
    """The experiments, cut to a slice with quick; of all, those whose data is not at hand are left out, and why.

    With methods, those that have none of them stay as they are.
    """
    everything = "all" in options.names
    _check_methods(options, known)
    found, left_out = [], []
    for name in known if everything else dict.fromkeys(options.names):
        whole = find(name, known)
        experiment = whole.quicker() if options.quick else whole
        if options.methods and not any(method.name in options.methods for method in experiment.methods):
            continue  # nothing of it is made
        try:
            KINDS[experiment.kind].check_packages(experiment)
            for dataset in experiment.datasets:
                KINDS[experiment.kind].check_data(experiment, *options.machine.labeled(dataset))
        except InputError as problem:
            if not everything:
                raise
            left_out.append((experiment, problem))
        else:
            found.append(experiment)
    return found, left_out


def _check_methods(options: ReproduceOptions, known: Mapping[str, Experiment]) -> None:
    asked = known if "all" in options.names else options.names
    there = {method.name for name in asked for method in find(name, known).methods}
    for name in options.methods:
        if name not in there:
            raise InputError(f"no method is called {quoted(name)} there; there are {listed(sorted(there), 20)}")


def _earlier(experiment: Experiment, options: ReproduceOptions) -> list[Row]:
    """The rows that an earlier run left in the folder, where some may be needed."""
    return _in_folder(experiment, options) if options.only_kept or options.left(experiment) else []


def _in_folder(experiment: Experiment, options: ReproduceOptions) -> list[Row]:
    path = options.out / f"{experiment.name}.csv"
    return read_rows(path) if path.exists() else []


def write_section(experiment: Experiment, rows: Sequence[Row], folder: Path) -> Section:
    """Write the rows of an experiment, and its tables and figures, which come from them alone."""
    write_rows(rows, folder / f"{experiment.name}.csv")
    section = section_of(experiment, rows, folder)
    with atomic_write(folder / f"{experiment.name}.md") as file:
        file.write(f"# {experiment.title}\n\n{experiment.place}\n\n{section.tables}".encode())
    return section


def section_of(experiment: Experiment, rows: Sequence[Row], folder: Path) -> Section:
    """An experiment's part of the report; its figures are drawn into the folder."""
    kind = KINDS[experiment.kind]
    figures = kind.figures(experiment, rows, folder) if rows else []
    return Section(experiment, kind.tables(experiment, rows), figures, kind.verdicts(experiment, rows))


def not_measured(experiment: Experiment) -> Section:
    """An experiment that was left out has its place in the report, too; of the reason, no folder of this machine."""
    where = " ".join(CATALOG[dataset].where for dataset in experiment.datasets)
    text = (
        f"Not measured: {', '.join(experiment.datasets) or 'an optional package'} is not at hand. {where}\n\n"
        f"Whoever has it: pine reproduce {experiment.name}\n"
    )
    return Section(experiment, text, [], KINDS[experiment.kind].verdicts(experiment, []))


def _facts(options: ReproduceOptions, seconds: float, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    fits = sum(row.get("seconds") or 0.0 for outcome in outcomes for row in outcome.rows)
    return {
        "date": time.strftime("%Y-%m-%d"),
        "version": __version__,
        "commit": _commit(),
        "machine": _machine(options),
        "processes": options.processes,
        "minutes": round(seconds / 60, 1),
        "hours of fits": round(fits / 3600, 2),
        "budget": options.limits.text,
        "quick": options.quick,
        "cells of earlier runs": sum(outcome.earlier for outcome in outcomes),
        "empty cells": sum(outcome.empty for outcome in outcomes),
    }


def _in_words(facts: dict[str, Any]) -> list[str]:
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


def _machine(options: ReproduceOptions) -> str:
    if options.only_kept:
        return "from kept results alone"
    cores, device = number_of_threads(options.machine.threads), device_of(options.machine.device)
    return f"{platform.machine()}, {cores} cores, device {device}"
