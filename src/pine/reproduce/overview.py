"""The full run in a few tables: all methods with few, half and most of the labels, the same with node features and on
graphs used for no choice, and networks on unseen graphs.
"""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

import numpy as np

from pine.evaluation.protocol import PUBLIC, ratio_name
from pine.reproduce.catalog import experiments, find
from pine.reproduce.rows import read_rows
from pine.reproduce.significance import Tally, comparisons, without_parts
from pine.reproduce.tables import METRICS, Cell, Grid, X, grids, is_form_of, markdown_table

SHOWN_RATIOS = (PUBLIC, 0.1, 0.5, 0.9)
SHOWN = ("homogeneous", "heterogeneous", "features")
UNTOUCHED_EXPERIMENTS = ("untouched", "untouched-sets", "untouched-typed")  # graphs used for no choice
INDUCTIVE = "ppi"
NOT_MEASURED = "not-measured"
LADDER = "ladder"


def overview(folder: Path) -> dict[str, str]:
    """Tables in Markdown by the experiment that they are of, from the rows that `pine reproduce` wrote into a folder;
    last what was not measured.
    """
    made = {}
    for name in SHOWN:
        whole = find(name)
        some = grids(read_rows(folder / f"{name}.csv"), whole.metrics)
        notes = whole.notes[:1] if whole.features else []
        made[name] = [
            _table(some, "with node features, " if whole.features else ""),
            _outcomes(some, whole.undrawn),
            *notes,
        ]
    for name in UNTOUCHED_EXPERIMENTS:
        if (folder / f"{name}.csv").exists():
            whole = find(name)
            metrics = [metric for metric in whole.metrics if "macro" not in metric]
            some = grids(read_rows(folder / f"{name}.csv"), metrics)
            made[name] = [_table(some, "on graphs used for no choice, "), _outcomes(some, whole.undrawn)]
    whole = find(INDUCTIVE)
    made[INDUCTIVE] = [_inductive(grids(read_rows(folder / f"{INDUCTIVE}.csv"), whole.metrics)), whole.notes[0]]
    made[NOT_MEASURED] = _not_measured(folder)
    return {name: "\n\n".join(parts) for name, parts in made.items()}


def _not_measured(folder: Path) -> list[str]:
    """Experiments of the paper that a folder has no rows of, with the command for whoever has the files."""
    of_paper = [each for each in experiments().values() if each.place.startswith("Section")]
    missing = [each for each in of_paper if not (folder / f"{each.name}.csv").exists()]
    lines = [
        f"| {each.title} | not measured | `pine reproduce {each.name}`, for whoever has the files |" for each in missing
    ]
    return ["\n".join(["| of the paper | here | command |", "|---|---|---|", *lines])] if lines else []


def ladder(folder: Path) -> str:
    """From the printed method to the default: each step, the mean over the graphs at each ratio, what it adds."""
    whole = find(LADDER)
    some = grids(read_rows(folder / f"{LADDER}.csv"), whole.metrics)
    ratios = some[0].xs
    changes = {method.name: method.change for method in whole.methods}
    head = [f"mean accuracy on {len(some)} graphs", "print \u2192 here", *map(ratio_name, ratios)]
    head += ["step, points", "won, tied, lost"]
    lines, before = [], ""
    for method in some[0].methods:
        means = [float(np.mean([grid.means(x)[method] for grid in some])) for x in ratios]
        step = comparisons(some, method, before) if before else []
        tally = Tally.of(step, strict=False)
        leads = [np.mean([each.lead for each in step if each.x == x]) for x in ratios] if step else []
        outcome = f"{tally.wins}, {tally.ties}, {tally.losses}" if step else ""
        points = " ".join(f"{lead:+.1f}" for lead in leads)
        lines.append([method, changes[method], *map(_short, means), points, outcome])
        before = method
    return markdown_table(head, lines).strip()


def _short(mean: float) -> str:
    return f"{mean:.3f}".removeprefix("0")


def _outcomes(some: list[Grid], undrawn: Container[str]) -> str:
    """In how many cells of all ratios the first method is clearly ahead of all others, or behind one.

    undrawn: methods that are in tables alone, those with parts of the first one.
    """
    ours = some[0].methods[0]
    found = comparisons(some, ours)
    where = "On the public split and at all ratios" if PUBLIC in some[0].xs else "At all ratios"
    if not found:
        return f"{where}: nothing to test."
    tally, strict = (Tally.of(found, strict) for strict in (False, True))
    highest = sum(each.lead > 0 for each in found)
    return (
        f"{where}, against the best other of each cell: {ours} has the higher mean in {highest} of {len(found)}; by "
        f"paired t-tests (p < .05, Holm) {tally.wins} are won, {tally.ties} tied, {tally.losses} lost; corrected for "
        f"splits that share test nodes (Nadeau and Bengio) {strict.wins}, {strict.ties}, {strict.losses}."
        f"{_without_parts(some, ours, undrawn)} By the first of these tests, won, tied and lost against each alone: "
        f"{'; '.join(_alone(some, ours))}."
    )


def _without_parts(some: list[Grid], ours: str, undrawn: Container[str]) -> str:
    """The same against the methods that have no part of the first one."""
    found = without_parts(some, ours, undrawn)
    if not found:
        return ""
    tally, highest = Tally.of(found, strict=False), sum(each.lead > 0 for each in found)
    return (
        f" Against the best of those without a part of {ours}: the higher mean in {highest}, {tally.wins} won, "
        f"{tally.ties} tied, {tally.losses} lost."
    )


def _alone(some: list[Grid], ours: str) -> list[str]:
    """Each method that the first is compared with, and in how many cells the first wins, ties and loses."""
    names = dict.fromkeys(name for grid in some for name in grid.methods)
    found = {name: comparisons(some, ours, name) for name in names if name != ours and not is_form_of(name, ours)}
    return [f"{rival} {', '.join(Tally.of(each, strict=False).cells)}" for rival, each in found.items() if each]


def _table(some: list[Grid], about: str) -> str:
    """A row for each method, a column for each data set and metric."""
    shared = {METRICS[grid.metric] for grid in some}
    shares = [f"{100 * x:g}" for x in _shown(some[0]) if not isinstance(x, str)]
    at = f"{about}{'on the public split, ' if PUBLIC in some[0].xs else ''}at {', '.join(shares)} %"
    corner, names = at, [f"{grid.dataset}, {METRICS[grid.metric]}" for grid in some]
    if len(shared) == 1:
        corner, names = f"{shared.pop()} {at}", [grid.dataset for grid in some]
    columns = [_column(grid) for grid in some]
    lines = [f"| {corner} | {' | '.join(names)} |", "|---" * (len(some) + 1) + "|"]
    for method in dict.fromkeys(method for column in columns for method in column):
        lines.append(f"| {method} | {' | '.join(column.get(method, '') for column in columns)} |")
    return "\n".join(lines)


def _column(grid: Grid) -> dict[str, str]:
    """Means and deviations of each method side by side, who is clearly ahead in bold; a dash where there is none."""
    winners = {ratio: grid.winner(ratio) for ratio in _shown(grid)}
    made = {}
    for method in grid.methods:
        own = [(grid.cells.get((method, ratio)), winner) for ratio, winner in winners.items()]
        made[method] = " ".join(_number(cell, method == winner) for cell, winner in own)
    return made


def _shown(grid: Grid) -> list[X]:
    return [x for x in grid.xs if x in SHOWN_RATIOS]


def _inductive(settings: list[Grid]) -> str:
    """A row for each method of each setting, mean and deviation, who is clearly ahead in bold."""
    first = settings[0]
    lines = [f"| {first.dataset}, graphs never seen in training | method | {METRICS[first.metric]} |", "|---|---|---|"]
    for grid in settings:
        (x,) = grid.xs
        winner = grid.winner(x)
        for method in grid.methods:
            cell = grid.cells[method, x]
            lines.append(f"| {grid.panel} | {method} | {_number(cell, method == winner)} |")
    return "\n".join(lines)


def _number(cell: Cell | None, bold: bool) -> str:
    """A mean with its deviation in units of the last digit: .781(9) is .781 and .009."""
    if cell is None or not cell.values:
        return "–"
    mean = f"**{_short(cell.mean)}**" if bold else _short(cell.mean)
    return f"{mean}({1000 * cell.deviation:.0f})" if len(cell.values) > 1 else mean
