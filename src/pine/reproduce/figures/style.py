"""What figures share: a color and marker for each method, a title above, notes below panels and a caption."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from pine.evaluation.protocol import PUBLIC
from pine.plots import COLORS
from pine.reproduce.tables import Grid

STARS = ("*", (3, 1, 0), (4, 1, 0), (6, 1, 0), (4, 1, 45), (3, 1, 180))  # look smaller than other markers
MARKERS = (*"osD^vP*X<>phd", *STARS[1:])
LETTERS_PER_INCH = 15.5  # of small text
TITLE_LETTERS_PER_INCH = 9.5
SMALL_TEXT = 8.5  # points
GRAY = "#555555"
NO_BREAK = "\u00a0"  # a space at which no line ends


# Methods that keep their color and marker from figure to figure, as far as they meet no other with the same. Those in
# one line are in no figure together.
USUAL = (
    ("PINE",),
    ("DeepWalk", "SGC"),
    ("node2vec", "APPNP"),
    ("struc2vec", "R-GCN", "MLP"),
    ("GraphWave", "link-based", "GCNII"),
    ("WYS", "metapath2vec++", "GRAND", "GraphSAGE-pool"),
    ("MMDW", "logistic regression", "GraphSAGE-mean"),
    ("Planetoid", "GraphSAGE"),
    ("GCN",),
    ("GAT",),
    ("label propagation",),
    ("PINE, untyped", "PINE without features"),
)


def method_styles(methods: Sequence[str]) -> dict[str, dict[str, Any]]:
    """A color and a marker for each method, its usual ones if it has any; the first is thick, and below the others."""
    styles = {}
    for place, (method, number) in enumerate(_numbers(methods).items()):
        marker = MARKERS[number % len(MARKERS)]
        styles[method] = {
            "color": COLORS[number % len(COLORS)],
            "marker": marker,
            "linestyle": "-" if number < len(COLORS) else "--",
            "linewidth": 1.2 if place else 2.6,
            "markersize": (5.5 if place else 6.5) * (1.6 if marker in STARS else 1),
            "markeredgecolor": "white",
            "markeredgewidth": 0.5,
            "zorder": 4 if place else 3,
            "label": method,
        }
    return styles


def _numbers(methods: Sequence[str]) -> dict[str, int]:
    """The number of each method's color, no two the same."""
    usual = {name: number for number, names in enumerate(USUAL) for name in names}
    found: dict[str, int] = {}
    for method in methods:
        number = usual.get(method, usual.get(method.removesuffix(", untyped")))
        if number is not None and number not in found.values():
            found[method] = number
    left = (number for number in range(len(USUAL) + len(methods)) if number not in found.values())
    return {method: found[method] if method in found else next(left) for method in methods}


def add_title(figure: Any, text: str) -> None:
    """Bold text above all panels, in lines that fit the figure."""
    lines = textwrap.fill(text, int(TITLE_LETTERS_PER_INCH * figure.get_figwidth()))
    figure.suptitle(lines, x=0.01, ha="left", fontsize=12, fontweight="bold")


def add_caption(figure: Any, text: str) -> None:
    """Small text below all panels, in lines that fit the figure."""
    lines = textwrap.fill(text, int(LETTERS_PER_INCH * figure.get_figwidth()))
    figure.supxlabel(lines, x=0.01, ha="left", fontsize=SMALL_TEXT, color=GRAY)


def add_note(ax: Any, text: str, width: float, below: float) -> None:
    """Small text below one panel that is so many inches wide, so many points below its axis."""
    at = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "top", "annotation_clip": False}
    lines = textwrap.fill(text, int(LETTERS_PER_INCH * width))
    ax.annotate(lines, (0, 0), xytext=(0, -below), fontsize=SMALL_TEXT, color=GRAY, **at)


def sample_text(panels: Sequence[Grid], unit: str = "splits") -> str:
    """Over what means and deviations are taken: "5 splits, of the public split 20 seeds"."""
    ratios = [cell.repeats for grid in panels for (_, x), cell in grid.cells.items() if x != PUBLIC]
    public = [cell.repeats for grid in panels for (_, x), cell in grid.cells.items() if x == PUBLIC]
    texts = [f"{_range(ratios)} {unit}"] if ratios else []
    texts += [f"{_range(public)} seeds on the public split"] if public else []
    partial = any(0 < len(cell.values) < cell.repeats for grid in panels for cell in grid.cells.values())
    return " and ".join(texts) + (" (fewer where not all finished)" if partial else "")


def _range(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"


def ranges_text(ranges: Mapping[str, Sequence[float]]) -> str:
    """Numbers of methods, lowest to highest: "struc2vec 51.9 to 60.6, GraphWave 44.6 to 49.3"."""
    ends = {method: (number_text(min(numbers)), number_text(max(numbers))) for method, numbers in ranges.items()}
    texts = [f"{method} {low}" + (f" to {high}" if high != low else "") for method, (low, high) in ends.items()]
    return ", ".join(text.replace(" ", NO_BREAK) for text in texts)


def number_text(number: float) -> str:
    """To one decimal, with a real minus."""
    return f"{number:.1f}".replace("-", "\u2212")
