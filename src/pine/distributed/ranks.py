"""What processes that share a fit say to each other: sums over all of them, and rows from one to another.

A process alone (ALONE) says nothing: all of this gives back what it is given. Everything else is torch.distributed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from pine.errors import InputError, shortened

# A rank whose machine is gone is missed after so long; one whose process is gone, at once, by torchrun.
TIMEOUT = timedelta(seconds=45)
PATIENCE = timedelta(days=1)  # while the first rank does what the others wait for


class RanksError(InputError):
    """Another rank is gone, or does not answer."""


class Ranks:
    """A process alone."""

    rank, size = 0, 1
    bytes_exchanged = bytes_summed = 0  # that this rank has sent as rows, and handed to sums
    traffic: Any = None  # of the last training of a fit: pine.distributed.traffic

    def total(self, each: Tensor) -> Tensor:
        """The sum over all ranks, in place."""
        return each

    def totals(self, *each: Tensor) -> Sequence[Tensor]:
        """The sums over all ranks, in one message."""
        return each

    def share_gradients(self, parameters: Sequence[nn.Parameter], terms: Tensor) -> Tensor:
        """Add up the gradients of parameters that all ranks have, and the terms of the loss, in one message."""
        return terms

    def share_first(self, tensors: Sequence[Tensor]) -> None:
        """Let all have what the first rank has."""

    def from_first(self, make: Callable[[], Any]) -> Any:
        """What the first rank makes, while the others wait."""
        return make()

    def exchange(self, rows: Tensor, sent: Sequence[int], received: Sequence[int]) -> Tensor:
        """Rows for each rank, one after the other, so many as sent says; the rows that each sends to this one."""
        return rows


class Group(Ranks):
    """The ranks of torch.distributed's process group."""

    def __init__(self) -> None:
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self._patient = dist.new_group(timeout=PATIENCE, backend="gloo")

    def total(self, each: Tensor) -> Tensor:
        self.bytes_summed += each.nbytes
        with said_plainly(self):
            dist.all_reduce(each)
        return each

    def totals(self, *each: Tensor) -> Sequence[Tensor]:
        flat = self.total(torch.cat([one.flatten() for one in each]))
        parts = torch.split(flat, [one.numel() for one in each])
        return [part.view_as(one) for part, one in zip(parts, each, strict=True)]

    def share_gradients(self, parameters: Sequence[nn.Parameter], terms: Tensor) -> Tensor:
        gradients = [each.grad for each in parameters if each.grad is not None]
        *summed, terms_of_all = self.totals(*gradients, terms)
        for gradient, total in zip(gradients, summed, strict=True):
            gradient.copy_(total)
        return terms_of_all

    @torch.no_grad()
    def share_first(self, tensors: Sequence[Tensor]) -> None:
        with said_plainly(self):
            for each in tensors:
                dist.broadcast(each, 0)

    def from_first(self, make: Callable[[], Any]) -> Any:
        made = [make() if self.rank == 0 else None]
        with said_plainly(self):
            dist.broadcast_object_list(made, 0, group=self._patient)
        return made[0]

    def exchange(self, rows: Tensor, sent: Sequence[int], received: Sequence[int]) -> Tensor:
        self.bytes_exchanged += (len(rows) - sent[self.rank]) * rows[:1].nbytes
        got = rows.new_empty(sum(received), *rows.shape[1:])
        with said_plainly(self):
            dist.all_to_all_single(got, rows.contiguous(), list(received), list(sent))
        return got


ALONE = Ranks()
_CURRENT: ContextVar[Ranks] = ContextVar("ranks", default=ALONE)


def current_ranks() -> Ranks:
    """The ranks that share what is done now."""
    return _CURRENT.get()


@contextmanager
def shared_among(ranks: Ranks) -> Iterator[Ranks]:
    """Fits inside are shared by these ranks, each of which fits the same graph and labels."""
    token = _CURRENT.set(ranks)
    try:
        yield ranks
    finally:
        _CURRENT.reset(token)


@contextmanager
def said_plainly(ranks: Ranks) -> Iterator[None]:
    """What torch says when ranks cannot speak to each other, as a sentence."""
    try:
        yield
    except RuntimeError as problem:
        reason = shortened(str(problem).partition("\n")[0].rpartition("] ")[2].partition(". ")[0])
        raise RanksError(
            f"rank {ranks.rank} of {ranks.size}: another rank is gone, or silent for {TIMEOUT.seconds} s ({reason}); "
            "repeat the command to go on from what was kept, or let torchrun do it: --max-restarts 3"
        ) from None
