"""The full run in four tables: all methods with few, half and most of the labels, the same with node features, and
networks on unseen graphs.
"""

from __future__ import annotations

from pathlib import Path

from pine.evaluation.protocol import PUBLIC
from pine.reproduce.catalog import find
from pine.reproduce.rows import read_rows
from pine.reproduce.significance import Tally, comparisons
from pine.reproduce.tables import METRICS, Grid, X, grids

SHOWN_RATIOS = (PUBLIC, 0.1, 0.5, 0.9)
SHOWN = ("homogeneous", "heterogeneous", "features")
INDUCTIVE = "ppi"


def overview(folder: Path) -> str:
    """Tables in Markdown, from the rows that `pine reproduce` wrote into a folder."""
    made = []
    for name in SHOWN:
        whole = find(name)
        some = grids(read_rows(folder / f"{name}.csv"), whole.metrics)
        made += [_table(some, "with node features, " if whole.features else ""), _outcomes(some)]
        made += whole.notes[:1] if whole.features else []
    whole = find(INDUCTIVE)
    made += [_inductive(grids(read_rows(folder / f"{INDUCTIVE}.csv"), whole.metrics)), whole.notes[0]]
    return "\n\n".join(made)


def _outcomes(some: list[Grid]) -> str:
    """In how many cells of all ratios the first method is clearly ahead of all others, or behind one."""
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
    )


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
    """The means of each method side by side, who is clearly ahead in bold; a dash where there is none."""
    winners = {ratio: grid.winner(ratio) for ratio in _shown(grid)}
    made = {}
    for method in grid.methods:
        own = [(grid.means(ratio).get(method, float("-inf")), winner) for ratio, winner in winners.items()]
        made[method] = " ".join(_number(mean, method == winner) for mean, winner in own)
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
            spread = f" ±{cell.deviation:.3f}".replace("±0", "±") if cell.values else ""
            lines.append(f"| {grid.panel} | {method} | {_number(cell.mean, method == winner)}{spread} |")
    return "\n".join(lines)


def _number(mean: float, bold: bool) -> str:
    if mean < 0:
        return "–"
    text = f"{mean:.3f}".removeprefix("0")
    return f"**{text}**" if bold else text
