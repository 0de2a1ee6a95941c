"""The paper's sentences beside what was measured: each check counts the table entries where the sentence holds.

first     method is first in most entries (data set, x and metric); second_to: elsewhere only this one is ahead
level     method is first in every entry, or a paired test (p < .05) calls it chance that others are ahead
above     method is above each of over in every entry; deviations: by so many standard deviations, the larger of the two
rises     from each value to the next, the score of each of methods rises, or falls by less than its deviation

Paired tests (pine.reproduce.significance) say in how many of the entries in which first and above hold they are right
beyond chance. Kinds of experiments without grids of scores have checks of their own (pine.reproduce.kinds).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pine.reproduce.experiment import Claim, Experiment
from pine.reproduce.rows import Row
from pine.reproduce.significance import ANY, FEWEST_REPEATS, Tally, comparisons, without_parts
from pine.reproduce.tables import METRICS, Grid, X, grids, x_name


@dataclass(frozen=True)
class Verdict:
    """In how many of the table entries a claim holds, whether that is what it says, and the numbers in words.

    significant: in how many paired tests agree, after Holm's correction; None where there is nothing to test.
    rule: when an entry counts as held, where the claim does not say it by itself.
    """

    claim: Claim
    held: int
    entries: int
    holds: bool
    numbers: str
    significant: int | None = None
    rule: str = ""

    @property
    def summary(self) -> str:
        """In a few words."""
        if self.entries == 0:
            return "not measured"
        if not self.held and not self.holds:
            return "does not hold"
        beside = "" if self.significant is None else f"significant in {self.significant}"
        if self.holds and self.held == self.entries:
            return f"holds ({beside})" if beside else "holds"
        if self.holds:
            return f"holds ({self.held} of {self.entries}{', ' if beside else ''}{beside})"
        return f"holds in {self.held} of {self.entries}" + (f" ({beside})" if beside else "")


Check = Callable[[Claim, Experiment, Sequence[Row]], Verdict]


def _entries(experiment: Experiment, rows: Sequence[Row]) -> list[tuple[Grid, X]]:
    return [(grid, x) for grid in grids(rows, experiment.metrics) for x in grid.xs]


def _first(claim: Claim, experiment: Experiment, rows: Sequence[Row]) -> Verdict:
    own, but = claim.needs["method"], claim.needs.get("second_to")
    first, second, lost = 0, 0, []
    entries = [(grid, x) for grid, x in _entries(experiment, rows) if own in grid.means(x)]
    for grid, x in entries:
        ahead = grid.ahead(own, x)
        first += not ahead
        second += bool(ahead) and ahead == [but]
        if ahead and ahead != [but]:
            at = f"{grid.dataset} at {x_name(grid, x)}"
            at += f" ({METRICS[grid.metric]})" if len(experiment.metrics) > 1 else ""
            lost.append(f"{at} by {100 * grid.lead(ahead[0], own, x):.1f} to {ahead[0]}")
    text = f"first in {first} of {len(entries)}"
    if others := without_parts(grids(rows, experiment.metrics), own, experiment.undrawn):
        text += f", of methods without a part of it in {sum(each.lead >= 0 for each in others)}"
        text += f" (significant in {Tally.of(others, strict=False).wins})"
    text += f", second to {but} in {second}" if but else ""
    text += f"; behind others on {', '.join(lost)}" if lost else ""
    wins = _num_wins(experiment, rows, own, [ANY])
    return Verdict(claim, first, len(entries), 2 * first > len(entries) and not lost, text, wins)


def _level(claim: Claim, experiment: Experiment, rows: Sequence[Row]) -> Verdict:
    own = claim.needs["method"]
    first, lost = 0, []
    entries = [(grid, x) for grid, x in _entries(experiment, rows) if _is_whole(grid, own, x)]
    for grid, x in entries:
        first += not grid.ahead(own, x)
        if ahead := grid.clearly_ahead(own, x):
            lost.append(f"{grid.dataset} at {x_name(grid, x)} by {100 * grid.lead(ahead[0], own, x):.1f} to {ahead[0]}")
    text = f"first in {first} of {len(entries)}, within noise of the first in {len(entries) - first - len(lost)}"
    text += f"; behind on {', '.join(lost)}" if lost else ""
    rule = "it is first, or a paired t-test (p < .05) calls it chance that others are ahead"
    return Verdict(claim, len(entries) - len(lost), len(entries), not lost and bool(entries), text, rule=rule)


def _is_whole(grid: Grid, method: str, x: X) -> bool:
    cell = grid.cells.get((method, x))
    return cell is not None and cell.whole


def _above(claim: Claim, experiment: Experiment, rows: Sequence[Row]) -> Verdict:
    own, over, apart = claim.needs["method"], claim.needs["over"], claim.needs.get("deviations", 0)
    held, gaps = 0, []
    entries = [(grid, x) for grid, x in _entries(experiment, rows) if {own, *over} <= grid.means(x).keys()]
    for grid, x in entries:
        leads = {name: grid.lead(own, name, x) for name in over}
        held += all(lead > apart * _deviation(grid, x, own, name) for name, lead in leads.items())
        if np.isfinite(least := min(leads.values())):
            gaps.append(100 * least)
    text = f"{own} less the best of {', '.join(over)}: " if gaps else ""
    text += f"{min(gaps):+.1f} to {max(gaps):+.1f} points, {sum(gaps) / len(gaps):+.1f} on average" if gaps else ""
    wins = _num_wins(experiment, rows, own, over)
    rule = f"the lead is more than {apart:g} times the larger of the two standard deviations" if apart else ""
    return Verdict(claim, held, len(entries), held == len(entries) > 0, text, wins, rule)


def _num_wins(experiment: Experiment, rows: Sequence[Row], own: str, over: Sequence[str]) -> int | None:
    """In how many entries a method is ahead of each of some others by a paired test; None without any test."""
    whole = grids(rows, experiment.metrics)
    found = [comparisons(whole, own, rival) for rival in over]
    tested = [{each.entry for each in some} for some in found]
    won = [{each.entry for each in some if each.outcome(strict=False) > 0} for some in found]
    most = max((cell.repeats for grid in whole for cell in grid.cells.values()), default=0)
    if most < FEWEST_REPEATS or not set.intersection(*tested):
        return None
    return len(set.intersection(*won))


def _deviation(grid: Grid, x: X, *methods: str) -> float:
    """The largest deviation of some methods at one x."""
    return max(grid.cells[method, x].deviation for method in methods)


def _rises(claim: Claim, experiment: Experiment, rows: Sequence[Row]) -> Verdict:
    held, steps, lines = 0, 0, []
    rule = "from each {} to the next the mean rises, or falls by less than its standard deviation there"
    whole = grids(rows, experiment.metrics)
    for grid in whole:
        for method in claim.needs["methods"]:
            line = [grid.cells[method, x] for x in grid.shares if (method, x) in grid.cells]
            if not all(cell.values for cell in line) or len(line) < 2:
                continue
            held += sum(after.mean > before.mean - after.deviation for before, after in pairwise(line))
            steps += len(line) - 1
            lines.append(f"{method} on {grid.dataset} {100 * line[0].mean:.1f} to {100 * line[-1].mean:.1f}")
    by = next((grid.panel or "value" for grid in whole if grid.by_value), "ratio")
    return Verdict(claim, held, steps, held == steps > 0, "; ".join(lines), rule=rule.format(by))


GRID_CHECKS: dict[str, Check] = {"first": _first, "level": _level, "above": _above, "rises": _rises}
