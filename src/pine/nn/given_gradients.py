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
        gradients, factor = ctx.saved_tensors, grad[0]
        nothing = [None] * len(gradients)
        if grad.device.type == "cpu":  # to look at a number, a GPU would have to wait
            if not (grad == factor).all():
                raise RuntimeError("the terms of the loss have a gradient of their sum alone: call backward on the sum")
            if factor == 1:
                return None, None, *gradients, *nothing
        return None, None, *(factor * each for each in gradients), *nothing
