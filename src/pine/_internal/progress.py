"""Progress of long work, told to a callback: what is done, what is planned, and what is being done."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int, str], None]  # done, planned so far, what is being done


class ProgressCounter:
    """Adds up what is planned and what is done, and tells the callback; more may be planned on the way."""

    def __init__(self, callback: Progress | None, what: str) -> None:
        self.callback, self.what = callback, what
        self.done, self.planned = 0, 0

    def plan(self, count: int) -> None:
        """More to do."""
        self.planned += count
        self._tell()

    def advance(self, count: int, what: str | None = None) -> None:
        """Some of it is done."""
        self.done += count
        self.what = what or self.what
        self._tell()

    def _tell(self) -> None:
        if self.callback is not None:
            self.callback(self.done, self.planned, self.what)
