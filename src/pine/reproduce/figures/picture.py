"""A figure on disk: a PNG and an SVG file, and what it shows in words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pine._internal.files import atomic_write

FIGURE_FORMATS = ("png", "svg")
DPI = 150


@dataclass(frozen=True)
class Picture:
    """A PNG file, and a text for those who do not see it."""

    path: Path
    text: str


def save_figure(figure: Any, stem: Path, text: str) -> Picture:
    """Write a figure as PNG and SVG."""
    for form in FIGURE_FORMATS:
        with atomic_write(stem.with_name(f"{stem.name}.{form}")) as file:
            figure.savefig(file, dpi=DPI, format=form, metadata={"Title": text})
    return Picture(stem.with_name(f"{stem.name}.png"), text)
