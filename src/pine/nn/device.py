"""The device that a user asks for."""

from __future__ import annotations

import torch

from pine.errors import DeviceError


def device_of(wanted: str) -> torch.device:
    """The device that is asked for; "auto": a GPU where there is one."""
    if wanted == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=wanted).device
    except (RuntimeError, AssertionError, TypeError) as problem:
        said = str(problem).splitlines()[0]
        raise DeviceError(f"device {wanted!r} cannot be used here ({said}); use 'auto', 'cpu' or 'cuda'") from None
