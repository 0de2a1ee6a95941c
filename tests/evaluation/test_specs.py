"""Specs NAME:key=value: how they are split, changed and refused."""

from __future__ import annotations

from typing import Literal

import pytest

from pine import InputError
from pine._internal.settings import Chance, Count
from pine.evaluation.specs import read_value, split_spec, with_settings


def test_a_spec_is_a_name_and_settings_in_their_order():
    assert split_spec("pine") == ("pine", {})
    assert split_spec(" gcn : dim=8 :layer=gat+pine") == ("gcn", {"dim": "8", "layer": "gat+pine"})


@pytest.mark.parametrize("wrong", ["pine:lam", "pine:lam=", "pine:=1", "pine:", "pine:lam=1:dim=8:lam=2"])
def test_a_spec_of_another_form_is_refused(wrong):
    with pytest.raises(InputError, match=r"a spec is NAME:key=value\[:key=value\], each key once, got"):
        split_spec(wrong)


def test_more_settings_are_added_and_those_there_are_replaced():
    assert with_settings("gcn", []) == "gcn"
    assert with_settings("gcn:dim={}:epochs=200", ["epochs=3", "dropout=0.1"]) == "gcn:dim={}:epochs=3:dropout=0.1"
    with pytest.raises(InputError, match="each key once"):
        with_settings("gcn", ["epochs=3", "epochs=4"])


@pytest.mark.parametrize(
    ("annotation", "text", "value"),
    [
        (Count, "3", 3),
        (Chance, "0", 0),
        (float | None, "none", None),
        (float, "inf", float("inf")),
        (bool, "False", False),
        (bool, "true", True),
        (Literal["gat", "gat+pine"], "gat+pine", "gat+pine"),
    ],
)
def test_a_value_is_read_as_its_annotation_says(annotation, text, value):
    assert read_value("spec", "key", text, annotation) == value


@pytest.mark.parametrize(
    ("annotation", "text", "expected"),
    [
        (Count, "0", "a whole number of at least 1"),
        (Chance, "1", "a number of at least 0 and below 1"),
        (float | None, "nan", "a number or none"),
        (Literal["gat", "pine"], "gcn", "'gat' or 'pine'"),
    ],
)
def test_a_value_of_another_kind_or_range_is_refused_with_what_was_expected(annotation, text, expected):
    with pytest.raises(InputError, match=f"'a:key={text}': key takes {expected}, got '{text}'"):
        read_value(f"a:key={text}", "key", text, annotation)
