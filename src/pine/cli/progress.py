"""Progress as a callback for the library: a bar on a terminal, a line every ten seconds elsewhere."""

from __future__ import annotations

import time
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

LINE_EVERY = 10.0  # seconds


@contextmanager
def progress_bar(console: Console, what: str, *, in_bytes: bool = False) -> Iterator[Progress]:
    """A bar that disappears when the work is done; lines where there is no terminal."""
    if not console.is_terminal:
        yield _lines(console, in_bytes)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn() if in_bytes else MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, planned, now: bar.update(task, completed=done, total=planned, description=now)


def _lines(console: Console, in_bytes: bool) -> Progress:
    """Such as: PINE: 40 of 150, 12 s, about 33 s left."""
    begin = time.monotonic()
    last = begin

    def tell(done: int, planned: int, what: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < LINE_EVERY or not planned:
            return
        last, passed = now, now - begin
        amounts = f"{done / 1e6:.1f} of {planned / 1e6:.1f} MB" if in_bytes else f"{done:,} of {planned:,}"
        left = f", about {passed / done * (planned - done):.0f} s left" if 0 < done <= planned else ""
        console.print(f"{what}: {amounts}, {passed:.0f} s{left}", markup=False, emoji=False, highlight=False)

    return tell
