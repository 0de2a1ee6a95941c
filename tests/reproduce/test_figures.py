"""Figures of grids: what is drawn, and how close methods are compared."""

from __future__ import annotations

import pytest
from support.reproduce import SMALL, row

from pine.reproduce.catalog import experiment_of
from pine.reproduce.figures import lines_figure
from pine.reproduce.kinds import KINDS
from pine.reproduce.tables import grids


@pytest.mark.parametrize("ratios", [(0.5,), (0.1, 0.5, 0.9)])
def test_figures_are_drawn_as_png_and_svg(tmp_path, ratios):
    rows = [row(m, r, 0.5 + r / 4, repeat=k) for m in "AB" for r in ratios for k in (0, 1)]
    made = KINDS["scores"].figures(experiment_of("small", SMALL), rows, tmp_path)
    assert [path.name for path in made] == ["small-cora.png"]
    assert (tmp_path / "small-cora.svg").read_text().lstrip().startswith("<?xml")


@pytest.mark.parametrize(("low", "written"), [(0.3, True), (0.8, False)])
def test_a_method_far_below_the_first_is_written_at_the_edge_and_does_not_press_the_others(tmp_path, low, written):
    scores = {"A": 0.85, "B": 0.84, "C": low}
    rows = [row(m, r, score, repeat=k) for m, score in scores.items() for r in (0.1, 0.5) for k in (0, 1)]
    KINDS["scores"].figures(experiment_of("small", SMALL), rows, tmp_path)
    assert ("\u25c2 30.0" in (tmp_path / "small-cora.svg").read_text(encoding="utf-8")) == written


@pytest.mark.parametrize("methods", ["ABCD", "ABCDE"])
def test_many_methods_are_also_compared_closely_with_the_first(tmp_path, methods):
    rows = [row(m, r, 0.5 + r / 4, repeat=k) for m in methods for r in (0.1, 0.5, 0.9) for k in (0, 1, 2)]
    rows.append(row("G", 0.1, None, stopped="time: too long"))
    rows[-2] = rows[-2] | {"stopped": "time: too long"}  # the other two repeats were finished
    KINDS["scores"].figures(experiment_of("small", SMALL), rows, tmp_path)
    # Text is drawn, and said in a comment.
    assert ("points above A" in (tmp_path / "small-cora.svg").read_text()) == (methods == "ABCDE")


def test_the_public_split_stands_left_of_the_ratios_and_no_line_leads_to_it():
    rows = [row(m, r, 0.5, repeat=k) for m in "ABCDEF" for r in ("public", 0.1, 0.5, 0.9) for k in (0, 1)]
    for ax in lines_figure("cora", grids(rows, ["accuracy"])).axes:
        assert [text.get_text() for text in ax.get_xticklabels()] == ["public", "10", "50", "90"]
        line = ax.get_lines()[0].get_xdata()
        assert list(ax.get_xticks()) == [0, 10, 50, 90]
        assert len(line) == 5
        assert line[1] != line[1]  # not a number: the line is broken there


@pytest.mark.parametrize("ratios", [("public",), ("public", 0.1, 0.5)])
def test_few_ratios_beside_the_public_split_are_drawn_as_rows(tmp_path, ratios):
    rows = [row(m, r, 0.5, repeat=k) for m in "AB" for r in ratios for k in (0, 1)]
    KINDS["scores"].figures(experiment_of("small", SMALL), rows, tmp_path)
    text = (tmp_path / "small-cora.svg").read_text()
    assert "accuracy (%), public split" in text
    assert ("accuracy (%), 10 % labeled" in text) == (len(ratios) > 1)
