"""What training loops share: the device, torch's threads and generator left as they were found, early stopping."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from pine._internal.parallel import number_of_threads
from pine.errors import DeviceError
from pine.nn.threads import sleeping_threads

# What makes an epoch the best so far: loss and score both at their best (GAT's authors), the score and, of equal ones,
# the loss (APPNP's), or the loss (GRAND's); "loss alone" does not wait for the score either (GCNII's).
Criterion = Literal["both", "score", "loss", "loss alone"]


def device_of(wanted: str) -> torch.device:
    """The device that is asked for; "auto": a GPU where there is one."""
    if wanted == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        made = torch.zeros(1, device=wanted)
        made.item()  # torch also has devices that hold no numbers
        return made.device
    except (RuntimeError, AssertionError, TypeError) as problem:
        reason = str(problem).splitlines()[0]
        raise DeviceError(f"device {wanted!r} cannot be used here ({reason}); use 'auto', 'cpu' or 'cuda'") from None


@contextmanager
def torch_threads(threads: int | None) -> Iterator[None]:
    """Work on so many threads that sleep while they wait (None: as many as torch has), torch itself on one."""
    with sleeping_threads(threads):
        yield


@contextmanager
def own_torch_modes() -> Iterator[None]:
    """Gradients and float32 as training needs them, also inside torch.no_grad, torch.inference_mode, or where the
    default dtype is another."""
    dtype = torch.get_default_dtype()
    if dtype != torch.float32:
        torch.set_default_dtype(torch.float32)
    try:
        with torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        if dtype != torch.float32:
            torch.set_default_dtype(dtype)


@contextmanager
def torch_left_alone(threads: int | None) -> Iterator[None]:
    """Let torch use so many threads, and give their number and its CPU generator back as they were."""
    before = torch.get_num_threads()
    try:
        if threads is not None:
            torch.set_num_threads(number_of_threads(threads))
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        torch.set_num_threads(before)


def seed_torch(rng: np.random.Generator, device: torch.device) -> torch.Generator:
    """A generator for training; torch's own, from which the layers of PyG draw their start, is seeded too."""
    seeds = rng.integers(2**62, size=2)
    torch.default_generator.manual_seed(int(seeds[0]))  # torch_left_alone restores it
    return torch.Generator(device).manual_seed(int(seeds[1]))


@dataclass
class EarlyStopping:
    """Training ends when neither the held-out loss nor the held-out score was at its best for a while.

    best_epoch is the last epoch that was the best so far, by the criterion.
    """

    patience: int  # epochs to wait
    criterion: Criterion = "both"
    best_epoch: int = 1
    waited: int = 0
    loss: float = float("inf")
    score: float = float("-inf")
    best: tuple[float, float] = (float("-inf"), float("-inf"))

    def ends(self, epoch: int, loss: float, score: float) -> bool:
        """Whether the epoch, counted from 1, is the last."""
        if self.criterion == "loss alone":
            score = -loss
        rank = (score, -loss) if self.criterion == "score" else (-loss, 0.0)
        if (loss <= self.loss and score >= self.score) if self.criterion == "both" else rank >= self.best:
            self.best_epoch, self.best = epoch, rank
        self.waited = 0 if loss <= self.loss or score >= self.score else self.waited + 1
        self.loss, self.score = min(self.loss, loss), max(self.score, score)
        return self.waited == self.patience
