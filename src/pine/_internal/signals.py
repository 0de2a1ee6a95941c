"""Ctrl-C and SIGTERM at any moment: an exception, which the outermost level turns into a sentence and an exit code.

A handler runs between any two steps of a program, also in the midst of a write. It therefore never prints through a
stream, but writes to the file descriptor. The first signal raises StoppedBySignal, so that what is half-written goes;
one that comes while this is under way ends the process at once.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
CAN_ASK_LATER = hasattr(signal, "setitimer")  # not on Windows
ASK_LATER = 0.05  # seconds
# Where an exception may be lost (C code that imports) or leave a lock behind that others wait for (compiled loops).
NEVER_IN = ("<frozen importlib", f"{os.sep}llvmlite{os.sep}", f"{os.sep}numba{os.sep}")

Handler = Callable[[int, FrameType | None], None]


class StoppedBySignal(BaseException):
    """The work was asked to stop by a signal; no KeyboardInterrupt, which typer would take for its own.

    advice: how to go on, if there is a way.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number, self.advice = number, ""

    @property
    def exit_code(self) -> int:
        """As shells have it: 130 after Ctrl-C, 143 after SIGTERM."""
        return 128 + self.number


class _Received:
    """The first signal, and whether it has become an exception; at_work: whether there is something to clear up."""

    number: int | None = None
    raised = False
    at_work = False


_received = _Received()


def say(line: str) -> None:
    """A line on standard error, past all buffers."""
    # On a terminal there may be a progress bar, or ^C, in this line.
    begin = "\n" if os.isatty(2) else ""
    os.write(2, f"{begin}{line}\n".encode(errors="replace"))


def end_at_once(number: int, frame: FrameType | None = None) -> None:
    """A handler for when nothing is under way that could be left half done."""
    say("interrupted")
    os._exit(128 + number)


def raise_stopped(number: int, frame: FrameType | None) -> None:
    """A handler that raises StoppedBySignal once; after an import or a compilation, if it is in one."""
    is_second = _received.number is not None and number in SIGNALS
    must_wait = _must_wait(frame)
    if _received.raised or (must_wait and (is_second or not _received.at_work)):
        end_at_once(_received.number or number)
    _received.number = _received.number or number
    if must_wait and CAN_ASK_LATER:
        _ask_later()
        return
    _received.raised = True
    raise StoppedBySignal(_received.number)


def _must_wait(frame: FrameType | None) -> bool:
    while frame is not None:
        if any(place in frame.f_code.co_filename for place in NEVER_IN):
            return True
        frame = frame.f_back
    return False


@contextmanager
def handlers(handler: Handler) -> Iterator[None]:
    """A handler for both signals, and afterwards those of before."""
    before: dict[int, Any] = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        for number in SIGNALS:
            signal.signal(number, handler)
        yield
    finally:
        _set(before)


@contextmanager
def stopped_with_a_sentence() -> Iterator[None]:
    """Around all work of a process: a signal ends it with a sentence and 130 or 143, and never with a traceback."""
    _received.number, _received.raised, _received.at_work = None, False, False
    if threading.current_thread() is not threading.main_thread():  # others get no signals
        yield
        return
    alarm = (signal.SIGALRM,) if CAN_ASK_LATER else ()
    before = {number: signal.getsignal(number) for number in (*SIGNALS, *alarm)}
    hook = sys.unraisablehook
    sys.unraisablehook = _raise_again
    try:
        _set(dict.fromkeys(before, raise_stopped))
        yield
    except BaseException as problem:
        # C code may have made another exception of a signal's.
        if _received.number is None or isinstance(problem, SystemExit):
            raise
        _set(dict.fromkeys(before, signal.SIG_IGN))
        stopped = _stopped(problem, _received.number)
        say(f"interrupted; {stopped.advice}" if stopped.advice else "interrupted")
        sys.exit(stopped.exit_code)
    finally:
        # All is done: a signal that comes while Python ends changes nothing.
        _set({number: signal.SIG_IGN if kind is end_at_once else kind for number, kind in before.items()})
        sys.unraisablehook = hook


@contextmanager
def advising(advice: Callable[[], str]) -> Iterator[None]:
    """Where a signal stops what is inside, the sentence says how to go on."""
    _received.at_work = True
    try:
        yield
    except BaseException as problem:
        if _received.number is None or isinstance(problem, SystemExit):
            raise
        stopped = _stopped(problem, _received.number)
        stopped.advice = stopped.advice or advice()
        raise stopped from None


def was_stopped() -> bool:
    """Whether a signal has come: what goes wrong after it is its consequence."""
    return _received.number is not None


def _stopped(problem: BaseException, number: int) -> StoppedBySignal:
    return problem if isinstance(problem, StoppedBySignal) else StoppedBySignal(number)


def _set(kinds: Mapping[int, Any]) -> None:
    for number, handler in kinds.items():
        signal.signal(number, handler)


def _raise_again(problem: Any) -> None:
    """Python drops exceptions that are raised while it clears up after an object: raise this one once more."""
    if not isinstance(problem.exc_value, StoppedBySignal):
        sys.__unraisablehook__(problem)
        return
    _received.raised = False
    _ask_later()


def _ask_later() -> None:
    if CAN_ASK_LATER:
        signal.setitimer(signal.ITIMER_REAL, ASK_LATER)
