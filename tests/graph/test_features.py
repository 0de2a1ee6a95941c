"""Features of nodes in every form, rows that are not known, and what is refused in one sentence."""

from __future__ import annotations

import datetime

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from pine import Graph
from pine.errors import InputError

EDGES = [("a", "b"), ("b", "c")]
NAN, INF = float("nan"), float("inf")


def with_features(features, mask=None):
    return Graph.from_edges(EDGES, features=features, feature_mask=mask)


def dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else matrix


@settings(deadline=None)  # the first example waits for what is compiled
@given(
    known=st.lists(st.booleans(), min_size=3, max_size=3),
    junk=st.sampled_from([NAN, INF, -INF, 1e300, 7.0]),
    sparse=st.booleans(),
)
def test_rows_that_are_not_known_may_hold_anything_and_are_zeros(known, junk, sparse):
    features = np.array([[1.0, 0, 2], [0, 3, 0], [4, 5, 6]])
    expected = features * np.array(known)[:, None]
    features[~np.array(known)] = junk
    graph = with_features(sp.csr_array(features) if sparse else features, known)
    stored = graph.features["node"]
    assert sp.issparse(stored) == sparse
    assert stored.dtype == np.float32
    np.testing.assert_array_equal(dense(stored), expected)
    if all(known):
        assert not graph.feature_mask
    else:
        assert graph.feature_mask["node"].tolist() == known
    again = Graph.from_edges(EDGES).with_features({"node": features}, {"node": known})
    np.testing.assert_array_equal(again.features["node"], expected)
    assert again.feature_mask.keys() == graph.feature_mask.keys()


def test_a_mask_stays_with_the_graph_and_cannot_be_changed():
    mask = np.array([True, False, True])
    graph = with_features(np.ones((3, 1)), mask)
    for kept in (graph.renamed({"node": [1, 2, 3]}), graph.bare()):
        assert kept.feature_mask["node"].tolist() == [True, False, True]
    with pytest.raises(ValueError, match="read-only"):
        graph.feature_mask["node"][0] = False
    mask[0] = False  # the user's own array stays the user's
    assert graph.feature_mask["node"][0]
    assert not graph.with_features(np.ones((3, 1))).feature_mask


def test_a_mask_is_of_the_types_that_it_names():
    graph = Graph.from_relations(
        {("a", "to", "b"): [(0, 1), (2, 3)]},
        features={"a": np.ones((2, 1)), "b": [[NAN], [5.0]]},
        feature_mask={"b": [False, True], "a": [True, True]},
    )
    assert list(graph.feature_mask) == ["b"]
    assert graph.features["b"].tolist() == [[0], [5]]


FRAMES = {
    "pandas": pd.DataFrame({"age": [1, 2, 3], "old": [True, False, True], "size": [0.5, 1.5, 2.5]}, index=[9, 8, 7]),
    "pandas with NA": pd.DataFrame(
        {"age": pd.array([1, 2, 3], "Int64"), "old": pd.array([1, 0, 1], "boolean"), "size": [0.5, 1.5, 2.5]}
    ),
    "polars": pl.DataFrame({"age": [1, 2, 3], "old": [True, False, True], "size": [0.5, 1.5, 2.5]}),
    "Arrow": pa.table({"age": [1, 2, 3], "old": [True, False, True], "size": [0.5, 1.5, 2.5]}),
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_and_tables_of_numbers_are_taken_in_node_order(name):
    assert with_features(FRAMES[name]).features["node"].tolist() == [[1, 1, 0.5], [2, 0, 1.5], [3, 1, 2.5]]


def test_a_sparse_frame_stays_sparse():
    stored = with_features(pd.get_dummies(pd.Series(["x", "y", "x"]), sparse=True)).features["node"]
    assert sp.issparse(stored)
    assert stored.toarray().tolist() == [[1, 0], [0, 1], [1, 0]]


DAY = datetime.date(2020, 1, 1)
TEXT = r"must be numbers, got text in column 'city'; encode it, for example with pandas\.get_dummies"
BORN = "must be numbers, got dates in column 'born'; turn them into numbers"
MISSING = "must be finite numbers, got NaN for node 'b' in column 'age'; fill it, or say which .*: feature_mask="
CITIES = ["x", "y", "x"]


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.ones((4, 2)), r"features of type 'node' must have one row per node, \(3, ...\), got shape \(4, 2\)"),
        (
            np.ones(3),
            r"got shape \(3,\); one number a node is a column: features\.reshape\(-1, 1\)",
        ),
        (np.float32(1), "must have one row per node"),
        (sp.csr_array((4, 2)), "must have one row per node"),
        (sp.coo_array(np.ones(3)), r"reshape\(-1, 1\)"),
        (np.ones((3, 0)), "must have at least one column"),
        (pl.DataFrame(), "must have one row per node"),
        ([[1], [2, 3], [4]], "must be numbers in rows of one length"),
        ([["x"], ["y"], ["z"]], r"must be numbers, got text; encode it, for example with pandas\.get_dummies"),
        (np.array([["x"], ["y"], [1]], object), "got text; encode it"),
        (np.array([[None], [1.0], [2.0]], object), "got objects such as None; make them numbers, with NaN"),
        (np.ones((3, 1), complex), "got complex numbers; give their real and imaginary parts"),
        (sp.csr_array(np.ones((3, 1), complex)), "got complex numbers"),
        (np.array([["2020-01-01"]] * 3, "datetime64[D]"), "got dates; turn them into numbers"),
        ([[1.0], [NAN], [2.0]], r"must be finite numbers, got NaN for node 'b' in column 0; fill it, or say"),
        (sp.csr_array([[1.0, 0], [0, 2.0], [0, -INF]]), "got infinity for node 'c' in column 1"),
        ([[1.0, 2.0], [3.0, 1e300], [1.0, 2.0]], r"must fit into float32, got 1e\+300 for node 'b' in column 1; scale"),
        (sp.csr_array([[0, 0], [0, 0], [1e300, 0]]), "must fit into float32, got .* for node 'c' in column 0"),
        (pd.DataFrame({"age": [1, 2, 3], "city": CITIES}), TEXT),
        (pd.DataFrame({"city": pd.Categorical(CITIES)}), TEXT),
        (pd.DataFrame({"city": pd.Series(CITIES, dtype=object)}), TEXT),
        (pd.DataFrame({"born": pd.to_datetime(["2020-01-01"] * 3)}), BORN),
        (pd.DataFrame({"z": [1j, 2j, 3j]}), "got complex numbers in column 'z'"),
        (pd.DataFrame({"o": [DAY, DAY, DAY]}), "got objects in column 'o'"),
        (pd.DataFrame({"age": [1.0, None, 3.0]}), MISSING),
        (pd.DataFrame({"age": pd.array([1, None, 3], "Int64")}), MISSING),
        (pl.DataFrame({"age": [1, None, 3]}), MISSING),
        (pl.DataFrame({"city": CITIES}), TEXT),
        (pl.DataFrame({"city": CITIES}, schema={"city": pl.Categorical}), TEXT),
        (pl.DataFrame({"born": [DAY] * 3}), BORN),
        (pa.table({"city": pa.array(CITIES).dictionary_encode()}), TEXT),
        (pa.table({"born": [DAY] * 3}), BORN),
        (pa.table({"lists": [[1], [2], [3]]}), "got values of type list<.*> in column 'lists'"),
        (pa.table({"age": [1, 2, 3, 4]}), "must have one row per node"),
    ],
)
def test_bad_features_are_refused_in_a_sentence(features, message):
    with pytest.raises(InputError, match=message) as refusal:
        with_features(features)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        ([True, False], r"feature_mask of type 'node' must be True .* shape \(3,\), got bool of shape \(2,\)"),
        ([1, 0, 1], "got int64 of shape"),
        ([[True], [False], [True]], r"got bool of shape \(3, 1\)"),
        ({"venue": [True]}, "node type 'venue' does not exist"),
    ],
)
def test_bad_masks_are_refused_in_a_sentence(mask, message):
    with pytest.raises(InputError, match=message):
        with_features(np.ones((3, 1)), mask)


def test_a_mask_without_features_is_refused():
    with pytest.raises(InputError, match="feature_mask of type 'node' is given without features"):
        with_features(None, [True, False, True])
    typed = Graph.from_relations({("a", "to", "b"): [(0, 1)]})
    with pytest.raises(InputError, match="feature_mask of type 'b' is given without features"):
        typed.with_features({"a": [[1.0]]}, {"b": [True]})
    with pytest.raises(InputError, match=r"feature_mask must be {type: array}"):
        typed.with_features({"a": [[1.0]]}, [True])


def test_features_that_some_nodes_of_networkx_lack_are_not_known():
    graph = nx.path_graph(3)
    graph.nodes[0]["features"] = [1.0, 2.0]
    graph.nodes[2]["features"] = np.array([3, 4])
    taken = Graph.from_networkx(graph)
    assert taken.features["node"].tolist() == [[1, 2], [0, 0], [3, 4]]
    assert taken.feature_mask["node"].tolist() == [True, False, True]
    graph.nodes[1]["features"] = [1.0]
    with pytest.raises(InputError, match=r"need 'features' of one length, got the lengths \[1, 2\]"):
        Graph.from_networkx(graph)
    assert not Graph.from_networkx(graph, features=None).features
