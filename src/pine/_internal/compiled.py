"""Machine code for loops over arrays: numba, without the interpreter's lock, compiled once and kept on disk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function on its first call; several threads may run it side by side."""
    return cast(Function, njit(nogil=True, cache=True)(function))
