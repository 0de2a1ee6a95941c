"""Edges from arrays, pairs, frames, Arrow and Parquet; their columns and weights; an error for what does not fit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.graphs import weights_of

from pine import Graph
from pine.errors import InputError
from pine.graph.read import parquet

CITIES = [("Berlin", "Paris", 878.0), ("Paris", "Rome", 1106.0), ("Rome", "Berlin", 1184.0)]
EXPECTED = {"Berlin": ["Paris", "Rome"], "Paris": ["Berlin", "Rome"], "Rome": ["Berlin", "Paris"]}
TABLE = {"source": [a for a, _, _ in CITIES], "target": [b for _, b, _ in CITIES], "weight": [w for *_, w in CITIES]}


def neighborhoods(graph: Graph) -> dict[object, list[object]]:
    return {node: sorted(graph.neighbors(node)["node"]) for node in graph.ids().tolist()}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_every_library_give_the_same_graph(make):
    graph = Graph.from_edges(make(TABLE))
    assert neighborhoods(graph) == EXPECTED
    assert graph.adjacency().weights is not None


@pytest.mark.parametrize("rows", [1, 1 << 20])
def test_a_parquet_file_is_read_in_batches(tmp_path, rows):
    pq.write_table(pa.table(TABLE), tmp_path / "cities.parquet", row_group_size=rows)
    assert neighborhoods(Graph.from_edges(tmp_path / "cities.parquet")) == EXPECTED


def test_columns_are_found_by_the_names_that_the_user_says(tmp_path):
    (tmp_path / "t.csv").write_text("when,payer,payee,amount\n1,x,y,2.5\n2,y,z,1\n")
    graph = Graph.from_edges(tmp_path / "t.csv", source="payer", target="payee", weights="amount", directed=True)
    assert graph.neighbors("x") == {"node": ["y"]}
    assert weights_of(graph.adjacency()) == [2.5, 1.0]
    frame = pd.DataFrame({"when": [1, 2], "payer": ["x", "y"], "payee": ["y", "z"]})
    with pytest.warns(UserWarning, match="Graph leaves out the edge attribute 'when'"):
        graph = Graph.from_edges(frame, source="payer", target="payee")
    assert graph.ids().tolist() == ["x", "y", "z"]


def test_weights_can_be_left_alone(tmp_path):
    (tmp_path / "t.txt").write_text("0 1 1700000000\n1 2 1700000001\n")
    assert Graph.from_edges(tmp_path / "t.txt", weights=None).adjacency().weights is None


def test_text_under_a_parquet_ending_is_refused(tmp_path):
    (tmp_path / "e.parquet").write_text("a,b\n")
    with pytest.raises(InputError, match=r"e\.parquet is not a Parquet file"):
        Graph.from_edges(tmp_path / "e.parquet")


def test_a_column_that_does_not_exist_is_named_beside_those_that_do(tmp_path):
    (tmp_path / "e.csv").write_text("from,to\na,b\n")
    with pytest.raises(InputError, match=r"e\.csv has no column 'payer'; its columns are 'from', 'to'"):
        Graph.from_edges(tmp_path / "e.csv", source="payer", target="to")
    with pytest.raises(InputError, match="edges has no column 'w'"):
        Graph.from_edges(pd.DataFrame({"u": [1], "v": [2]}), weights="w")
    with pytest.raises(InputError, match="edges has no column 'target'; say which of"):
        Graph.from_edges(pd.DataFrame({"a": [1], "b": [2]}), source="a")


ARRAYS = {
    "shape (3,)": (np.arange(3), r"edges must have shape \(num_edges, 2\), got \(3,\)"),
    "lying edges": (np.zeros((2, 5), int), r"got \(2, 5\); transpose it: edges\.T"),
    "fractions": (np.array([[0.5, 1]]), "is no whole number"),
    "NaN": (np.array([[1.0, 2.0], [np.nan, 1.0]]), "edges, row 1: source is missing"),
    "truth values": (np.array([[True, False]]), "node ids must be integers, strings or hashable objects"),
    "pairs and triples": ([(1, 2), (1, 2, 3)], r"edges, row 1: expected a pair \(source, target\), got \(1, 2, 3\)"),
    "words": (["ab", "cd"], r"edges, row 0: expected a pair"),
    "lists as ids": ([([1], 2), ("a", 3)], "node ids must be hashable"),
    "a number": (7, "edges must be an array of shape"),
    "None as an id": ([("a", None)], "row 0: target is missing"),
    "no edges and no nodes": (np.empty((0, 2), int), "a graph needs at least one node"),
    "missing in a frame": (pd.DataFrame({"u": ["a", None], "v": ["b", "c"]}), "edges, row 1: u is missing"),
}


@pytest.mark.parametrize("case", ARRAYS)
def test_bad_arrays_are_refused(case):
    edges, message = ARRAYS[case]
    with pytest.raises(InputError, match=message):
        Graph.from_edges(edges)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], r"weights must have one entry per edge, shape \(2,\), got \(1,\)"),
        ([1.0, -1.0], "edges, row 1: the weight is negative"),
        ([1.0, np.nan], "edges, row 1: the weight is missing or not a number"),
        ([1.0, "x"], "edges, row 1: the weight must be a number, got 'x'|edges, row 0"),
        ("price", "names a column, but the edges have none"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(InputError, match=message):
        Graph.from_edges([(0, 1), (1, 2)], weights=weights)


def test_columns_of_different_lengths_are_refused_with_both():
    class Frame(dict):
        columns = ("source", "target")

    with pytest.raises(InputError, match="source and target must be equally long, got 2 and 1"):
        Graph.from_edges(Frame(source=[1, 2], target=[3]))


def test_a_bad_weight_is_named_by_its_row_in_whatever_batch_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "ROWS_PER_BATCH", 2)
    pq.write_table(pa.table({"source": [1, 2, 3, 4], "target": [2, 3, 4, 5]}), tmp_path / "e.parquet")
    for bad, message in ((-1.0, "negative"), ("x", "must be a number")):
        with pytest.raises(InputError, match=rf"e\.parquet, row 3: the weight .*{message}"):
            Graph.from_edges(tmp_path / "e.parquet", weights=np.array([1.0, 1.0, 1.0, bad], object))
