"""Ctrl-C and SIGTERM where there is something to keep: a training stops between two epochs, a save ends first.

A second signal stops at once. Before the first epoch, and where no checkpoint is kept, the first one does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from pine._internal.progress import Progress
from pine._internal.signals import handlers, raise_stopped, say


@contextmanager
def stopping_between_epochs(*, waits: bool = True) -> Iterator[Callable[[Progress], Progress]]:
    """Gives what makes a progress callback that raises StoppedBySignal; waits: whether to wait for the callback."""
    done, asked = [0, 0], list[int]()  # of the progress: done, planned

    def on_signal(number: int, frame: FrameType | None) -> None:
        between = waits and 0 < done[0] < done[1]
        if asked or not between:
            raise_stopped(number, frame)
        else:
            asked.append(number)
            say("stopping after this epoch, with its state kept; once more to stop at once")

    def watched(progress: Progress) -> Progress:
        def tell(now: int, planned: int, what: str) -> None:
            advanced = now > done[0]
            done[:] = now, planned
            progress(now, planned, what)
            if asked and advanced:
                raise_stopped(asked[0], None)

        return tell

    with handlers(on_signal):
        yield watched
    if asked:  # in an epoch that was left out
        raise_stopped(asked[0], None)


@contextmanager
def saving_first(out: object) -> Iterator[None]:
    """What is inside ends, also after a signal: then there is nothing left to stop."""
    asked = list[int]()

    def on_signal(number: int, frame: FrameType | None) -> None:
        if asked:
            raise_stopped(number, frame)
        else:
            asked.append(number)
            say(f"saving {out} first; once more to stop at once")

    with handlers(on_signal):
        yield
