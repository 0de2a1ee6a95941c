"""Numbers of users that no float can hold."""

from __future__ import annotations

import math
from typing import Any


def as_float(value: Any) -> float:
    """The number as a float; infinity where it is too large to be one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
