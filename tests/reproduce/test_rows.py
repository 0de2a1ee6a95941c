"""Rows come back from their file as they were."""

from __future__ import annotations

import pytest
from support.reproduce import SMALL, row

from pine import InputError
from pine.reproduce.catalog import experiment_of
from pine.reproduce.kinds import KINDS
from pine.reproduce.rows import read_rows, write_rows


@pytest.mark.parametrize("text", ["dataset,x\ncora,1,2\n", "dataset,x\ncora\n", "dataset,x\ncora,much\n"])
def test_a_file_that_does_not_hold_rows_is_refused(tmp_path, text):
    (tmp_path / "small.csv").write_text(text)
    with pytest.raises(InputError, match="does not hold the rows of an experiment"):
        read_rows(tmp_path / "small.csv")


def test_rows_come_back_from_their_file_and_make_the_same_tables(tmp_path):
    rows = [row("A", 0.1, 0.8), row("A", 0.1, 0.9, repeat=1), row("B", 0.1, None, stopped="memory: too much")]
    write_rows(rows, tmp_path / "rows.csv")
    again = read_rows(tmp_path / "rows.csv")
    experiment = experiment_of("small", SMALL)
    assert KINDS[experiment.kind].tables(experiment, again) == KINDS[experiment.kind].tables(experiment, rows)
    assert "| A | 85.0 ±7.1 | 1.0 |" in KINDS[experiment.kind].tables(experiment, rows)
    assert "| B | — (memory) |  |" in KINDS[experiment.kind].tables(experiment, rows)
    assert "| A | 85.0 ±7.1 | 1.0 |" in KINDS[experiment.kind].tables(experiment, rows[:2]), (
        "there is nothing that it is the best of"
    )


def test_seconds_are_shown_only_of_fits_that_ran_alone():
    experiment = experiment_of("small", SMALL)
    rows = [row("A", 0.1, 0.8), row("B", 0.1, 0.7, alone=0), row("B", 0.1, 0.9, repeat=1)]
    text = KINDS[experiment.kind].tables(experiment, rows)
    assert "| A | 80.0 | 1.0 |" in text
    assert "| B | 80.0 ±14.1 |  |" in text
    assert "| s |" not in KINDS[experiment.kind].tables(experiment, [row("A", 0.1, 0.8, alone=None)])


def test_the_public_split_comes_back_by_its_name(tmp_path):
    rows = [row("A", "public", 0.8), row("A", 0.1, 0.9)]
    write_rows(rows, tmp_path / "rows.csv")
    assert [each["ratio"] for each in read_rows(tmp_path / "rows.csv")] == ["public", 0.1]
