"""The files that the page is made of, in the package; the scripts in the order in which they are loaded."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

FRAME, STYLE_SHEET = "page.html", "page.css"
SCRIPTS = (
    "data.js", "colors.js", "grid.js", "points.js", "camera.js", "overlay.js", "legend.js", "card.js", "search.js",
    "tables.js", "explorer.js",
)  # fmt: skip
PLACE_OF_FILES, PLACE_OF_DATA = "<!-- files -->", "<!-- data -->"


@cache
def page_file(name: str) -> str:
    """The text of one of them; never a name that someone else gave."""
    assert name in (FRAME, STYLE_SHEET, *SCRIPTS)
    return (files("pine.explore") / "page" / name).read_text(encoding="utf-8")


def served_page() -> str:
    """The page that asks its server for the rest."""
    tags = [
        f'<link rel="stylesheet" href="/{STYLE_SHEET}">',
        *(f'<script defer src="/{name}"></script>' for name in SCRIPTS),
    ]
    return page_file(FRAME).replace(PLACE_OF_FILES, "\n".join(tags)).replace(PLACE_OF_DATA, "")
