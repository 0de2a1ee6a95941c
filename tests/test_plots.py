"""Pictures of classes: what they say stays inside, however many classes there are and whatever they are called."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.image import imread

from pine.plots import _class_style, draw_classes


@pytest.mark.parametrize(
    "names", [["a"], ["Reinforcement_Learning"] * 7, [f"class {k}" for k in range(70)], ["x" * 150]]
)
def test_nothing_is_cut_off_at_the_border(tmp_path, names):
    rng = np.random.default_rng(0)
    places, classes = rng.normal(size=(90, 2)), rng.integers(len(names), size=90)
    draw_classes(tmp_path / "a.png", places, classes, classes[::-1], names, "title")
    picture = imread(tmp_path / "a.png")[:, :, :3]
    border = [picture[:2], picture[-2:], picture[:, :2], picture[:, -2:]]
    assert all((side == 1).all() for side in border)


def test_nodes_that_all_lie_on_one_spot_are_drawn(tmp_path):
    draw_classes(tmp_path / "a.svg", np.zeros((5, 2)), np.zeros(5, int), np.zeros(5, int), ["only"], "title")
    assert (tmp_path / "a.svg").stat().st_size > 0


def test_no_two_classes_have_color_and_shape_in_common():
    styles = [_class_style(number) for number in range(64)]
    assert len({(style["color"], style["marker"]) for style in styles}) == 64
    assert len({style["color"] for style in styles[:17]}) == 17


def test_what_is_wrong_is_outlined_and_keeps_its_color(tmp_path):
    points, truth = np.array([[0.0, 0], [1, 1]]), np.array([0, 0])
    draw_classes(tmp_path / "a.png", points, truth, np.array([1, 1]), ["7", "b_c"], "title")
    picture = imread(tmp_path / "a.png")[:, :, :3]
    wrong = np.abs(picture - to_rgb(_class_style(1)["color"])).max(axis=2) < 0.01
    halves = np.array_split(wrong, 2, axis=1)
    assert halves[1].sum() > 100  # both nodes and the legend
    draw_classes(tmp_path / "a.svg", points, truth, np.array([1, 1]), ["7", "b_c"], "title")
    text = (tmp_path / "a.svg").read_text()
    assert "outlined: 2 wrong of 2" in text
    assert "class 7" in text
    assert "b c" in text
