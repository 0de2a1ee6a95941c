"""`torchrun -m pine train ...`: ranks share the fit; the first one speaks and saves."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pine
from pine.errors import InputError

if TYPE_CHECKING:
    from pine.distributed.ranks import Ranks
    from pine.embedder import Embedder


@contextmanager
def ranks_of(model: Embedder) -> Iterator[Ranks]:
    """The ranks that share a fit of a model: ALONE, unless torchrun has started some."""
    with pine.distributed.torchrun.ranks_of_torchrun(getattr(model, "device", "cpu")) as ranks:
        if ranks is not pine.distributed.ranks.ALONE and not isinstance(model, pine.PINE):
            raise InputError(f"{model.name} is trained by one process: leave torchrun out, or use --method pine")
        with warnings.catch_warnings():
            if ranks.rank > 0:
                warnings.simplefilter("ignore")
            yield ranks
