"""Wins, ties and losses: paired tests of one method against others, over all cells of an experiment.

Each cell (data set, metric and x) is tested in two ways, and Holm's correction makes up for the number of cells.

splits    a t-test on the differences over the splits: would other random splits of these graphs say the same?
strict    the same with Nadeau and Bengio's correction, by which splits that share test nodes count for less: the more
          test nodes there are for each training node, the less. With 10 % of the labels and 20 splits a lead must be
          six times the deviation of the differences to pass, before Holm's correction: few labels are never enough.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from pine.evaluation.paired_test import SIGNIFICANT, holm, paired_p_value
from pine.evaluation.protocol import PUBLIC
from pine.reproduce.tables import Grid, X, is_form_of, markdown_table

ANY = "the best other"
WITHOUT_PARTS = "the best other without parts of it"
FEWEST_REPEATS = 3  # fewer are no sample


@dataclass(frozen=True)
class Comparison:
    """One method against another in a cell: the lead in points, and p values; Holm's, if of several cells."""

    entry: tuple[str, str, str, X]  # data set, panel, metric, x
    rival: str
    lead: float
    p: float
    strict_p: float

    @property
    def x(self) -> X:
        return self.entry[-1]

    def outcome(self, strict: bool) -> int:
        """1: a win, -1: a loss, 0: a tie."""
        p = self.strict_p if strict else self.p
        return int(np.sign(self.lead)) if p < SIGNIFICANT else 0


@dataclass(frozen=True)
class Tally:
    wins: int
    ties: int
    losses: int

    @classmethod
    def of(cls, comparisons: Sequence[Comparison], strict: bool) -> Tally:
        """Count outcomes."""
        outcomes = [each.outcome(strict) for each in comparisons]
        return cls(outcomes.count(1), outcomes.count(0), outcomes.count(-1))

    @property
    def cells(self) -> list[str]:
        """As cells of a table."""
        return [str(self.wins), str(self.ties), str(self.losses)]


def comparisons(some: Sequence[Grid], own: str, rival: str = ANY) -> list[Comparison]:
    """A method against another in every cell that both finished; against ANY, the one that is highest above it in each.

    Forms of the method are none of ANY.
    """
    made = []
    for grid in some:
        for x in grid.xs:
            others = [rival] if rival != ANY else [name for name in grid.methods if not is_form_of(name, own)]
            whole = [name for name in others if name != own and grid.comparable(name, own, x)]
            if whole:
                made.append(_comparison(grid, x, own, max(whole, key=lambda name: grid.lead(name, own, x))))
    adjusted = zip(made, holm([each.p for each in made]), holm([each.strict_p for each in made]), strict=True)
    return [replace(each, p=p, strict_p=strict_p) for each, p, strict_p in adjusted]


def without_parts(some: Sequence[Grid], own: str, undrawn: Container[str]) -> list[Comparison]:
    """A method against the best other that has no part of it; [] where no rival has one, its own forms aside."""
    if all(name not in undrawn or is_form_of(name, own) for grid in some for name in grid.methods):
        return []
    return comparisons([grid.without(undrawn) for grid in some], own)


def _comparison(grid: Grid, x: X, own: str, rival: str) -> Comparison:
    ours, theirs = grid.paired(own, rival, x)
    overlap = 0.0 if x == PUBLIC or grid.by_value else (1 - x) / x
    few = len(ours) < FEWEST_REPEATS
    p, strict_p = (1.0 if few else paired_p_value(ours, theirs, each) for each in (0.0, overlap))
    return Comparison((grid.dataset, grid.panel, grid.metric, x), rival, 100 * grid.lead(own, rival, x), p, strict_p)


HEAD = ("wins", "ties", "losses", "strict: wins", "ties", "losses", "points, mean (range)")
TESTS = (
    "Paired t-tests (p < .05) over the splits of each cell, Holm's correction over the cells. Strict: with Nadeau and "
    "Bengio's correction for splits that share test nodes."
)


def tally_table(some: Sequence[Grid], own: str, undrawn: Container[str] = ()) -> str:
    """A line for each rival: in how many cells a method wins, ties and loses, by both tests; "" without any test.

    undrawn: methods that are in tables alone, those with parts of it.
    """
    rivals = dict.fromkeys(name for grid in some for name in grid.methods if name != own)
    found = {rival: comparisons(some, own, rival) for rival in (ANY, *rivals)}
    if drawn := without_parts(some, own, undrawn):
        found = {ANY: found[ANY], WITHOUT_PARTS: drawn} | found
    lines = [[rival, *_cells(each)] for rival, each in found.items() if each]
    return _table([f"{own} against", *HEAD], lines, "Wins, ties, losses")


def steps_table(some: Sequence[Grid]) -> str:
    """A line for each method but the first, in order: against the one above it."""
    pairs = pairwise(dict.fromkeys(name for grid in some for name in grid.methods))
    lines = [[name, *_cells(found)] for before, name in pairs if (found := comparisons(some, name, before))]
    return _table(["against the row above", *HEAD], lines, "What each step earns")


def _cells(found: Sequence[Comparison]) -> list[str]:
    leads = [each.lead for each in found]
    counts = [cell for strict in (False, True) for cell in Tally.of(found, strict).cells]
    return [*counts, f"{np.mean(leads):+.1f} ({min(leads):+.1f} to {max(leads):+.1f})"]


def _table(head: Sequence[str], lines: Sequence[Sequence[str]], title: str) -> str:
    return f"{markdown_table(head, lines, title)}\n{TESTS}\n" if lines else ""
