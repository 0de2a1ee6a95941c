"""Scores against the ratio of labeled nodes, or the value of a setting: a line a method.

Where there are many methods, a second panel shows how far each is from the first on the same splits. Methods far below
all others would press them together: their ranges are written below the panel instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pine.evaluation.protocol import PUBLIC
from pine.reproduce.figures.style import add_caption, add_note, add_title, method_styles, ranges_text, sample_text
from pine.reproduce.tables import METRICS, Grid, X, x_name

LOG_AXIS_FACTOR = 8  # values that span this or more are drawn on a logarithmic axis
PANELS_PER_ROW = 3
PANEL_WIDTH = 4.4  # inches
AXIS_WIDTH = 3.7  # inches, of it without numbers and label
CROWDED = 5  # more methods than these in one panel lie on each other
FAR_FROM_BEST = 15  # points below the best at every x: a method further down is not drawn
LOWEST_GAP = -8  # points below the first method: the lower end of the panel that compares closely
DODGE = 0.45  # percent of labeled nodes between the bars of two methods
PUBLIC_GAP = 15  # percent of labeled nodes by which the public split stands left of the lowest ratio

Line = dict[X, tuple[float, float]]  # mean and deviation by x


@dataclass(frozen=True)
class Panel:
    """The lines of a grid by method, and those that are not drawn. Panels of one quantity share the range of y."""

    grid: Grid
    quantity: str
    label: str
    lines: dict[str, Line]
    far: dict[str, Line]
    dodge: float = 0.0
    lowest: float = -np.inf  # the range of y does not go below it

    @property
    def note(self) -> str:
        """What is not drawn, and what nothing is known of."""
        ranges = {method: [mean for mean, _ in line.values()] for method, line in self.far.items() if line}
        empty = [method for method in self.grid.methods if not (self.lines | self.far).get(method)]
        texts = [f"not drawn: {ranges_text(ranges)}"] if ranges else []
        texts += [f"below the panel: {ranges_text(self.below)}"] if self.below else []
        return "; ".join(texts + ([f"not finished: {', '.join(empty)}"] if empty else []))

    @property
    def below(self) -> dict[str, list[float]]:
        """Points of lines that are drawn, further down than the range of y."""
        found = {m: [mean for mean, _ in line.values() if mean < self.lowest] for m, line in self.lines.items()}
        return {method: points for method, points in found.items() if points}

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest end of a bar."""
        points = [point for line in self.lines.values() for point in line.values()]
        low = min((mean - deviation for mean, deviation in points), default=0.0)
        return max(low, self.lowest), max((mean + deviation for mean, deviation in points), default=1.0)


def lines_figure(dataset: str, grids: Sequence[Grid]) -> Any:
    """The grids of one data set; the legend has the methods in the order in which their lines end."""
    from matplotlib.figure import Figure

    panels = [panel for grid in grids for panel in ([means(grid), gaps(grid)] if _crowded(grid) else [means(grid)])]
    across = _panels_across(len(panels), paired=any(map(_crowded, grids)))
    down = -(-len(panels) // across)
    figure = Figure(figsize=(1.7 + PANEL_WIDTH * across, 3.9 * down + 0.9), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False).ravel()
    styles = method_styles(list(dict.fromkeys(method for grid in grids for method in grid.methods)))
    for number, (ax, panel) in enumerate(zip(axes, panels, strict=False)):
        _draw(ax, panel, styles)
        if number % across == 0 or panel.label != panels[number - 1].label:
            ax.set_ylabel(panel.label)
        ax.set_ylim(_shared_range(panel.quantity, panels))
    for ax in axes[len(panels) :]:
        ax.set_visible(False)
    _legend(figure, panels, styles)
    add_title(figure, dataset)
    add_caption(figure, _caption(panels))
    return figure


def _panels_across(count: int, paired: bool) -> int:
    """In rows of as many panels as can be; of a crowded grid, the two that belong together are a row."""
    if paired:
        return min(2, count)
    return -(-count // -(-count // PANELS_PER_ROW))


def _crowded(grid: Grid) -> bool:
    return len(grid.methods) > CROWDED and not grid.by_value


def means(grid: Grid) -> Panel:
    """Mean and deviation of each method; what is far below the best at every x is left out."""
    cells = {key: cell for key, cell in grid.cells.items() if cell.values}
    lines: dict[str, Line] = {
        method: {
            x: (100 * cells[method, x].mean, 100 * cells[method, x].deviation) for x in grid.xs if (method, x) in cells
        }
        for method in grid.methods
    }
    best = {x: max(line[x][0] for line in lines.values() if x in line) for _, x in cells}
    far = {
        method: line
        for method, line in lines.items()
        if line and all(mean < best[x] - FAR_FROM_BEST for x, (mean, _) in line.items())
    }
    near = {method: line for method, line in lines.items() if line and method not in far}
    return Panel(grid, "score", f"{METRICS.get(grid.metric, grid.metric)} (%)", near, far)


def gaps(grid: Grid) -> Panel:
    """What each has more than the first on the same splits; what is far below at most xs is left out."""
    lines: dict[str, Line] = {}
    for method in grid.methods:
        found = {x: grid.gap(method, x) for x in grid.xs}
        lines[method] = {x: gap for x, gap in found.items() if gap is not None}
    known = {method: line for method, line in lines.items() if line}
    far = {m: line for m, line in known.items() if np.median([mean for mean, _ in line.values()]) < LOWEST_GAP}
    near = {method: line for method, line in known.items() if method not in far}
    return Panel(grid, "gap", f"points above {grid.methods[0]}", near, far, DODGE, LOWEST_GAP)


def _shared_range(quantity: str, panels: Sequence[Panel]) -> tuple[float, float]:
    """The range of y of all panels of one quantity."""
    ends = [panel.ends for panel in panels if panel.quantity == quantity]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    margin = 0.04 * (high - low) or 1.0
    return low - margin, high + margin


def _draw(ax: Any, panel: Panel, styles: Mapping[str, Mapping[str, Any]]) -> None:
    methods = panel.grid.methods
    for method, line in panel.lines.items():
        aside = panel.dodge * (methods.index(method) - len(methods) / 2)  # so that bars do not hide each other
        _line(ax, panel, line, styles[method], aside)
    ax.grid(alpha=0.3, linewidth=0.5)
    rotated = _x_axis(ax, panel.grid)
    if panel.note:
        add_note(ax, panel.note, AXIS_WIDTH, below=48 if rotated else 34)


def _line(ax: Any, panel: Panel, line: Line, style: Mapping[str, Any], aside: float) -> None:
    """Points with thin bars, and a line between those at numbers; a point below the panel has no bar."""
    drawn = [
        (_position(panel.grid, x) + aside, mean, deviation if mean > panel.lowest else np.nan)
        for x, (mean, deviation) in line.items()
    ]
    if PUBLIC in line and len(line) > 1:
        drawn.insert(1, (np.nan, np.nan, np.nan))  # where the line is broken
    xs, values, deviations = ([point[i] for point in drawn] for i in range(3))
    _, caps, bars = ax.errorbar(xs, values, deviations, capsize=1.5, elinewidth=0.9, **style)
    for part in (*caps, *bars):
        part.set(alpha=0.6, zorder=2)


def _position(grid: Grid, x: X) -> float:
    """Where an x stands on the axis: a value at itself, a ratio in percent, the public split left of all ratios."""
    if x == PUBLIC:
        return 100 * min(grid.shares, default=0.0) - PUBLIC_GAP
    return x if grid.by_value else 100 * x


def _x_axis(ax: Any, grid: Grid) -> bool:
    """Ticks and label; whether the numbers are rotated."""
    if not grid.by_value:
        ax.set_xlabel("labeled nodes (%)")
        at = [_position(grid, x) for x in grid.xs]
        ax.set_xticks(at, [PUBLIC if x == PUBLIC else f"{100 * x:g}" for x in grid.xs])
        return False
    values = grid.shares
    if values[0] > 0 and values[-1] >= LOG_AXIS_FACTOR * values[0]:
        ax.set_xscale("log", base=2)
        ax.minorticks_off()
    rotated = len(values) > 6
    ax.set_xticks(values, [x_name(grid, x) for x in values], rotation=45 if rotated else 0)
    ax.set_xlabel(grid.panel or "value")
    return rotated


def _legend(figure: Any, panels: Sequence[Panel], styles: Mapping[str, Mapping[str, Any]]) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], **styles[method]) for method in reading_order(panels)]
    if len(handles) > 1:
        figure.legend(handles=handles, loc="outside right upper", frameon=False, fontsize=9.5, labelspacing=0.7)


def reading_order(panels: Sequence[Panel]) -> list[str]:
    """The methods that are drawn, from the one whose line ends highest; each by the first panel that shows it."""
    drawn = dict.fromkeys(method for panel in panels for method in panel.lines)
    by_panel = {method: next(n for n, panel in enumerate(panels) if method in panel.lines) for method in drawn}
    last = {method: list(panels[n].lines[method].values())[-1][0] for method, n in by_panel.items()}
    return sorted(drawn, key=lambda method: (by_panel[method], -last[method]))


def _caption(panels: Sequence[Panel]) -> str:
    text = f"Points and bars: mean and standard deviation over {sample_text([panel.grid for panel in panels])}."
    if any(panel.quantity == "gap" for panel in panels):
        first = panels[0].grid.methods[0]
        text += f" Points above {first}: differences on the same splits, moved aside so that bars can be seen."
    return text
