"""What `pine reproduce` shows: the list of experiments, progress with the time left, claims as they are checked."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from pine.cli.progress import progress_bar
from pine.reproduce.catalog import experiments
from pine.reproduce.claims import Verdict
from pine.reproduce.experiment import Experiment
from pine.reproduce.reproduction import ReproduceOptions, reproduce


def show_list(console: Console | None = None) -> None:
    """The experiments, one a line."""
    table = Table("name", "what", "in the paper", box=None)
    for name, experiment in experiments().items():
        table.add_row(name, experiment.title, experiment.place)
    (console or Console()).print(table)


def reproduce_and_show(options: ReproduceOptions, console: Console | None = None) -> None:
    """Reproduce, and print each claim beside what was measured."""
    console = console or Console()

    def show(experiment: Experiment, verdict: Verdict) -> None:
        numbers = f"; {verdict.numbers}" if verdict.numbers else ""
        console.print(f"{experiment.name}: {verdict.claim.text} [b]{verdict.summary}[/b]{numbers}")

    with progress_bar(console, "results") as progress:
        report = reproduce(options, progress, show, console.print)
    console.print(f"The report: {report}")
