"""`pine reproduce`: the paper's tables and figures anew; progress with the time left, claims as they are checked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

import pine
from pine._internal.signals import advising
from pine.cli.options import DataDir
from pine.cli.progress import progress_bar


def reproduce(
    names: Annotated[list[str] | None, typer.Argument(help="Experiments by name, or all.", metavar="NAME...")] = None,
    show: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A small slice of each, for a first look.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for tables, figures, report and results.", metavar="FOLDER")] = Path(
        "reproduced"
    ),
    processes: Annotated[int, typer.Option(help="Fits side by side.", min=1)] = 2,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    minutes: Annotated[float, typer.Option(help="The most that one fit may take.")] = 30,
    memory: Annotated[float, typer.Option(help="The most that one fit may take, in GiB.")] = 16,
    take: Annotated[
        list[Path] | None, typer.Option(help="A store or archive to take results from.", metavar="FILE")
    ] = None,
    archive: Annotated[
        Path | None,
        typer.Option(help="Write every single result into FILE.tsv.xz, for --take.", metavar="FILE"),
    ] = None,
    kept: Annotated[
        bool,
        typer.Option("--kept", help="Make nothing: show what there is, of this run and of earlier ones in the folder."),
    ] = False,
    slow: Annotated[
        bool,
        typer.Option("--slow", help="Make methods that take hours, too; without it they stay as the folder has them."),
    ] = False,
    methods: Annotated[
        list[str] | None,
        typer.Option("--method", help="Make this method alone; may be repeated. Others stay as the folder has them."),
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Make the paper's tables and figures anew; what was made before is not made again.

    Example: pine reproduce homogeneous --quick --out reproduced
    """
    if show or not names:
        show_list()
        return
    machine = pine.reproduce.Machine(data_dir, device)
    limits = pine.reproduce.Limits(60 * minutes, memory * 2**30)
    options = pine.reproduce.ReproduceOptions(
        names, out, quick, machine, processes, limits, take or (), kept, slow, methods or (), archive
    )
    with advising(lambda: f"what was made is kept in {out}: repeat the command to go on"):
        reproduce_and_show(options)


def show_list(console: Console | None = None) -> None:
    """The experiments, one a line."""
    table = Table("name", "what", "in the paper", box=None)
    for name, experiment in pine.reproduce.catalog.experiments().items():
        table.add_row(name, experiment.title, experiment.place)
    (console or Console()).print(table)


def reproduce_and_show(options: pine.reproduce.ReproduceOptions, console: Console | None = None) -> None:
    """Reproduce, and print each claim beside what was measured."""
    console = console or Console()

    def show(experiment: pine.reproduce.experiment.Experiment, verdict: pine.reproduce.claims.Verdict) -> None:
        numbers = f"; {verdict.numbers}" if verdict.numbers else ""
        console.print(f"{experiment.name}: {verdict.claim.text} [b]{verdict.summary}[/b]{numbers}")

    with progress_bar(console, "results") as progress:
        report = pine.reproduce.reproduce(options, progress, show, console.print)
    console.print(f"The report: {report}")
