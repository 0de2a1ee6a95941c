"""The paper's sentences against rows made by hand."""

from __future__ import annotations

from support.reproduce import SMALL, row

from pine.reproduce.catalog import experiment_of
from pine.reproduce.kinds import KINDS


def checked(claim, rows, **more):
    experiment = experiment_of("small", SMALL | {"claims": [{"text": "t", "place": "p"} | claim]} | more)
    return KINDS[experiment.kind].verdicts(experiment, rows)[0]


def test_first_counts_the_cells_won_and_names_the_others():
    rows = [row("A", 0.1, 0.8), row("B", 0.1, 0.7), row("A", 0.5, 0.8), row("B", 0.5, 0.7)]
    rows += [row("A", 0.9, 0.8), row("B", 0.9, 0.82)]
    verdict = checked({"check": "first", "method": "A", "second_to": "B"}, rows)
    assert (verdict.held, verdict.entries, verdict.holds) == (2, 3, True)
    assert verdict.summary == "holds (2 of 3)"
    alone = checked({"check": "first", "method": "A"}, rows)
    assert not alone.holds
    assert "cora at 90 % by 2.0 to B" in alone.numbers
    assert checked({"check": "first", "method": "A", "second_to": "B"}, rows[4:]).summary == "does not hold"
    gone = [row("A", 0.1, 0.3), row("B", 0.1, None, stopped="time: too long")]
    assert checked({"check": "first", "method": "A"}, gone).holds


def test_methods_that_have_parts_of_the_first_are_counted_and_left_out_beside_it():
    rows = [row(m, 0.5, a + k / 100, repeat=k) for k in range(3) for m, a in (("A", 0.8), ("B", 0.7), ("C", 0.9))]
    names = [{"name": name, "spec": "label-propagation"} for name in ("A", "B", "C")]
    verdict = checked({"check": "first", "method": "A"}, rows, methods=[*names[:2], names[2] | {"drawn": False}])
    assert verdict.held == 0
    assert verdict.numbers.startswith(
        "first in 0 of 1, of methods without a part of it in 1 (significant in 1); behind others on cora at 50 %"
    )


def test_above_wants_every_cell_and_rises_every_step():
    rows = [row(m, 0.5, a, value=v) for m, v, a in [("A", 8, 0.6), ("A", 16, 0.7), ("B", 8, 0.5), ("B", 16, 0.65)]]
    assert checked({"check": "above", "method": "A", "over": ["B"]}, rows).summary == "holds"
    assert checked({"check": "above", "method": "B", "over": ["A"]}, rows).summary == "does not hold"
    assert checked({"check": "rises", "methods": ["A", "B"]}, rows).summary == "holds"
    rows[1]["accuracy"] = 0.5
    assert checked({"check": "rises", "methods": ["A", "B"]}, rows).summary == "holds in 1 of 2"
    assert checked({"check": "rises", "methods": ["C"]}, rows).summary == "not measured"


def test_methods_with_fewer_splits_are_judged_on_those():
    rows = [row("A", 0.5, a, repeat=k) for k, a in enumerate((0.7, 0.8, 0.1))]
    rows += [row("B", 0.5, b, repeat=k) for k, b in enumerate((0.6, 0.75))]
    assert checked({"check": "first", "method": "A"}, rows).held == 1
    above = checked({"check": "above", "method": "A", "over": ["B"]}, rows)
    assert (above.held, above.numbers) == (1, "A less the best of B: +7.5 to +7.5 points, +7.5 on average")


def test_what_is_lost_is_named_with_its_metric_where_there_are_several():
    rows = [row("A", 0.1, 0.8) | {"macro_f1": 0.5}, row("B", 0.1, 0.7) | {"macro_f1": 0.625}]
    verdict = checked({"check": "first", "method": "A"}, rows, metrics=["accuracy", "macro_f1"])
    assert verdict.numbers == "first in 1 of 2; behind others on cora at 10 % (macro F1) by 12.5 to B"


def test_the_public_split_is_an_entry_of_its_own_and_no_step_of_a_rise():
    rows = [row(m, r, a) for m, r, a in (("A", "public", 0.9), ("B", "public", 0.95), ("A", 0.1, 0.7), ("A", 0.5, 0.8))]
    lost = checked({"check": "first", "method": "A"}, rows)
    assert (lost.held, lost.entries) == (2, 3)
    assert "cora at public by 5.0 to B" in lost.numbers
    rise = checked({"check": "rises", "methods": ["A"]}, rows)
    assert (rise.held, rise.entries) == (1, 1)


def test_level_is_first_or_behind_by_what_a_paired_test_calls_chance():
    scores = {"A": (0.70, 0.72, 0.71), "near": (0.71, 0.70, 0.75), "far": (0.80, 0.81, 0.82)}

    def verdict(*names, **more):
        rows = [row(name, 0.5, a, repeat=k) | more for name in names for k, a in enumerate(scores[name])]
        return checked({"check": "level", "method": "A"}, rows)

    near = verdict("A", "near")
    assert near.holds
    assert near.numbers == "first in 0 of 1, within noise of the first in 1"
    far = verdict("A", "near", "far")
    assert not far.holds
    assert "behind on cora at 50 % by 10.0 to far" in far.numbers
    assert verdict("near").summary == "not measured"


def test_a_verdict_says_in_how_many_entries_a_paired_test_agrees():
    def rows(ratio, **scores):
        return [row(name, ratio, a, repeat=k) for name, each in scores.items() for k, a in enumerate(each)]

    ahead, behind = (0.80, 0.81, 0.82, 0.83), (0.70, 0.71, 0.72, 0.73)
    clear = rows(0.1, A=ahead, B=behind) + rows(0.5, A=ahead, B=behind)
    chance = rows(0.9, A=(0.8, 0.7, 0.9, 0.8), B=(0.7, 0.8, 0.8, 0.8))
    assert checked({"check": "first", "method": "A"}, clear + chance).summary == "holds (significant in 2)"
    assert checked({"check": "above", "method": "A", "over": ["B"]}, clear + chance).significant == 2
    other = checked({"check": "first", "method": "B", "second_to": "A"}, clear + chance)
    assert (other.significant, other.summary) == (0, "does not hold")
    some = checked({"check": "first", "method": "A"}, clear + rows(0.9, A=behind, B=ahead))
    assert some.summary == "holds in 2 of 3 (significant in 2)"


def test_verdicts_on_a_rise_state_their_rule():
    rows = [row("A", 0.5, a, value=v) | {"panel": "dimension"} for v, a in ((8, 0.6), (16, 0.7))]
    rule = "from each dimension to the next the mean rises, or falls by less than its standard deviation there"
    assert checked({"check": "rises", "methods": ["A"]}, rows).rule == rule
    assert "from each ratio to the next" in checked({"check": "rises", "methods": ["A"]}, [row("A", 0.1, 0.5)]).rule
