"""Progress for who asks for it with progress=True: a bar by tqdm.auto, which notebooks draw, or else by rich."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from pine._internal.progress import Progress
from pine.errors import InputError, quoted


@contextmanager
def progress_callback(progress: Progress | bool | None, what: str) -> Iterator[Progress | None]:
    """What a fit calls: the user's own function, one that moves a bar, or none."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        with _bar(what) as callback:
            yield callback
    elif callable(progress):
        yield progress
    else:
        raise InputError(f"progress must be True or a function of (done, planned, what), got {quoted(progress)}")


def _bar(what: str) -> AbstractContextManager[Progress]:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _rich_bar(what)
    return _tqdm_bar(tqdm, what)


@contextmanager
def _tqdm_bar(tqdm: Any, what: str) -> Iterator[Progress]:
    with tqdm(desc=what, total=0) as bar:

        def callback(done: int, planned: int, now: str) -> None:
            bar.total = planned
            bar.set_description(now, refresh=False)
            bar.update(done - bar.n)

        yield callback
        bar.refresh()


@contextmanager
def _rich_bar(what: str) -> Iterator[Progress]:
    from rich.progress import Progress as Bar

    with Bar() as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, planned, now: bar.update(task, completed=done, total=planned, description=now)
