"""Figures of grids of scores: lines with error bars, or a row a method where there are few x."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pine._internal.files import atomic_write
from pine.evaluation.protocol import PUBLIC
from pine.plots import COLORS
from pine.reproduce.tables import METRICS, Grid, X, x_name

MARKERS = "osD^vP*X<>hp"
INKS = tuple("#808080" if color == "#F0E442" else color for color in COLORS)  # yellow is too light for a line
FIGURE_FORMATS = ("png", "svg")
LOG_AXIS_FACTOR = 8  # values that span more than this are drawn on a logarithmic axis
PANELS_PER_ROW = 3
CROWDED = 5  # more methods than these in one panel lie on each other
LOWEST_GAP = -8  # points below the first method: further down is not drawn where methods are compared closely
FAR_BELOW = 12  # points below the first method: further down is written at the edge, so as not to press the rest
DODGE = 0.45  # percent of labeled nodes between the bars of two methods
PUBLIC_GAP = 10  # percent of labeled nodes by which the public split stands left of the lowest ratio


def lines_figure(dataset: str, panels: Sequence[Grid]) -> Any:
    """The panels of one data set: a line a method; where there are many, also how far each is from the first."""
    from matplotlib.figure import Figure

    drawn = [(grid, draw) for grid in panels for draw in ([_means, _gaps] if _crowded(grid) else [_means])]
    across = min(PANELS_PER_ROW, len(drawn))
    down = -(-len(drawn) // across)
    figure = Figure(figsize=(1.5 + 4.4 * across, 3.9 * down + 0.5), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False).ravel()
    methods = list(dict.fromkeys(method for grid in panels for method in grid.methods))
    styles = {method: _style(number, method) for number, method in enumerate(methods)}
    for ax, (grid, draw) in zip(axes, drawn, strict=False):
        draw(ax, grid, styles)
        _x_axis(ax, grid)
        ax.grid(alpha=0.3, linewidth=0.5)
    for ax in axes[len(drawn) :]:
        ax.set_visible(False)
    figure.suptitle(dataset)
    named: dict[str, Any] = {}
    for ax in axes:
        named |= {label: handle for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    if len(named) > 1:
        figure.legend(named.values(), named.keys(), loc="outside right upper", frameon=False, fontsize=9)
    return figure


def _crowded(grid: Grid) -> bool:
    return len(grid.methods) > CROWDED and not grid.by_value


def _style(number: int, method: str) -> dict[str, Any]:
    return {
        "marker": MARKERS[number % len(MARKERS)],
        "color": INKS[number % len(INKS)],
        "linestyle": "-" if number < len(COLORS) else "--",
        "markersize": 5,
        "linewidth": 2 if number == 0 else 1.1,
        "capsize": 2,
        "label": method,
    }


def _means(ax: Any, grid: Grid, styles: dict[str, dict[str, Any]]) -> None:
    """Mean and deviation of each method."""
    for method in grid.methods:
        cells = {x: grid.cells[method, x] for x in grid.xs if _finished(grid, method, x)}
        _line(ax, grid, {x: (100 * cell.mean, 100 * cell.deviation) for x, cell in cells.items()}, styles[method])
    ax.set_ylabel(f"{METRICS.get(grid.metric, grid.metric)} (%)")


def _gaps(ax: Any, grid: Grid, styles: dict[str, dict[str, Any]]) -> None:
    """What each has more than the first on the same splits, mean and deviation; what is far below is left out."""
    first = grid.methods[0]
    for number, method in enumerate(grid.methods):
        xs = [x for x in grid.xs if grid.comparable(method, first, x)]
        found = [(x, np.subtract(grid.cells[method, x].values, grid.cells[first, x].values)) for x in xs]
        near = [(x, gap) for x, gap in found if gap.mean() > LOWEST_GAP / 100]
        aside = DODGE * (number - len(grid.methods) / 2)  # so that bars do not hide each other
        points = {x: (100 * gap.mean(), 100 * gap.std(ddof=1) if len(gap) > 1 else 0.0) for x, gap in near}
        _line(ax, grid, points, styles[method], aside)
    ax.set_ylim(bottom=LOWEST_GAP)
    ax.set_ylabel(f"points above {first}")


def _line(
    ax: Any, grid: Grid, points: Mapping[X, tuple[float, float]], style: Mapping[str, Any], aside: float = 0.0
) -> None:
    """Points with their bars, {x: (mean, deviation)}, and a line between those at numbers."""
    drawn = [(_position(grid, x) + aside, *point) for x, point in points.items()]
    if PUBLIC in points and len(points) > 1:
        drawn.insert(1, (np.nan, np.nan, np.nan))  # where the line is broken
    ax.errorbar(*([point[i] for point in drawn] for i in range(3)), **style)


def _position(grid: Grid, x: X) -> float:
    """Where an x stands on the axis: a value at itself, a ratio in percent, the public split left of all ratios."""
    if x == PUBLIC:
        return 100 * min(grid.shares, default=0.0) - PUBLIC_GAP
    return x if grid.by_value else 100 * x


def _finished(grid: Grid, method: str, x: X) -> bool:
    return (method, x) in grid.cells and bool(grid.cells[method, x].values)


def rows_figure(dataset: str, panels: Sequence[Grid]) -> Any:
    """A panel for each metric and ratio: a row a method, mean and deviation, and a line at the first method's mean."""
    from matplotlib.figure import Figure

    entries = [(grid, x) for grid in panels for x in grid.xs]
    methods = panels[0].methods
    figure = Figure(figsize=(2.2 + 3.6 * len(entries), 1.3 + 0.33 * len(methods)), layout="constrained")
    axes = figure.subplots(1, len(entries), squeeze=False, sharey=True)[0]
    for ax, (grid, x) in zip(axes, entries, strict=True):
        _points(ax, grid, x, methods)
        ax.set_xlabel(f"{METRICS.get(grid.metric, grid.metric)} (%), {_share(grid, x)}")
    axes[0].invert_yaxis()
    figure.suptitle(dataset)
    return figure


def _share(grid: Grid, x: X) -> str:
    return "public split" if x == PUBLIC else f"{x_name(grid, x)} labeled"


def panels_figure(title: str, panels: Sequence[Grid]) -> Any:
    """A panel for each setting, with methods of its own, drawn as in rows_figure."""
    from matplotlib.figure import Figure

    most = max(len(grid.methods) for grid in panels)
    figure = Figure(figsize=(1.0 + 5.2 * len(panels), 1.5 + 0.36 * most), layout="constrained")
    for ax, grid in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        _points(ax, grid, grid.xs[0], grid.methods)
        ax.set_xlabel(f"test {METRICS.get(grid.metric, grid.metric)} (%)")
        ax.set_title(grid.panel, fontsize=10)
        ax.locator_params(axis="x", nbins=6)
        ax.invert_yaxis()
    figure.suptitle(title)
    return figure


def _points(ax: Any, grid: Grid, x: X, methods: Sequence[str]) -> None:
    """A row a method, mean and deviation at one x, and a line at the first method's mean."""
    least = -np.inf
    if _finished(grid, methods[0], x):
        first = 100 * grid.cells[methods[0], x].mean
        ax.axvline(first, color=COLORS[0], linewidth=0.8, alpha=0.6)
        least = first - FAR_BELOW
    for row, method in enumerate(methods):
        if not _finished(grid, method, x):
            continue
        mean, deviation = 100 * grid.cells[method, x].mean, 100 * grid.cells[method, x].deviation
        color, marker = COLORS[1 if row else 0], MARKERS[1 if row else 0]
        if mean < least:
            edge = {"transform": ax.get_yaxis_transform(), "va": "center", "fontsize": 9}
            ax.text(0.02, row, f"\u25c2 {mean:.1f} \u00b1{deviation:.1f}", **edge)
        else:
            ax.errorbar(mean, row, xerr=deviation, marker=marker, color=color, capsize=2)
    ax.set_yticks(range(len(methods)), methods)
    ax.set_ylim(-0.7, len(methods) - 0.3)
    ax.grid(alpha=0.3, linewidth=0.5)


def _x_axis(ax: Any, grid: Grid) -> None:
    if not grid.by_value:
        ax.set_xlabel("labeled nodes (%)")
        at = [_position(grid, x) for x in grid.xs]
        ax.set_xticks(at, [PUBLIC if x == PUBLIC else f"{100 * x:g}" for x in grid.xs])
        return
    values = grid.shares
    if values[0] > 0 and values[-1] > LOG_AXIS_FACTOR * values[0]:
        ax.set_xscale("log", base=2)
        ax.minorticks_off()
    ax.set_xticks(values, [x_name(grid, x) for x in values], rotation=45 if len(values) > 6 else 0)
    ax.set_xlabel(grid.panel or "value")


def save_figure(figure: Any, stem: Path) -> Path:
    """Write a figure as PNG and SVG: the PNG file."""
    for form in FIGURE_FORMATS:
        with atomic_write(stem.with_name(f"{stem.name}.{form}")) as file:
            figure.savefig(file, dpi=150, format=form)
    return stem.with_name(f"{stem.name}.png")
