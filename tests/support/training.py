"""What a training does, seen from outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.optim.optimizer import register_optimizer_step_post_hook


def steps_of(fit: Callable[[], Any]) -> list[int]:
    """How many steps each optimizer takes in a fit."""
    taken: dict[int, int] = {}
    alive = []  # so that no two optimizers have the same id

    def count(optimizer, args, kwargs):
        alive.append(optimizer)
        taken[id(optimizer)] = taken.get(id(optimizer), 0) + 1

    hook = register_optimizer_step_post_hook(count)
    try:
        fit()
    finally:
        hook.remove()
    return list(taken.values())
