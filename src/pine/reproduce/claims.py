"""The paper's sentences beside what was measured: each check counts the places where the sentence holds.

first     method is first in most places (data set, x and metric); second_to: elsewhere only this one is ahead
above     method is above each of over at every place; deviations: by so many standard deviations, the larger of the two
rises     from each value to the next, the score of each of methods rises, or falls by less than its deviation
clusters  true classes of a map are at least half as pure as could be, counted from chance
falls     the error of every target falls by a factor from the smallest to the largest size
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from pine.reproduce.cells import Grid, grids
from pine.reproduce.experiment import Claim, Experiment
from pine.reproduce.maps import by_chance, purity
from pine.reproduce.rows import Row
from pine.reproduce.tables import METRICS, arrays, by_dataset


@dataclass(frozen=True)
class Verdict:
    """How many of the places a claim holds in, whether that is what it says, and the numbers in words."""

    claim: Claim
    held: int
    places: int
    holds: bool
    numbers: str

    @property
    def said(self) -> str:
        """In a few words."""
        if self.places == 0:
            return "not measured"
        if self.holds:
            return "holds" if self.held == self.places else f"holds ({self.held} of {self.places})"
        return f"holds in {self.held} of {self.places}" if self.held else "does not hold"


def verdicts(experiment: Experiment, rows: Sequence[Row]) -> list[Verdict]:
    """Every claim of an experiment, checked."""
    return [CHECKS[claim.check](claim, experiment, rows) for claim in experiment.claims]


def _places(experiment: Experiment, rows: Sequence[Row]) -> list[tuple[Grid, float]]:
    return [(grid, x) for grid in grids(rows, experiment.metrics) for x in grid.xs]


def _first(claim: Claim, experiment: Experiment, rows: Sequence[Row]) -> Verdict:
    own, but = claim.needs["method"], claim.needs.get("second_to")
    first, second, lost = 0, 0, []
    places = [(grid, x) for grid, x in _places(experiment, rows) if own in grid.means(x)]
    for grid, x in places:
        means, ahead = grid.means(x), grid.ahead(own, x)
        first += not ahead
        second += bool(ahead) and ahead == [but]
        if ahead and ahead != [but]:
            at = f"{grid.dataset} at {x:g}" if grid.by_value else f"{grid.dataset} at {100 * x:g} %"
            at += f" ({METRICS[grid.metric]})" if len(experiment.metrics) > 1 else ""
            lost.append(f"{at} by {100 * (means[ahead[0]] - means[own]):.1f} to {ahead[0]}")
    said = f"first in {first} of {len(places)}"
    said += f", second to {but} in {second}" if but else ""
    said += f"; behind others on {', '.join(lost)}" if lost else ""
    return Verdict(claim, first, len(places), 2 * first > len(places) and not lost, said)


def _above(claim: Claim, experiment: Experiment, rows: Sequence[Row]) -> Verdict:
    own, over, apart = claim.needs["method"], claim.needs["over"], claim.needs.get("deviations", 0)
    held, gaps = 0, []
    places = [(grid, x) for grid, x in _places(experiment, rows) if {own, *over} <= grid.means(x).keys()]
    for grid, x in places:
        means = grid.means(x)
        best = max(means[name] for name in over)
        held += all(means[own] - means[name] > apart * _spread(grid, x, own, name) for name in over)
        if best > float("-inf"):
            gaps.append(100 * (means[own] - best))
    said = f"{own} less the best of {', '.join(over)}: " if gaps else ""
    said += f"{min(gaps):+.1f} to {max(gaps):+.1f} points, {sum(gaps) / len(gaps):+.1f} on average" if gaps else ""
    return Verdict(claim, held, len(places), held == len(places) > 0, said)


def _spread(grid: Grid, x: float, *methods: str) -> float:
    """The largest deviation of some methods at one x."""
    return max(grid.cells[method, x].deviation for method in methods)


def _rises(claim: Claim, experiment: Experiment, rows: Sequence[Row]) -> Verdict:
    held, steps, said = 0, 0, []
    for grid in grids(rows, experiment.metrics):
        for method in claim.needs["methods"]:
            line = [grid.cells[method, x] for x in grid.xs if (method, x) in grid.cells]
            if not all(cell.values for cell in line) or len(line) < 2:
                continue
            held += sum(after.mean > before.mean - after.deviation for before, after in pairwise(line))
            steps += len(line) - 1
            said.append(f"{method} on {grid.dataset} {100 * line[0].mean:.1f} to {100 * line[-1].mean:.1f}")
    return Verdict(claim, held, steps, held == steps > 0, "; ".join(said))


def _clusters(claim: Claim, experiment: Experiment, rows: Sequence[Row]) -> Verdict:
    held, said = 0, []
    maps = by_dataset(rows)
    for name, own in maps.items():
        places, truth, _ = arrays(own)
        pure, chance = purity(places, truth), by_chance(truth)
        held += pure >= (1 + chance) / 2
        said.append(f"{name} {100 * pure:.0f} % (by chance {100 * chance:.0f} %)")
    return Verdict(claim, held, len(maps), held == len(maps) > 0, "near nodes of one class: " + ", ".join(said))


def _falls(claim: Claim, experiment: Experiment, rows: Sequence[Row]) -> Verdict:
    factor, held, said = claim.needs["factor"], 0, []
    sizes = sorted({row["size"] for row in rows})
    targets = list(dict.fromkeys(row["target"] for row in rows))
    for target in targets:
        ends = (sizes[0], sizes[-1])
        few, many = (median(r["error"] for r in rows if (r["target"], r["size"]) == (target, s)) for s in ends)
        held += few >= factor * many
        said.append(f"{target} {few / many:.0f}-fold")
    return Verdict(claim, held, len(targets), held == len(targets) > 0, "; ".join(said))


CHECKS: dict[str, Callable[[Claim, Experiment, Sequence[Row]], Verdict]] = {
    "first": _first,
    "above": _above,
    "rises": _rises,
    "clusters": _clusters,
    "falls": _falls,
}
