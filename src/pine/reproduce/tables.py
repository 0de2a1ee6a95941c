"""Rows of scores gathered into cells and grids, and written as tables in Markdown: what the kinds share."""

from __future__ import annotations

import statistics
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pine.evaluation.paired_test import SIGNIFICANT, holm, paired_p_value
from pine.evaluation.protocol import PUBLIC, Ratio, ratio_name, ratio_order
from pine.reproduce.rows import Row

X = Ratio  # where a cell stands: at a ratio, the public split among them, or at the value of a setting


@dataclass(frozen=True)
class Cell:
    """What a method reached at one x over the repeats; without a number, why there is none."""

    values: tuple[float, ...]
    seconds: float | None  # of a fit, the mean; None where fits ran side by side
    stopped: str
    repeats: int  # finished or not

    @property
    def mean(self) -> float:
        """Minus infinity where nothing finished."""
        return statistics.mean(self.values) if self.values else float("-inf")

    @property
    def deviation(self) -> float:
        return statistics.stdev(self.values) if len(self.values) > 1 else 0.0

    @property
    def whole(self) -> bool:
        """Whether all repeats finished."""
        return 0 < len(self.values) == self.repeats


@dataclass(frozen=True)
class Grid:
    """One panel of a figure, and one table: methods by x, which is the ratio, or the value of a setting."""

    dataset: str
    panel: str
    metric: str
    by_value: bool
    cells: dict[tuple[str, X], Cell]  # by method and x

    @property
    def methods(self) -> list[str]:
        return list(dict.fromkeys(method for method, _ in self.cells))

    @property
    def xs(self) -> list[X]:
        return sorted({x for _, x in self.cells}, key=ratio_order)

    @property
    def shares(self) -> list[float]:
        """The xs that are numbers: all but the public split."""
        return [x for x in self.xs if x != PUBLIC]

    def without(self, names: Container[str]) -> Grid:
        """The same without some methods."""
        return replace(self, cells={key: cell for key, cell in self.cells.items() if key[0] not in names})

    def means(self, x: X) -> dict[str, float]:
        """The mean of every method at one x."""
        return {method: self.cells[method, x].mean for method in self.methods if (method, x) in self.cells}

    def ahead(self, method: str, x: X) -> list[str]:
        """Who is above a method at one x, the best first, no forms of it; all are where it has nothing."""
        leads = {name: self.lead(name, method, x) for name in self.means(x) if not is_form_of(name, method)}
        return sorted((name for name, lead in leads.items() if lead > 0), key=leads.__getitem__, reverse=True)

    def lead(self, method: str, other: str, x: X) -> float:
        """How far a method is above another: on the splits that both have, or if one did not finish, by their means."""
        if self.comparable(method, other, x):
            return float(np.mean(np.subtract(*self.paired(method, other, x))))
        means = self.means(x)
        return means.get(method, float("-inf")) - means.get(other, float("-inf"))

    def comparable(self, method: str, other: str, x: X) -> bool:
        """Whether both finished all their repeats: of fewer nobody knows here which they are."""
        cells = [self.cells.get((name, x)) for name in (method, other)]
        return all(cell is not None and cell.whole for cell in cells)

    def paired(self, method: str, other: str, x: X) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """What both reached on the splits that both have: the first ones, where one of them has fewer."""
        one, two = (self.cells[name, x].values for name in (method, other))
        both = min(len(one), len(two))
        return one[:both], two[:both]

    def gap(self, method: str, x: X) -> tuple[float, float] | None:
        """How far a method is from the first on the same splits, mean and deviation in points, if both are whole."""
        first = self.methods[0]
        if not self.comparable(method, first, x):
            return None
        gaps = 100 * np.subtract(*self.paired(method, first, x))
        return float(gaps.mean()), float(gaps.std(ddof=1)) if len(gaps) > 1 else 0.0

    def p_values(self, method: str, x: X, rivals: Iterable[str]) -> dict[str, float]:
        """Paired tests of a method against rivals at one x, with Holm's correction for their number."""
        others = [name for name in rivals if self.comparable(name, method, x)]
        return dict(zip(others, holm([paired_p_value(*self.paired(name, method, x)) for name in others]), strict=True))

    def clearly_ahead(self, method: str, x: X) -> list[str]:
        """Of those above a method at one x, the ones for which a paired test does not call that chance.

        The test is the plain one, without a correction for splits that overlap: it is stricter with the method.
        """
        whole = [name for name in self.ahead(method, x) if self.comparable(name, method, x)]
        return [name for name in whole if paired_p_value(*self.paired(name, method, x)) < SIGNIFICANT]

    def winner(self, x: X) -> str | None:
        """Who is ahead of all others at one x, for none of which a paired test calls that chance; forms are none."""
        means = {name: mean for name, mean in self.means(x).items() if self.cells[name, x].values}
        best = max(means, key=means.__getitem__, default="")
        rivals = [name for name in means if name != best and not (is_form_of(name, best) or is_form_of(best, name))]
        p_values = self.p_values(best, x, rivals) if rivals else {}
        return best if len(p_values) == len(rivals) > 0 and max(p_values.values()) < SIGNIFICANT else None


def is_form_of(name: str, method: str) -> bool:
    """Whether a method is another one with a setting changed: "PINE, untyped" is a form of "PINE", and no rival."""
    return name.startswith((f"{method} ", f"{method},"))


def grids(rows: Sequence[Row], metrics: Iterable[str]) -> list[Grid]:
    """The grids of an experiment; of one with values at several ratios, each ratio has its own."""
    made = []
    by_value = any(row["value"] is not None for row in rows)
    panels = dict.fromkeys((row["dataset"], row["panel"], row["ratio"] if by_value else None) for row in rows)
    several = len({ratio for _, _, ratio in panels}) > 1
    for dataset, panel, ratio in panels:
        own = [r for r in rows if (r["dataset"], r["panel"]) == (dataset, panel) and ratio in (None, r["ratio"])]
        name = f"{panel}, {ratio_name(ratio)}".removeprefix(", ") if several and ratio is not None else panel
        for metric in metrics:
            cells = {}
            for key in dict.fromkeys((r["method"], r["value"] if by_value else r["ratio"]) for r in own):
                runs = [r for r in own if (r["method"], r["value"] if by_value else r["ratio"]) == key]
                done = [r for r in runs if not r["stopped"]]
                alone = bool(done) and all(r.get("alone") for r in done)
                seconds = statistics.mean(r["seconds"] for r in done) if alone else None
                stopped = next((r["stopped"] for r in runs if r["stopped"]), "")
                cells[key] = Cell(tuple(r[metric] for r in done), seconds, stopped, len(runs))
            made.append(Grid(dataset, name, metric, by_value, cells))
    return made


METRICS = {
    "accuracy": "accuracy",
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
    "oracle_k_micro_f1": "micro F1, counts given",
    "oracle_k_macro_f1": "macro F1, counts given",
    "auc": "AUC",
    "average_precision": "average precision",
    "hits_at_10": "hits@10",
    "mrr": "MRR",
}


def markdown_table(head: Sequence[str], lines: Iterable[Sequence[str]], title: str = "") -> str:
    """A table, below its title in bold."""
    above = [f"**{title}**", ""] if title else []
    return "\n".join([*above, _line(head), "|---" * len(head) + "|", *map(_line, lines), ""])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def grid_table(grid: Grid) -> str:
    """A line a method, a column an x, and the mean seconds where they are known; who is clearly ahead in bold."""
    winners = {x: grid.winner(x) for x in grid.xs}
    timed = any(cell.seconds is not None for cell in grid.cells.values())
    lines = []
    for method in grid.methods:
        own = [grid.cells.get((method, x)) for x in grid.xs]
        texts = [cell_text(cell, bold=method == winners[x]) for cell, x in zip(own, grid.xs, strict=True)]
        lines.append([method, *texts, *([seconds_text(own)] if timed else [])])
    head = ["method", *(x_name(grid, x) for x in grid.xs), *(["s"] if timed else [])]
    return markdown_table(head, lines, grid_title(grid))


def seconds_text(cells: Iterable[Cell | None]) -> str:
    """The mean seconds of a fit over cells; "" where none is known."""
    known = [cell.seconds for cell in cells if cell is not None and cell.seconds is not None]
    return f"{np.mean(known):.1f}" if known else ""


def grid_title(grid: Grid) -> str:
    """Data set, panel and metric."""
    return ", ".join(part for part in (grid.dataset, grid.panel, METRICS.get(grid.metric, grid.metric)) if part)


def x_name(grid: Grid, x: X) -> str:
    """An x as a column's head."""
    return f"{x:g}" if grid.by_value else ratio_name(x)


def cell_text(cell: Cell | None, bold: bool = False) -> str:
    """Mean and deviation in percent; without a number, why there is none."""
    if cell is None:
        return ""
    if not cell.values:
        return f"— ({cell.stopped.partition(':')[0]})"
    text = f"{100 * cell.mean:.1f}" + (f" ±{100 * cell.deviation:.1f}" if len(cell.values) > 1 else "")
    text = f"**{text}**" if bold else text
    return text if cell.whole else f"{text} ({len(cell.values)} of {cell.repeats})"
