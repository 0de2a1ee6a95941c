"""Tables in Markdown, from rows made by hand."""

from __future__ import annotations

from support.reproduce import SMALL, row

from pine.reproduce.catalog import experiment_of
from pine.reproduce.kinds import KINDS


def test_a_mean_of_fewer_repeats_than_were_asked_for_says_of_how_many():
    experiment = experiment_of("small", SMALL | {"claims": []})
    rows = [row(m, r, 0.5, repeat=k) for m in ("spread", "poor") for r in (0.1, 0.5) for k in (0, 1)]
    assert " of 2)" not in KINDS["scores"].tables(experiment, rows)
    stopped = [*rows[:-1], rows[-1] | {"accuracy": None, "stopped": "memory: needed more"}]
    assert KINDS["scores"].tables(experiment, stopped).count(" (1 of 2)") == 1


def test_notes_stand_below_the_tables():
    experiment = experiment_of("small", SMALL | {"notes": ["One.", "Two."]})
    table = KINDS["scores"].tables(experiment, [row("A", 0.1, 0.5)])
    assert table == "**cora, accuracy**\n\n| method | 10 % | s |\n|---|---|---|\n| A | 50.0 | 1.0 |\n\nOne.\n\nTwo.\n"


def test_the_public_split_is_a_column_of_its_own():
    rows = [row(m, r, 0.5, repeat=k) for m in "AB" for r in ("public", 0.1) for k in (0, 1)]
    table = KINDS["scores"].tables(experiment_of("small", SMALL | {"ratios": ["public", 0.1]}), rows)
    assert table.splitlines()[2] == "| method | public | 10 % | s |"
    by_value = [row("A", r, 0.5, value=v) for r in ("public", 0.1) for v in (1, 2)]
    table = KINDS["scores"].tables(experiment_of("small", SMALL), by_value)
    assert [line for line in table.splitlines() if "**cora" in line] == [
        "**cora, public, accuracy**",
        "**cora, 10 %, accuracy**",
    ]


def test_settings_are_counted_by_data_set_where_there_were_several_to_choose_from():
    experiment = experiment_of("small", SMALL)
    specs = experiment.methods[0].specs()
    rows = [row("spread", 0.1, 0.5, repeat=k) | {"spec": specs[k > 0]} for k in range(3)] + [row("poor", 0.1, 0.5)]
    table = KINDS["scores"].tables(experiment, rows)
    assert table.split("**How often each setting was chosen**\n\n")[1].splitlines() == [
        "| method | setting | cora |",
        "|---|---|---|",
        f"| spread | {specs[0]} | 1 |",
        f"| spread | {specs[1]} | 2 |",
    ]
    stopped = [each | {"stopped": "time: too long"} for each in rows]
    assert "| spread | label-propagation | 0 |" in KINDS["scores"].tables(experiment, stopped)


def test_a_form_of_a_method_is_no_rival_and_another_method_with_a_longer_name_is():
    def table(second):
        rows = [row(m, 0.1, 0.9 - 0.1 * (m != "GCN") + 0.01 * k, repeat=k) for m in ("GCN", "A") for k in range(4)]
        rows += [row(second, 0.1, 0.9 + 0.01 * k + 0.001 * (-1) ** k, repeat=k) for k in range(4)]
        return KINDS["scores"].tables(experiment_of("small", SMALL), rows)

    assert "**91" in table("GCN + share")
    assert "**91" not in table("GCNII")
