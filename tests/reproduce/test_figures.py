"""Figures of grids: what is drawn, how close methods are compared, and what is written instead."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from support.reproduce import SMALL, row

from pine.reproduce.catalog import experiment_of, experiments
from pine.reproduce.figures import lines_figure, rank_figure, rows_figure
from pine.reproduce.figures.style import MARKERS, method_styles
from pine.reproduce.kinds import KINDS
from pine.reproduce.ranks import average_ranks
from pine.reproduce.tables import grids


@pytest.mark.parametrize("ratios", [(0.5,), (0.1, 0.5, 0.9)])
def test_figures_are_drawn_as_png_and_svg(tmp_path, ratios):
    rows = [row(m, r, 0.5 + r / 4, repeat=k) for m in "AB" for r in ratios for k in (0, 1)]
    made = KINDS["scores"].figures(experiment_of("small", SMALL), rows, tmp_path)
    assert [picture.path.name for picture in made] == ["small-cora.png"]
    assert (tmp_path / "small-cora.svg").read_text().lstrip().startswith("<?xml")


def scored(scores, ratios=(0.1, 0.5, 0.9), **more):
    return [row(m, r, score, repeat=k, **more) for m, score in scores.items() for r in ratios for k in (0, 1)]


def texts(figure):
    """All that is written in a figure, in plain spaces."""
    found = [text.get_text() for ax in figure.axes for text in ax.texts]
    return " ".join(" ".join([*found, figure.get_supxlabel()]).split())


def in_lab(color, vision):
    """A color in CIELAB, where distances are those that are seen; vision: a matrix on linear RGB."""
    rgb = np.array(to_rgb(color))
    linear = np.clip(vision @ np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4), 0, 1)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ linear / [0.9505, 1, 1.0888]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


VISIONS = {  # Machado, Oliveira and Fernandes 2009
    "all": (20, np.eye(3)),
    "deuteranopia": (10, [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
    "protanopia": (10, [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
}


@pytest.mark.parametrize("vision", VISIONS)
def test_no_two_of_seventeen_methods_have_colors_that_look_alike(vision):
    least, matrix = VISIONS[vision]
    colors = [style["color"] for style in method_styles([f"method {k}" for k in range(17)]).values()]
    assert min(np.linalg.norm(in_lab(a, matrix) - in_lab(b, matrix)) for a, b in combinations(colors, 2)) > least


def test_no_two_methods_share_a_color_or_a_marker():
    styles = method_styles([f"method {k}" for k in range(17)])
    assert len({style["color"] for style in styles.values()}) == 17
    assert len({style["marker"] for style in styles.values()}) == 17
    assert len(set(MARKERS)) == len(MARKERS)


def test_a_method_has_one_color_in_the_figures_of_all_experiments():
    colors: dict[str, set[str]] = {}
    for experiment in experiments().values():
        drawn = list(dict.fromkeys(method.name for method in experiment.methods if method.drawn))
        for method, style in method_styles(drawn).items():
            colors.setdefault(method, set()).add(style["color"])
    assert {method: some for method, some in colors.items() if len(some) > 1} == {}


def test_the_legend_is_in_the_order_of_the_last_points():
    rows = [*scored({"A": 0.7, "B": 0.8, "C": 0.75}), row("D", 0.1, 0.9), row("D", 0.5, 0.72)]
    (legend,) = lines_figure("cora", grids(rows, ["accuracy"])).legends
    assert [text.get_text() for text in legend.get_texts()] == ["B", "C", "D", "A"]


def test_what_is_far_below_everywhere_is_not_drawn_but_written():
    rows = [*scored({"A": 0.9, "far": 0.5}), row("far", 0.3, 0.52), row("A", 0.3, 0.9), row("half", 0.1, 0.5)]
    rows += [row("half", 0.5, 0.8), row("gone", 0.1, None, stopped="time: too long")]
    figure = lines_figure("cora", grids(rows, ["accuracy"]))
    assert "not drawn: far 50.0 to 52.0; not finished: gone" in texts(figure)
    (ax,) = figure.axes
    low, high = ax.get_ylim()
    assert 45 < low < 50 < 90 < high  # the method that is far below at one ratio only is drawn
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["A", "half"]


def test_single_points_below_the_panel_of_differences_are_written():
    rows = scored(dict.fromkeys("ABCDE", 0.9)) + scored({"F": 0.5}, ratios=(0.1,))
    rows += scored({"F": 0.88}, ratios=(0.5, 0.9))
    assert "below the panel: F \u221240.0" in texts(lines_figure("cora", grids(rows, ["accuracy"])))


def test_panels_of_one_quantity_share_one_range():
    low, high = scored({"A": 0.5}, value=1, ratios=(0.5,)), scored({"A": 0.8}, value=2, ratios=(0.5,))
    panels = grids([r | {"panel": "L"} for r in low] + [r | {"panel": "T"} for r in high], ["accuracy"])
    first, second = lines_figure("cora", panels).axes
    assert first.get_ylim() == second.get_ylim()
    rows = scored({"A": 0.9, "B": 0.89}, ratios=(0.1,)) + scored({"A": 0.9, "B": 0.85}, ratios=(0.5,))
    first, second = rows_figure("cora", grids(rows, ["accuracy"])).axes
    assert first.get_xlim() == second.get_xlim()


@pytest.mark.parametrize(("count", "shape"), [(1, (1, 1)), (3, (1, 3)), (4, (2, 2)), (6, (2, 3)), (7, (3, 3))])
def test_panels_stand_in_rows_of_one_length(count, shape):
    rows = scored({"A": 0.5, "B": 0.6}) + scored({"A": 0.7, "B": 0.8}, dataset="pubmed")
    several = grids(rows, ["accuracy"])[:1] * count
    (gridspec,) = {ax.get_gridspec() for ax in lines_figure("cora", several).axes}
    assert gridspec.get_geometry() == shape


def test_the_two_panels_of_many_methods_are_a_row():
    many = grids(scored({f"method {k}": 0.5 + k / 100 for k in range(9)}), ["accuracy"]) * 3
    (gridspec,) = {ax.get_gridspec() for ax in lines_figure("cora", many).axes}
    assert gridspec.get_geometry() == (3, 2)


def test_the_caption_says_what_bars_are_and_over_how_many_splits():
    rows = scored({"A": 0.9, "B": 0.8}) + [row(m, "public", 0.8, repeat=k) for m in "AB" for k in range(7)]
    whole = grids(rows, ["accuracy"])
    over = "mean and standard deviation over 2 splits and 7 seeds on the public split"
    assert over in texts(lines_figure("cora", whole))
    assert over in texts(rows_figure("cora", whole))
    rows[0] |= {"stopped": "time: too long"}
    assert "(fewer where not all finished)" in texts(lines_figure("cora", grids(rows, ["accuracy"])))


@pytest.mark.parametrize(("low", "written"), [(0.3, True), (0.8, False)])
def test_a_method_far_below_the_first_is_written_at_the_edge_and_does_not_press_the_others(low, written):
    figure = rows_figure("cora", grids(scored({"A": 0.85, "B": 0.84, "C": low}, ratios=(0.1,)), ["accuracy"]))
    assert ("\u25c2 \u221255.0" in texts(figure)) == written
    assert ("\u25c2 lies further left than is drawn" in texts(figure)) == written
    assert figure.axes[0].get_xlim()[0] == pytest.approx(-1.06 if written else -5.3)


def test_what_lies_within_the_bars_of_others_is_drawn_however_far_below(tmp_path):
    near = [row("B", 0.1, score, repeat=k) for k, score in enumerate((0.83, 0.69))]  # 9 below, 9.9 to either side
    rows = [*(row("A", 0.1, 0.85, repeat=k) for k in (0, 1)), *near]
    rows += [row(name, 0.1, score, repeat=k) for name, score in (("C", 0.73), ("D", 0.3)) for k in (0, 1)]
    figure = rows_figure("cora", grids(rows, ["accuracy"]))
    assert "\u25c2 \u221255.0" in texts(figure)
    assert "\u25c2 \u221212.0" not in texts(figure)
    assert figure.axes[0].get_xlim()[0] < -12


def test_each_metric_is_a_row_of_panels():
    rows = [each | {"macro_f1": 0.25} for each in scored({"A": 0.5, "B": 0.6})]
    figure = rows_figure("cora", grids(rows, ["accuracy", "macro_f1"]))
    assert figure.axes[0].get_gridspec().get_geometry() == (2, 3)
    assert [ax.get_title(loc="left") for ax in figure.axes[2:4]] == ["accuracy, 90 % labeled", "macro F1, 10 % labeled"]


def test_rows_show_differences_and_the_scores_beside_them():
    rows = [*scored({"A": 0.85, "B": 0.84}, ratios=(0.1,)), row("C", 0.1, None, stopped="time: too long")]
    (ax,) = rows_figure("cora", grids(rows, ["accuracy"])).axes
    assert [text.get_text() for text in ax.texts] == ["85.0 \u00b10.0", "84.0 \u00b10.0", "\u2014 (time)"]
    assert ax.get_xlabel() == "points above A"


def test_average_ranks_are_drawn_last_where_there_are_enough_methods_and_data_sets(tmp_path):
    scores = {"A": 0.9, "B": 0.8, "C": 0.7, "D": 0.6, "E": 0.5}
    rows = [each for name in ("cora", "citeseer", "pubmed") for each in scored(scores, dataset=name)]
    rows[-1] |= {"stopped": "time: too long"}
    made = KINDS["scores"].figures(experiment_of("small", SMALL), rows, tmp_path)
    assert [picture.path.name for picture in made][-1] == "small-ranks.png"
    assert "A 1.00, B 2.00, C 3.00, D 4.00" in made[-1].text
    found = average_ranks(grids(rows, ["accuracy"]))
    assert found is not None
    assert "Left out, as they did not finish on every data set: E." in texts(rank_figure("small", found, "A"))


def test_ranks_that_tell_no_methods_apart_are_not_drawn(tmp_path):
    orders = ("ABCD", "BADC", "CDAB")  # each is first somewhere
    rows = [
        each
        for name, order in zip(("cora", "citeseer", "pubmed"), orders, strict=True)
        for each in scored({method: 0.9 - 0.1 * place for place, method in enumerate(order)}, dataset=name)
    ]
    assert average_ranks(grids(rows, ["accuracy"])) is not None
    made = KINDS["scores"].figures(experiment_of("small", SMALL), rows, tmp_path)
    assert [picture.path.name for picture in made] == [f"small-{name}.png" for name in ("cora", "citeseer", "pubmed")]


def test_pictures_say_in_words_what_they_show(tmp_path):
    (picture,) = KINDS["scores"].figures(experiment_of("small", SMALL), scored({"A": 0.9, "B": 0.8}), tmp_path)
    words = "A small one, cora. Accuracy by share of labeled nodes: A; B. A table below has the numbers."
    assert picture.text == words


@pytest.mark.parametrize("methods", ["ABCD", "ABCDE"])
def test_many_methods_are_also_compared_closely_with_the_first(tmp_path, methods):
    rows = [row(m, r, 0.5 + r / 4, repeat=k) for m in methods for r in (0.1, 0.5, 0.9) for k in (0, 1, 2)]
    rows.append(row("G", 0.1, None, stopped="time: too long"))
    rows[-2] = rows[-2] | {"stopped": "time: too long"}  # the other two repeats were finished
    KINDS["scores"].figures(experiment_of("small", SMALL), rows, tmp_path)
    # Text is drawn, and said in a comment.
    assert ("points above A" in (tmp_path / "small-cora.svg").read_text()) == (methods == "ABCDE")


@pytest.mark.parametrize("ratios", [(0.1, 0.5, 0.9), (0.1, 0.3, 0.5, 0.9)])
def test_many_methods_at_few_ratios_are_rows_and_else_lines(tmp_path, ratios):
    rows = [row(m, r, 0.5, repeat=k) for m in "ABCDEF" for r in ratios for k in (0, 1)]
    KINDS["scores"].figures(experiment_of("small", SMALL), rows, tmp_path)
    assert ("accuracy, 10 % labeled" in (tmp_path / "small-cora.svg").read_text()) == (len(ratios) == 3)


def test_methods_that_are_not_drawn_are_in_the_tables(tmp_path):
    methods = [{"name": name, "spec": "label-propagation", "drawn": name != "B"} for name in "AB"]
    experiment = experiment_of("small", SMALL | {"methods": methods, "claims": []})
    rows = scored({"A": 0.5, "B": 0.6})
    (picture,) = KINDS["scores"].figures(experiment, rows, tmp_path)
    assert "B" not in picture.text.partition(":")[2].partition(".")[0]
    assert "| B |" in KINDS["scores"].tables(experiment, rows)


def test_the_public_split_stands_left_of_the_ratios_and_no_line_leads_to_it():
    rows = [row(m, r, 0.5, repeat=k) for m in "ABCDEF" for r in ("public", 0.1, 0.5, 0.9) for k in (0, 1)]
    for ax in lines_figure("cora", grids(rows, ["accuracy"])).axes:
        assert [text.get_text() for text in ax.get_xticklabels()] == ["public", "10", "50", "90"]
        line = ax.get_lines()[0].get_xdata()
        assert list(ax.get_xticks()) == [-5, 10, 50, 90]
        assert len(line) == 5
        assert line[1] != line[1]  # not a number: the line is broken there


@pytest.mark.parametrize("ratios", [("public",), ("public", 0.1, 0.5)])
def test_few_ratios_beside_the_public_split_are_drawn_as_rows(tmp_path, ratios):
    rows = [row(m, r, 0.5, repeat=k) for m in "AB" for r in ratios for k in (0, 1)]
    KINDS["scores"].figures(experiment_of("small", SMALL), rows, tmp_path)
    text = (tmp_path / "small-cora.svg").read_text()
    assert "accuracy, public split" in text
    assert ("accuracy, 10 % labeled" in text) == (len(ratios) > 1)
