"""Models that tests share."""

from __future__ import annotations

from typing import Any

from pine import PINE


def pine_with(**settings: Any) -> PINE:
    """PINE with settings by their own names, also those inside its settings objects."""
    return PINE().set_params(**settings)
