"""Ctrl-C and SIGTERM while a method trains: it stops between two epochs, when there is a state to go on from.

A second signal stops at once. Before the first epoch, and where no checkpoint is kept, the first one does.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from pine._internal.progress import Progress

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StoppedBySignal(BaseException):
    """The work was asked to stop by a signal; no KeyboardInterrupt, which typer would take for its own."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    @property
    def exit_code(self) -> int:
        """As shells have it: 130 after Ctrl-C, 143 after SIGTERM."""
        return 128 + self.number


@contextmanager
def stopping_between_epochs(
    say: Callable[[str], object], *, waits: bool = True
) -> Iterator[Callable[[Progress], Progress]]:
    """Gives what makes a progress callback that raises StoppedBySignal; waits: whether to wait for the callback."""
    done, asked = [0, 0], list[int]()  # of the progress: done, planned

    def on_signal(number: int, frame: FrameType | None) -> None:
        between = waits and 0 < done[0] < done[1]
        if asked or not between:
            raise StoppedBySignal(number)
        asked.append(number)
        say("stopping after this epoch, with its state kept; once more to stop at once")

    def watched(progress: Progress) -> Progress:
        def tell(now: int, planned: int, what: str) -> None:
            advanced = now > done[0]
            done[:] = now, planned
            progress(now, planned, what)
            if asked and advanced:
                raise StoppedBySignal(asked[0])

        return tell

    before: dict[int, Any] = {}
    for number in SIGNALS:
        before[number] = signal.signal(number, on_signal)
    try:
        yield watched
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
