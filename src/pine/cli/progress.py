"""A progress bar on the terminal, as a callback for the library: what is done, how long it took, and the time left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bar

from pine._internal.progress import Progress


@contextmanager
def progress_bar(console: Console, what: str, *, in_bytes: bool = False) -> Iterator[Progress]:
    """A bar that disappears when the work is done; nothing is shown where there is no terminal."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn() if in_bytes else MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, planned, now: bar.update(task, completed=done, total=planned, description=now)
