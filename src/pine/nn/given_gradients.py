"""Terms of a loss whose gradients were made with them, by hand: autograd is told, and makes nothing again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def with_gradients(
    terms: dict[str, Tensor], inputs: Sequence[Tensor], gradients: Sequence[Tensor]
) -> dict[str, Tensor]:
    """The terms, scalars to be summed: inputs have these gradients of the sum, and only of the sum."""
    totals = _GivenGradients.apply(torch.stack(list(terms.values())), len(inputs), *inputs, *gradients)  # type: ignore[no-untyped-call]
    return dict(zip(terms, totals.unbind(), strict=True))


class _GivenGradients(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, count: int, *inputs_and_gradients: Tensor) -> Tensor:
        ctx.save_for_backward(*inputs_and_gradients[count:])
        return values.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        if not (grad == grad[0]).all():
            raise RuntimeError("the terms of the loss have a gradient of their sum alone: call backward on the sum")
        gradients, factor = ctx.saved_tensors, float(grad[0])
        nothing = [None] * len(gradients)
        return None, None, *(each if factor == 1 else factor * each for each in gradients), *nothing
