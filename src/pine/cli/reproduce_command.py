"""`pine reproduce`: the paper's tables and figures anew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from pine.cli.options import DataDir


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
        list[Path] | None, typer.Option(help="A store of another folder to take results from.", metavar="FILE")
    ] = None,
    kept: Annotated[
        bool,
        typer.Option("--kept", help="Make nothing: show what there is, of this run and of earlier ones in the folder."),
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Make the paper's tables and figures anew; what was made before is not made again."""
    from pine.reproduce.command import Asked, show_list
    from pine.reproduce.command import reproduce as run
    from pine.reproduce.tasks import Machine
    from pine.reproduce.workers import Limits

    if show or not names:
        show_list(Console())
        return
    limits = Limits(60 * minutes, memory * 2**30)
    run(Asked(names, out, quick, Machine(data_dir, device), processes, limits, take or (), kept), Console())
