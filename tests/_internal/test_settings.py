"""What a setting may be is what its annotation says, and what it should have been is said in words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from pine import PINE, Graph, InputError
from pine._internal.settings import (
    Chance,
    Count,
    FrozenSettings,
    Positive,
    Range,
    change_settings,
    check_settings,
    deep_settings,
    find_setting,
    is_a,
    kinds_of,
    plain_settings,
)


class Owner:
    size: int
    rate: float | None
    weights: float | tuple[float, ...]
    paths: tuple[tuple[str, ...], ...] | None
    mode: Literal["a", "b"]
    on: bool
    file: str | Path
    count: Count
    rate_above: Positive | None
    chance: Chance
    several: Positive | tuple[Positive, ...]


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
        ("count", [1, 7], [0, -3, 1.5, True], "a whole number of at least 1"),
        ("rate_above", [0.1, float("inf"), None], [0, -1.0, float("nan")], "a number above 0 or none"),
        ("chance", [0, 0.5], [1, -0.1, float("nan")], "a number of at least 0 and below 1"),
        ("several", [1.0, (1, 2.5)], [0.0, (1.0, -1.0)], "a number above 0 or a tuple of numbers above 0"),
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
    lam: Any = np.array([2.0])  # as a search gives it
    model = PINE(lam=lam, epochs=2, dim=2).fit(graph)
    model.save(tmp_path / "run")
    loaded = PINE.load(tmp_path / "run")
    assert loaded.lam == (2.0,)


def test_a_range_says_itself_in_words():
    assert Range(0, 1, with_low=False, with_high=True).words == "above 0 and at most 1"
    assert 1 in Range(0, 1, with_high=True)
    assert 1 not in Range(0, 1)
    assert 0 in Range(0, 1)
    assert 0 not in Range(0, 1, with_low=False)


@dataclass(frozen=True, repr=False)
class Inner(FrozenSettings):
    width: Count = 3


@dataclass
class Outer:
    depth: Count = 2
    inner: Inner = Inner()


def test_settings_objects_are_changed_by_path_and_by_name_and_refuse_what_is_out_of_range():
    outer = Outer()
    change_settings(outer, {"inner__width": 4}, "it")
    assert outer.inner == Inner(4)
    assert repr(outer) == "Outer(depth=2, inner=Inner(width=4))"
    assert repr(Outer()) == "Outer(depth=2, inner=Inner())"
    change_settings(outer, {"width": np.int64(5), "depth": 1}, "it")
    assert deep_settings(outer) == {"depth": 1, "inner": Inner(5), "inner__width": 5}
    assert plain_settings(outer) == {"depth": 1, "inner__width": 5}
    assert type(outer.inner.width) is int
    with pytest.raises(InputError, match="width must be a whole number of at least 1, got 0"):
        change_settings(outer, {"width": 0}, "it")
    with pytest.raises(InputError, match="it has no setting 'height'; there are 'depth', 'inner', 'width'"):
        find_setting(outer, "height", "it")
