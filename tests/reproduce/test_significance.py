"""Wins, ties and losses from rows made by hand."""

from __future__ import annotations

import numpy as np
import pytest
from support.reproduce import row

from pine.evaluation.paired_test import holm, paired_p_value
from pine.reproduce.significance import ANY, WITHOUT_PARTS, Tally, comparisons, steps_table, tally_table
from pine.reproduce.tables import grids

RNG = np.random.default_rng(0)
BASE = RNG.normal(0.7, 0.02, (9, 6))  # of nine cells with six splits
LEADS = {"PINE": 0.0, "close": 0.0005, "far": -0.1, "PINE, untyped": 0.3}


def scored(repeats=6, **leads):
    noise = {name: RNG.normal(0, 0.005, BASE.shape) for name in leads}
    rows = [
        row(name, ratio / 10, BASE[ratio - 1, k] + lead + noise[name][ratio - 1, k], repeat=k)
        for name, lead in leads.items()
        for ratio in range(1, 10)
        for k in range(repeats)
    ]
    return grids(rows, ["accuracy"])


def test_a_clear_lead_is_a_win_a_lead_by_chance_a_tie_and_a_clear_gap_a_loss():
    made = scored(**LEADS)
    assert Tally.of(comparisons(made, "PINE", "far"), strict=False) == Tally(9, 0, 0)
    assert Tally.of(comparisons(made, "PINE", "close"), strict=False) == Tally(0, 9, 0)
    assert Tally.of(comparisons(made, "far", "PINE"), strict=False) == Tally(0, 0, 9)


def test_the_best_other_is_the_best_of_each_cell_and_no_form_of_the_method_itself():
    found = comparisons(scored(**LEADS), "PINE", ANY)
    assert {each.rival for each in found} == {"close"}


def test_the_strict_test_counts_test_nodes_for_each_training_node():
    made = scored(PINE=0.0, far=-0.02)
    found = comparisons(made, "PINE", "far")
    by_x = {each.x: each.strict_p for each in found}
    ours, theirs = ([made[0].cells[name, x].values for x in by_x] for name in ("PINE", "far"))
    overlaps = [(10 - k) / k for k in range(1, 10)]
    plain = [paired_p_value(*each) for each in zip(ours, theirs, overlaps, strict=True)]
    assert list(by_x.values()) == pytest.approx(holm(plain))
    assert by_x[0.1] > by_x[0.9]
    assert all(each.strict_p >= each.p for each in found)


def test_methods_with_fewer_splits_are_compared_on_the_first_ones():
    values = {"PINE": [0.7, 0.8, 0.9, 0.1, 0.1], "B": [0.6, 0.69, 0.81]}
    rows = [row(name, 0.5, value, repeat=k) for name, some in values.items() for k, value in enumerate(some)]
    made = grids(rows, ["accuracy"])
    (found,) = comparisons(made, "PINE", "B")
    assert found.lead == pytest.approx(10.0)
    assert found.p == pytest.approx(paired_p_value([0.7, 0.8, 0.9], [0.6, 0.69, 0.81]))
    gap = made[0].gap("B", 0.5)
    assert gap is not None
    assert gap[0] == pytest.approx(-10.0)
    assert made[0].p_values("PINE", 0.5, ["B"])["B"] == pytest.approx(found.p)
    assert made[0].ahead("PINE", 0.5) == []  # whatever the means over other splits are
    assert made[0].ahead("B", 0.5) == ["PINE"]


def test_the_best_other_is_the_one_furthest_above_on_the_splits_that_both_have():
    values = {"PINE": [0.7, 0.8, 0.9, 0.1, 0.1], "all": [0.6, 0.7, 0.8, 0.2, 0.2], "few": [0.65, 0.75, 0.8]}
    rows = [row(name, 0.5, value, repeat=k) for name, some in values.items() for k, value in enumerate(some)]
    (found,) = comparisons(grids(rows, ["accuracy"]), "PINE")
    assert found.rival == "all"  # 2 points below PINE over five splits; "few" 6.7 over three
    assert found.lead == pytest.approx(2.0)


def test_cells_that_one_of_them_did_not_finish_and_too_few_splits_say_nothing():
    rows = [row(name, 0.5, 0.5, repeat=k) for name in ("PINE", "B") for k in range(6)]
    unfinished = [*rows[:-1], row("B", 0.5, None, repeat=5, stopped="time: too long")]
    assert comparisons(grids(unfinished, ["accuracy"]), "PINE", "B") == []
    assert tally_table(grids(unfinished, ["accuracy"]), "PINE") == ""
    assert Tally.of(comparisons(scored(repeats=2, PINE=0.0, far=-0.1), "PINE", "far"), False) == Tally(0, 9, 0)


def test_the_table_has_a_line_for_each_rival_and_both_tests():
    lines = tally_table(scored(**LEADS), "PINE").splitlines()
    assert lines[2].startswith("| PINE against | wins | ties | losses | strict: wins | ties | losses |")
    assert [line.split(" | ")[0].strip("| ") for line in lines[4:8]] == [ANY, "close", "far", "PINE, untyped"]
    assert lines[6].startswith("| far | 9 | 0 | 0 | ")


def test_the_best_other_is_also_that_of_the_methods_without_parts_of_the_first():
    undrawn = ["PINE, untyped", "close"]
    lines = tally_table(scored(**LEADS), "PINE", undrawn).splitlines()
    assert [line.split(" | ")[0].strip("| ") for line in lines[4:7]] == [ANY, WITHOUT_PARTS, "close"]
    assert lines[4].startswith(f"| {ANY} | 0 | 9 | 0 | ")
    assert lines[5].startswith(f"| {WITHOUT_PARTS} | 9 | 0 | 0 | ")
    assert WITHOUT_PARTS not in tally_table(scored(**LEADS), "PINE", ["PINE, untyped"])  # its own form is no rival


def test_steps_are_compared_with_the_row_above():
    lines = steps_table(scored(bare=0.0, start=0.2, more=0.2005)).splitlines()
    assert lines[2].startswith("| against the row above | wins |")
    assert lines[4].startswith("| start | 9 | 0 | 0 |")
    assert lines[5].startswith("| more | 0 | 9 | 0 |")
    assert steps_table(scored(alone=0.0)) == ""
