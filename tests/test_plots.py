"""Pictures of classes: what they say stays inside, however many classes there are and whatever they are called."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.image import imread

from pine.plots import draw_classes


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
