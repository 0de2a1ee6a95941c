"""Where the kernels written in Triton run: on CUDA devices from Ampere on, where Triton is installed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor


@cache
def runs_triton(device: torch.device) -> bool:
    # Older devices have no matrix units for bfloat16.
    return (
        device.type == "cuda" and find_spec("triton") is not None and torch.cuda.get_device_capability(device) >= (8, 0)
    )


def kernel(function: Callable[..., None]) -> Any:
    """Compile a kernel on its first launch; kernel[grid](...) launches it."""
    return kernel_for_any()(function)


def kernel_for_any(*integers: str) -> Callable[[Callable[..., None]], Any]:
    """The same, one for any values of some integers, which are others at every launch."""
    import triton

    def compiled(function: Callable[..., None]) -> Any:
        return triton.jit(function, do_not_specialize=integers)

    return compiled


def on_device_of(x: Tensor) -> AbstractContextManager[Any]:
    """Kernels start on the current device, which need not be where x is."""
    return torch.cuda.device(x.device) if x.is_cuda else nullcontext()


@cache
def multiprocessors(device: torch.device) -> int:
    if device.type == "cpu":  # Triton's interpreter
        return 2
    return int(torch.cuda.get_device_properties(device).multi_processor_count)
