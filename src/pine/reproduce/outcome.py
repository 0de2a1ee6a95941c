"""From an experiment to its rows: those of this run, and where it made nothing those of an earlier one.

Methods may be left as they were, such as those that take hours.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pine.reproduce.experiment import Experiment
from pine.reproduce.kinds import KINDS
from pine.reproduce.rows import Row
from pine.reproduce.runner import NOT_MADE, Runner, stop_text

CELL = ("dataset", "method", "panel", "value", "ratio", "target")  # columns whose values rows of a cell have in common


@dataclass(frozen=True)
class Outcome:
    """The rows of an experiment, and how many of its cells are as an earlier run had them, or still to be made."""

    rows: list[Row]
    earlier: int = 0
    empty: int = 0


def outcome_of(
    experiment: Experiment, runner: Runner, earlier: Iterable[Row] = (), left: Collection[str] = ()
) -> Outcome:
    """Make what is missing. A cell of which a part was not made is as earlier rows have it, or left out.

    left: names of methods that are not made, but as earlier rows have them.
    """
    kind = KINDS[experiment.kind]
    before = _cells(_usable(experiment, earlier))
    rows: list[Row] = []
    taken = empty = 0
    made = _cells(kind.rows(experiment.without(left), runner))
    for cell, its_rows in made.items():
        if all(row.get("stopped") != stop_text(NOT_MADE) for row in its_rows):
            rows += its_rows
        elif kind.is_whole(experiment, before[cell]):
            rows += before[cell]
            taken += 1
        else:
            empty += 1
    for cell in [cell for cell in before if cell[CELL.index("method")] in left]:
        if kind.is_whole(experiment, before[cell]):
            rows += before[cell]
            taken += 1
    return Outcome(_ordered(experiment, rows) if experiment.slow or left else rows, taken, empty)


def as_it_was(experiment: Experiment, earlier: Iterable[Row]) -> Outcome:
    """The whole cells of an earlier run, where nothing is made: of data that is not at hand, say."""
    kind = KINDS[experiment.kind]
    whole = [rows for rows in _cells(_usable(experiment, earlier)).values() if kind.is_whole(experiment, rows)]
    return Outcome([row for rows in whole for row in rows], len(whole))


def _ordered(experiment: Experiment, rows: Iterable[Row]) -> list[Row]:
    """By data set, then by method, as the experiment has them."""
    methods = [method.name for method in experiment.methods]
    return sorted(rows, key=lambda row: (experiment.datasets.index(row["dataset"]), methods.index(row["method"])))


def _cells(rows: Iterable[Row]) -> defaultdict[tuple[Any, ...], list[Row]]:
    found = defaultdict(list)
    for row in rows:
        found[tuple(row.get(column) for column in CELL)].append(row)
    return found


def _usable(experiment: Experiment, rows: Iterable[Row]) -> Iterator[Row]:
    """Rows that could be of this experiment as it is now: with all columns, and a spec that its method still has."""
    needed = KINDS[experiment.kind].columns(experiment)
    specs = set(experiment.specs())
    for row in rows:
        if set(needed) <= row.keys() and ("spec" not in needed or (row["method"], row["spec"]) in specs):
            yield row
