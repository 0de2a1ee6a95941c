"""Critical-difference diagram (Demsar 2006): average ranks on a line, methods that do not differ joined by a bar."""

from __future__ import annotations

import math
from typing import Any

from pine.plots import COLORS
from pine.reproduce.figures.style import GRAY, add_caption, add_title
from pine.reproduce.ranks import AverageRanks

NAME_HEIGHT = 0.26  # inches between the names of two methods
BAR_HEIGHT = 0.13  # inches between two bars


def rank_figure(title: str, found: AverageRanks, first: str) -> Any:
    """The better half of the methods at the left, the others at the right; the first, PINE, in its color."""
    from matplotlib.figure import Figure

    count = len(found.ranks)
    top = BAR_HEIGHT * (len(found.groups) + 1) + NAME_HEIGHT / 2  # inches from the axis to the first name
    at_left = -(-count // 2)
    depth = top + NAME_HEIGHT * at_left
    figure = Figure(figsize=(8.2, depth + 1.9), layout="constrained")
    ax = figure.subplots()
    low, high = 1, max(count, math.ceil(1 + found.critical_difference))
    ax.set(xlim=(low - (high - low) / 2, high + (high - low) / 2), ylim=(-depth, 0.75))
    ax.set_axis_off()
    _axis(ax, low, high, found.critical_difference)
    for number, (method, rank) in enumerate(found.ranks.items()):
        left = number < at_left
        height = -top - NAME_HEIGHT * (number if left else count - 1 - number)
        _name(ax, method, rank, height, low if left else high, own=method == first)
    for number, group in enumerate(found.groups):
        ends = [found.ranks[group[0]], found.ranks[group[-1]]]
        ax.plot(ends, [-BAR_HEIGHT * (number + 1)] * 2, color=COLORS[4], linewidth=4, solid_capstyle="round", zorder=4)
    add_title(figure, title)
    add_caption(figure, _caption(found))
    return figure


def _name(ax: Any, method: str, rank: float, height: float, side: float, own: bool) -> None:
    """A line from a rank down and out to the end of the axis on its side, and there the name."""
    left, color = side == 1, COLORS[0] if own else "black"
    ax.plot([rank, rank, side], [0, height, height], color=color, linewidth=1.8 if own else 0.9)
    text = f"{method}  {rank:.2f}" if left else f"{rank:.2f}  {method}"
    place: dict[str, Any] = {"xytext": (-5 if left else 5, 0), "textcoords": "offset points", "va": "center"}
    place |= {"ha": "right" if left else "left", "fontsize": 9.5, "fontweight": "bold" if own else "normal"}
    ax.annotate(text, (side, height), color=color, **place)


def _axis(ax: Any, low: int, high: int, difference: float) -> None:
    """The line of ranks, and above it how long the critical difference is."""
    ax.plot([low, high], [0, 0], color="black", linewidth=1.2)
    for rank in range(low, high + 1):
        ax.plot([rank, rank], [0, 0.07], color="black", linewidth=1.2)
        ax.text(rank, 0.1, str(rank), ha="center", va="bottom", fontsize=9.5)
    ax.plot([low, low + difference], [0.45, 0.45], color=GRAY, linewidth=1.2, marker="|", markersize=7)
    ax.text(low + difference / 2, 0.5, f"critical difference {difference:.2f}", ha="center", va="bottom", fontsize=9)


def _caption(found: AverageRanks) -> str:
    text = (
        f"Average ranks, 1 is best, over {found.num_datasets} data sets; within a data set they are averaged over its "
        "cells first, which are not independent. Methods joined by a bar do not differ by the Nemenyi test (p < .05)."
    )
    if found.unfinished:
        text += f" Left out, as they did not finish on every data set: {', '.join(found.unfinished)}."
    return text
