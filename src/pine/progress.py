"""Progress of long work: what is done, how long it took, and the time left."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


def progress_bar(console: Console, disable: bool = False) -> Progress:
    """A bar that disappears when the work is done."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console, transient=True, disable=disable)


class Work:
    """What there is to do, shown by a bar; more may be planned on the way."""

    def __init__(self, bar: Progress, what: str) -> None:
        self.bar, self.total, self.task = bar, 0, bar.add_task(what, total=None)

    def plan(self, count: int) -> None:
        """More to do."""
        self.total += count
        self.bar.update(self.task, total=self.total)

    def done(self, count: int, what: str | None = None) -> None:
        """Some of it is done, and what is being done is shown."""
        self.bar.update(self.task, advance=count, description=what)
