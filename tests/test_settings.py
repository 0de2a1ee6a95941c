"""What a setting may be is what its annotation says, and what it should have been is said in words."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from pine import PINE, Graph, InputError
from pine._internal.settings import check_settings, is_a, kinds_of


class Owner:
    size: int
    rate: float | None
    weights: float | tuple[float, ...]
    paths: tuple[tuple[str, ...], ...] | None
    mode: Literal["a", "b"]
    on: bool
    file: str | Path


@pytest.mark.parametrize(
    ("name", "fit", "unfit", "wanted"),
    [
        ("size", [3, -1], [2.5, True, "3", None], "a whole number"),
        ("rate", [3, 0.5, None, float("inf")], [False, "0.5", [0.5]], "a number or none"),
        (
            "weights",
            [1.0, (1, 2.5), [1.0], np.ones(2)],
            [("x",), np.array(["x"]), None],
            "a number or a tuple of numbers",
        ),
        ("paths", [(("x", "y"),), [["x"]], None], ["x", ("x",), ((1,),)], "a tuple of tuples of words or none"),
        ("mode", ["a", "b"], ["c", None, 1], "one of 'a', 'b'"),
        ("on", [True, False], [1, None, "yes"], "true or false"),
        ("file", ["x", Path("x")], [1, None], "a word or a Path"),
    ],
)
def test_kinds_are_told_apart(name, fit, unfit, wanted):
    for value in fit:
        check_settings(Owner, {name: value})
    for value in unfit:
        with pytest.raises(InputError, match=f"^{name} must be {wanted}, got "):
            check_settings(Owner, {name: value})


def test_a_union_allows_what_its_parts_allow():
    assert kinds_of(Literal["a", "b"] | None) == ["a", "b", type(None)]
    assert is_a("a", "a")
    assert not is_a("b", "a")


def test_an_array_is_saved_with_the_other_settings(tmp_path):
    graph = Graph.from_edges([(0, 1), (1, 2)])
    model = PINE(lam=np.array([2.0]), epochs=2, dim=2).fit(graph)
    model.save(tmp_path / "run")
    loaded = PINE.load(tmp_path / "run")
    assert loaded.lam == (2.0,)
