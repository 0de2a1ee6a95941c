"""Dropout by a generator of one's own: values are 0 with a chance, and what is left grows to the same mean."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from pine.errors import InputError


def dropped(x: Tensor, chance: float, generator: torch.Generator | None, shape: Sequence[int] | None = None) -> Tensor:
    """x times a random mask, of a shape that broadcasts to x's where values are to be dropped together."""
    if chance == 0:
        return x
    if generator is None:
        raise InputError("dropout draws from a generator: pass generator=torch.Generator(), or call .eval()")
    keep = 1 - chance
    drawn = torch.rand(x.shape if shape is None else shape, generator=generator, dtype=x.dtype, device=x.device)
    return x * drawn.lt_(keep).div_(keep)
