"""Ids of every kind that users have."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pine import Graph, InputError


def test_any_hashable_can_be_an_id():
    graph = Graph.from_edges([((1, 2), "x"), ("x", 3), (3, frozenset({4}))])
    assert graph.ids().tolist() == [(1, 2), "x", 3, frozenset({4})]
    assert graph.neighbors("x") == {"node": [(1, 2), 3]}


@pytest.mark.parametrize("value", [None, float("nan")])
def test_none_and_nan_among_objects_are_missing_and_other_floats_are_not(value):
    assert Graph.from_edges([(1.5, "x")]).ids().tolist() == [1.5, "x"]
    with pytest.raises(InputError, match="edges, row 1: target is missing"):
        Graph.from_edges([(1.5, "x"), ("x", value)])


@pytest.mark.parametrize(
    "edges",
    [[("a", "\udcff")], [(1, "\udcff")], np.array([("a", "\udcff")]), np.array([(b"a", b"\xff")])],
    ids=["text", "objects", "an array", "bytes"],
)
def test_ids_that_are_no_unicode_text_are_refused(edges):
    with pytest.raises(InputError, match=r"no Unicode text|must be ASCII"):
        Graph.from_edges(edges)


def test_the_names_of_a_relation_are_unicode_text():
    with pytest.raises(InputError, match="must be Unicode text"):
        Graph.from_relations({("a", "\udcff", "b"): [(1, 2)]})


def test_the_integer_1_and_the_text_1_are_two_nodes():
    graph = Graph.from_edges([(1, "1"), ("1", 2)])
    assert graph.num_nodes == 3
    assert graph.neighbors("1") == {"node": [1, 2]}


def test_whole_numbers_that_a_frame_holds_as_floats_are_integers():
    frame = pd.DataFrame({"u": [1.0, 2.0], "v": [2.0, 3.0]})
    assert Graph.from_edges(frame).ids().tolist() == [1, 2, 3]


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("value", [2.5, 2.0**53, -(2.0**53)])
def test_floats_that_are_no_whole_numbers_or_too_large_to_be_exact_are_refused_with_their_row(kind, value):
    with pytest.raises(InputError, match=rf"row 1: node id {value} is no whole number; give ids as text instead"):
        Graph.from_edges(kind(np.array([[1.0, 2.0], [value, 3.0], [3.5, 4.0]])))
    assert Graph.from_edges(kind(np.array([[0.0, 2.0**53 - 1]]))).ids().tolist() == [0, 2**53 - 1]


def test_pandas_columns_of_mixed_objects_and_categories_are_read():
    mixed = pd.DataFrame({"u": pd.Series([1, "a"], dtype=object), "v": pd.Series(["a", (2, 3)], dtype=object)})
    assert Graph.from_edges(mixed).ids().tolist() == [1, "a", (2, 3)]
    categories = pd.DataFrame({"u": pd.Categorical(["x", "y"]), "v": pd.Categorical(["y", "z"])})
    assert Graph.from_edges(categories).ids().tolist() == ["x", "y", "z"]


@pytest.mark.parametrize("dtype", [np.int8, np.uint32, np.int64, "U3", object, np.float64])
def test_arrays_of_every_kind_of_id_are_read(dtype):
    edges = np.array([[1, 2], [2, 3]]).astype(dtype)
    assert Graph.from_edges(edges).num_edges == 2
