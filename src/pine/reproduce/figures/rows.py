"""A row a method: how far each is from the first on the same splits, and beside it the score itself as text."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from pine.evaluation.protocol import PUBLIC
from pine.plots import COLORS
from pine.reproduce.figures.style import add_caption, add_title, number_text, sample_text
from pine.reproduce.tables import METRICS, Grid, X, cell_text, x_name

FAR_FROM_FIRST = 10  # points below the first method: further down is marked at the edge, so as not to press the rest
ROW_HEIGHT = 0.33  # inches
AXIS_LETTERS = 36  # in a line below a panel
MOST_TICKS = 5

Gap = tuple[float, float]  # mean and standard deviation, in points


def rows_figure(dataset: str, grids: Sequence[Grid]) -> Any:
    """A panel for each metric and ratio, with the same methods in all; below each other the metrics."""
    entries = [(grid, x) for grid in grids for x in grid.xs]
    titles = [f"{METRICS.get(grid.metric, grid.metric)}, {_share(grid, x)}" for grid, x in entries]
    down = len(grids) if len({len(grid.xs) for grid in grids}) == 1 else 1
    return _figure(dataset, entries, titles, "splits", same_methods=True, down=down)


def _share(grid: Grid, x: X) -> str:
    return "public split" if x == PUBLIC else f"{x_name(grid, x)} labeled"


def panels_figure(title: str, grids: Sequence[Grid]) -> Any:
    """A panel for each setting, with methods of its own."""
    entries = [(grid, grid.xs[0]) for grid in grids]
    titles = [f"{grid.panel or grid.dataset}, test {METRICS.get(grid.metric, grid.metric)}" for grid in grids]
    return _figure(title, entries, titles, "seeds", same_methods=False)


def _figure(
    title: str,
    entries: Sequence[tuple[Grid, X]],
    titles: Sequence[str],
    unit: str,
    same_methods: bool,
    down: int = 1,
) -> Any:
    """Panels side by side in so many rows, with one range of x."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    most = max(len(grid.methods) for grid, _ in entries)
    across = len(entries) // down
    names_width = 1.6 if same_methods else 1.6 * across
    size = (names_width + 4.2 * across, 0.8 + (1.1 + ROW_HEIGHT * most) * down)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(down, across, squeeze=False, sharey=same_methods).ravel()
    found = [_gaps(grid, x) for grid, x in entries]
    far = _far(found)
    low, high = _shared_range(found, far)
    for ax, (grid, x), gaps, name in zip(axes, entries, found, titles, strict=True):
        ax.set(xlim=(low, high), xlabel=textwrap.fill(f"points above {grid.methods[0]}", AXIS_LETTERS))
        ax.xaxis.set_major_locator(MaxNLocator(MOST_TICKS))
        ax.set_title(name, fontsize=10, loc="left")
        _rows(ax, grid, x, gaps, far)
    add_title(figure, title)
    sample = sample_text([grid for grid, _ in entries], unit)
    add_caption(figure, _caption(entries[0][0].methods[0], unit, sample, any_far=far > float("-inf")))
    return figure


def _gaps(grid: Grid, x: X) -> dict[str, Gap]:
    found = {method: grid.gap(method, x) for method in grid.methods}
    return {method: gap for method, gap in found.items() if gap is not None}


def _far(found: Sequence[dict[str, Gap]]) -> float:
    """Means at or below this are not drawn in any panel: the next one below what is near, and its bars."""
    left = sorted((gap for gaps in found for gap in gaps.values()), reverse=True)
    reach = -float(FAR_FROM_FIRST)
    while left and left[0][0] >= reach:
        mean, deviation = left.pop(0)
        reach = min(reach, mean - deviation)
    return left[0][0] if left else float("-inf")


def _shared_range(found: Sequence[dict[str, Gap]], far: float) -> tuple[float, float]:
    """From the lowest to the highest end of a bar in any panel, far ones aside."""
    near = [gap for gaps in found for gap in gaps.values() if gap[0] > far]
    low = min((mean - deviation for mean, deviation in near), default=-1.0)
    high = max((mean + deviation for mean, deviation in near), default=1.0)
    margin = 0.06 * (high - low) or 1.0
    return low - margin, high + margin


def _rows(ax: Any, grid: Grid, x: X, gaps: dict[str, Gap], far: float) -> None:
    """A point and a bar for each method, its score at the right; the first is the line at zero."""
    methods = grid.methods
    ax.axvline(0, color=COLORS[0], linewidth=1, alpha=0.7)
    beside = {"transform": ax.get_yaxis_transform(), "va": "center", "fontsize": 9}
    for row, method in enumerate(methods):
        ax.text(1.02, row, cell_text(grid.cells.get((method, x))), **beside)
        if method not in gaps:
            continue
        mean, deviation = gaps[method]
        if mean <= far:
            ax.text(0.02, row, f"\u25c2 {number_text(mean)}", **beside)
            continue
        style = {"color": COLORS[4], "marker": "s", "markersize": 5} if row else {"color": COLORS[0], "marker": "o"}
        ax.errorbar(mean, row, xerr=deviation if row else None, capsize=2, linewidth=1.4, **style)
    ax.set_yticks(range(len(methods)), methods)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(methods) - 0.4, -0.6)
    ax.grid(alpha=0.3, linewidth=0.5)


def _caption(first: str, unit: str, sample: str, any_far: bool) -> str:
    text = f"Points and bars: difference to {first} on the same {unit}, mean and standard deviation over"
    text += f" {sample}. At the right: the score in percent, mean \u00b1 standard deviation."
    return text + (" \u25c2 lies further left than is drawn." if any_far else "")
