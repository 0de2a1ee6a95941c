"""Tables of an experiment in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import numpy as np

from pine.reproduce.cells import Cell, Grid, grids
from pine.reproduce.experiment import Experiment
from pine.reproduce.maps import by_chance, purity
from pine.reproduce.rows import Row

METRICS = {"accuracy": "accuracy", "micro_f1": "micro F1", "macro_f1": "macro F1"}


def tables(experiment: Experiment, rows: Sequence[Row]) -> str:
    """All tables of an experiment, with its notes."""
    notes = "".join(f"\n{note}\n" for note in experiment.notes)
    if experiment.kind == "inductive":
        return "\n".join(f"{table}{notes}" for table in _inductive(experiment, rows))
    made = {"scores": _scores, "maps": _maps, "approximation": _approximation}[experiment.kind](experiment, rows)
    return f"{made}{notes}"


def _scores(experiment: Experiment, rows: Sequence[Row]) -> str:
    return "\n".join(_grid(grid, experiment) for grid in grids(rows, experiment.metrics))


def _grid(grid: Grid, experiment: Experiment) -> str:
    head = ["method", *(x_name(grid, x) for x in grid.xs), "s"]
    lines = [f"**{grid_title(grid)}**", "", _line(head), "|---" * len(head) + "|"]
    best = {x: max(grid.means(x).values()) for x in grid.xs} if len(grid.methods) > 1 else {}
    for method in grid.methods:
        own = [grid.cells.get((method, x)) for x in grid.xs]
        texts = [_cell(cell, x, best) for cell, x in zip(own, grid.xs, strict=True)]
        seconds = [cell.seconds for cell in own if cell is not None and cell.values]
        lines.append(_line([method, *texts, f"{np.mean(seconds):.1f}" if seconds else ""]))
    return "\n".join([*lines, ""])


def grid_title(grid: Grid) -> str:
    """Data set, panel and metric."""
    return ", ".join(part for part in (grid.dataset, grid.panel, METRICS.get(grid.metric, grid.metric)) if part)


def x_name(grid: Grid, x: float) -> str:
    """An x as a column's head."""
    return f"{x:g}" if grid.by_value else f"{100 * x:g} %"


def _cell(cell: Cell | None, x: float, best: dict[float, float]) -> str:
    if cell is None:
        return ""
    if not cell.values:
        return f"— ({cell.stopped.partition(':')[0]})"
    text = f"{100 * cell.mean:.1f}" + (f" ±{100 * cell.deviation:.1f}" if len(cell.values) > 1 else "")
    text = f"**{text}**" if cell.mean == best.get(x) else text
    return text if len(cell.values) == cell.repeats else f"{text} ({len(cell.values)} of {cell.repeats})"


def _inductive(experiment: Experiment, rows: Sequence[Row]) -> list[str]:
    """A table for each panel: the score on validation and on test graphs, and what was chosen by the former."""
    made = []
    for test, validation in zip(grids(rows, experiment.metrics), grids(rows, ["validation"]), strict=True):
        (x,) = test.xs
        head = ["method", "validation", "test", "epochs", "s", "chosen on validation"]
        lines = [f"**{grid_title(test)}**", "", _line(head), "|---" * len(head) + "|"]
        best = {x: max(test.means(x).values())}
        for method in test.methods:
            cell = test.cells[method, x]
            own = [r for r in rows if (r["dataset"], r["panel"], r["method"]) == (test.dataset, test.panel, method)]
            epochs = f"{np.mean([r['epochs'] for r in own if not r['stopped']]):.0f}" if cell.values else ""
            numbers = [_cell(validation.cells[method, x], x, {}), _cell(cell, x, best)]
            seconds = f"{cell.seconds:.1f}" if cell.values else ""
            lines.append(_line([method, *numbers, epochs, seconds, _choice(experiment, test.panel, own[0])]))
        made.append("\n".join([*lines, ""]))
    return made


def _choice(experiment: Experiment, panel: str, row: Row) -> str:
    """What a method with several candidates took: the name of the line that shows the same, or the spec."""
    own = [method for method in experiment.methods if method.panel == panel]
    if not any(method.name == row["method"] and method.search for method in own):
        return ""
    same = [method.name for method in own if method.spec == row["spec"] and not method.search]
    return same[0] if same else str(row["spec"])


def _maps(experiment: Experiment, rows: Sequence[Row]) -> str:
    head = ["data set", "test nodes", "right", "purity of true classes", "of predicted classes", "by chance"]
    lines = [_line(head), "|---" * len(head) + "|"]
    for name, own in by_dataset(rows).items():
        places, truth, predicted = arrays(own)
        right = (truth == predicted).mean()
        numbers = [right, purity(places, truth), purity(places, predicted), by_chance(truth)]
        lines.append(_line([name, f"{len(own):,}", *(f"{100 * number:.1f}" for number in numbers)]))
    return "\n".join([*lines, ""])


def by_dataset(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Rows of maps, by data set."""
    return {name: [r for r in rows if r["dataset"] == name] for name in dict.fromkeys(r["dataset"] for r in rows)}


def arrays(rows: Sequence[Row]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places (n, 2), true and predicted classes (n,) of one map."""
    places = np.array([(row["x"], row["y"]) for row in rows], np.float64)
    return places, np.array([r["true"] for r in rows], np.int64), np.array([r["predicted"] for r in rows], np.int64)


def _approximation(experiment: Experiment, rows: Sequence[Row]) -> str:
    sizes = sorted({row["size"] for row in rows})
    lines = [_line(["median error, by size", *map(str, sizes)]), "|---" * (len(sizes) + 1) + "|"]
    for target in dict.fromkeys(row["target"] for row in rows):
        found = [median(r["error"] for r in rows if (r["target"], r["size"]) == (target, size)) for size in sizes]
        lines.append(_line([target, *(f"{error:.4f}" for error in found)]))
    return "\n".join([*lines, ""])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
