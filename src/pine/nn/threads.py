"""How many threads torch uses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from pine._internal.parallel import number_of_threads


@contextmanager
def torch_threads(threads: int | None) -> Iterator[None]:
    """Let torch use so many threads (None: as many as it does), and afterwards as many as before."""
    before = torch.get_num_threads()
    try:
        if threads is not None:
            torch.set_num_threads(number_of_threads(threads))
        yield
    finally:
        torch.set_num_threads(before)
