"""What a training does, seen from outside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any
from unittest import mock

from pine.nn.adam import Adam


def steps_of(fit: Callable[[], Any]) -> list[int]:
    """How many steps each optimizer takes in a fit."""
    taken: Counter[Adam] = Counter()
    take = Adam.step

    def step(adam: Adam) -> None:
        taken[adam] += 1
        take(adam)

    with mock.patch.object(Adam, "step", step):
        fit()
    return list(taken.values())
