"""Tables in Markdown: what the kinds of experiments share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from pine.reproduce.cells import Cell, Grid

METRICS = {"accuracy": "accuracy", "micro_f1": "micro F1", "macro_f1": "macro F1"}


def markdown_table(head: Sequence[str], lines: Iterable[Sequence[str]], title: str = "") -> str:
    """A table, below its title in bold."""
    above = [f"**{title}**", ""] if title else []
    return "\n".join([*above, _line(head), "|---" * len(head) + "|", *map(_line, lines), ""])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def grid_table(grid: Grid) -> str:
    """A line a method, a column an x, and the mean seconds; the best of each column in bold."""
    best = {x: max(grid.means(x).values()) for x in grid.xs} if len(grid.methods) > 1 else {}
    lines = []
    for method in grid.methods:
        own = [grid.cells.get((method, x)) for x in grid.xs]
        texts = [cell_text(cell, x, best) for cell, x in zip(own, grid.xs, strict=True)]
        seconds = [cell.seconds for cell in own if cell is not None and cell.values]
        lines.append([method, *texts, f"{np.mean(seconds):.1f}" if seconds else ""])
    return markdown_table(["method", *(x_name(grid, x) for x in grid.xs), "s"], lines, grid_title(grid))


def grid_title(grid: Grid) -> str:
    """Data set, panel and metric."""
    return ", ".join(part for part in (grid.dataset, grid.panel, METRICS.get(grid.metric, grid.metric)) if part)


def x_name(grid: Grid, x: float) -> str:
    """An x as a column's head."""
    return f"{x:g}" if grid.by_value else f"{100 * x:g} %"


def cell_text(cell: Cell | None, x: float, best: dict[float, float]) -> str:
    """Mean and deviation in percent, bold where it is the best at x; without a number, why there is none."""
    if cell is None:
        return ""
    if not cell.values:
        return f"— ({cell.stopped.partition(':')[0]})"
    text = f"{100 * cell.mean:.1f}" + (f" ±{100 * cell.deviation:.1f}" if len(cell.values) > 1 else "")
    text = f"**{text}**" if cell.mean == best.get(x) else text
    return text if len(cell.values) == cell.repeats else f"{text} ({len(cell.values)} of {cell.repeats})"
