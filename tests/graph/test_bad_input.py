"""Bad input gets one clear sentence, with file and line where there is one."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from pine import Graph
from pine.errors import InputError

FILES = {
    "a line that is too long": (
        "e.csv",
        "a,b\nc,d,e\n",
        r"e\.csv, line 2: expected 2 fields as in the first line, got 3",
    ),
    "a line that is too short": ("e.tsv", "a\tb\tc\nd\te\n", r"e\.tsv, line 2: expected 3 fields"),
    "a ragged line of blanks": ("e.txt", "1 2\n3   4\n5\n", r"e\.txt, line 3: expected 2 fields"),
    "a ragged line below comments": ("e.txt", "# one\n# two\n1 2\n\n3 4 5\n", r"e\.txt, line 5: expected 2 fields"),
    "a negative weight": ("e.csv", "u,v,weight\na,b,1\nb,c,-2\n", r"e\.csv, line 3: the weight is negative, -2"),
    "a weight that is NaN": (
        "e.csv",
        "u,v,weight\na,b,nan\n",
        r"e\.csv, line 2: the weight is missing or not a number",
    ),
    "a weight that is missing": ("e.csv", "u,v,weight\na,b,\n", r"e\.csv, line 2: the weight is missing"),
    "an infinite weight": ("e.csv", "u,v,weight\na,b,inf\n", r"e\.csv, line 2: the weight is too large, inf"),
    "a weight beyond float32": ("e.csv", "u,v,weight\na,b,1e300\n", r"e\.csv, line 2: the weight is too large"),
    "a weight that is a word": (
        "e.csv",
        "u,v,weight\na,b,1\na,c,heavy\n",
        r"e\.csv, line 3: weight must be a number, got 'heavy'",
    ),
    "a weight that is a word, integer ids": (
        "e.csv",
        "u,v,weight\n1,2,1\n2,3,x\n",
        r"e\.csv, line 3: weight must be a number",
    ),
    "an empty text id": ("e.csv", "u,v\na,b\n,c\n", r"e\.csv, line 3: column 'u' is empty"),
    "an empty integer id": ("e.csv", "u,v\n1,2\n3,\n", r"e\.csv, line 3: column 'v' is empty"),
    "an empty file": ("e.csv", "", r"e\.csv is empty"),
    "a file of comments": ("e.txt", "# nothing\n\n", r"e\.txt has no lines of data"),
    "a header alone": ("e.csv", "source,target\n", r"e\.csv has a header and no lines of data"),
    "one column": ("e.csv", "a\nb\n", r"e\.csv, line 1: expected at least two columns"),
    "a header with a name twice": ("e.csv", "id,id\na,b\n", r"."),
    "text under a Parquet ending": ("e.parquet", "a,b\n", r"e\.parquet is not a Parquet file"),
    "text under a gz ending": ("e.csv.gz", "a,b\n", r"e\.csv\.gz ends in \.gz but cannot be unpacked"),
    "Parquet under a csv ending": ("e.csv", "PAR1\x15\x04", r"e\.csv is a Parquet file, not text as its ending says"),
    "zero bytes": ("e.csv", "a\x00,b\n", r"e\.csv is not UTF-8 text"),
}


@pytest.mark.parametrize("case", [case for case in FILES if case != "a header with a name twice"])
def test_a_bad_file_is_refused_with_its_name_and_line(tmp_path, case):
    name, text, message = FILES[case]
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        Graph.from_edges(tmp_path / name)


def test_bytes_that_are_no_utf_8_are_refused_with_their_line(tmp_path):
    (tmp_path / "e.csv").write_bytes(b"a,b\nc,\xff\xfe\n")
    with pytest.raises(InputError, match=r"e\.csv, line 2: not UTF-8 text"):
        Graph.from_edges(tmp_path / "e.csv")
    far = b"".join(b"node%d,x\n" % i for i in range(20_000)) + b"c,\xff\n"
    (tmp_path / "far.csv").write_bytes(far)
    with pytest.raises(InputError, match=r"far\.csv, line 20001: not UTF-8 text"):
        Graph.from_edges(tmp_path / "far.csv")


def test_a_line_far_down_is_named(tmp_path):
    lines = [f"{i},{i + 1},1" for i in range(50_000)]
    lines[43_210] += ",9"
    (tmp_path / "e.csv").write_text("\n".join(lines))
    with pytest.raises(InputError, match=r"line 43211: expected 3 fields"):
        Graph.from_edges(tmp_path / "e.csv")


def test_a_gzip_file_that_is_cut_off_is_refused(tmp_path):
    whole = gzip.compress("\n".join(f"{i},{i * 7919 % 10007}" for i in range(100_000)).encode())
    (tmp_path / "e.csv.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"e\.csv\.gz"):
        Graph.from_edges(tmp_path / "e.csv.gz")


def test_a_file_that_is_not_there_is_refused(tmp_path):
    for name in ("no.csv", "no.parquet", "no.csv.gz"):
        with pytest.raises(InputError, match=rf"cannot read .*{name}"):
            Graph.from_edges(tmp_path / name)
    with pytest.raises(InputError, match="cannot read"):
        Graph.from_edges(tmp_path)


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


def test_an_edge_to_a_node_outside_a_closed_list_is_refused_with_its_place(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\na,b\nb,z\n")
    with pytest.raises(InputError, match=r"e\.csv, line 3: 'z' is not among the given nodes of type 'node'"):
        Graph.from_edges(tmp_path / "e.csv", nodes=["a", "b"])
    with pytest.raises(InputError, match=r"edges, row 0: 9 is not among the given nodes of type 'paper'"):
        Graph.from_relations({("author", "writes", "paper"): [("ann", 9)]}, nodes={"paper": [1, 2]})
    with pytest.raises(InputError, match=r"row 0: 'a' is not among"):
        Graph.from_edges([("a", "b")], nodes=[1, 2])


@pytest.mark.parametrize("nodes", [[1, 2, 1], ["a", "b", "a"], [(1,), "x", (1,)]])
def test_duplicate_ids_are_refused(nodes):
    with pytest.raises(InputError, match=r"stands at positions 0 and 2"):
        Graph.from_edges(np.empty((0, 2), int), nodes=nodes)


def test_types_and_relations_that_do_not_exist_are_refused():
    graph = Graph.from_relations({("author", "writes", "paper"): [("ann", 1)]})
    with pytest.raises(InputError, match="node type 'venue' does not exist; there are 'author', 'paper'"):
        graph.ids("venue")
    with pytest.raises(InputError, match=r"relation \('a', 'b', 'c'\) does not exist"):
        graph.matrix(("a", "b", "c"))
    with pytest.raises(InputError, match="there are the node types 'author', 'paper'; say which"):
        graph.ids()
    with pytest.raises(InputError, match="node type 'venue' does not exist"):
        Graph.from_relations({("a", "r", "a"): [(0, 1)]}, features={"venue": [[1]]})
    with pytest.raises(InputError, match="weights for relation"):
        Graph.from_relations({("a", "r", "a"): [(0, 1)]}, weights={("a", "s", "a"): [1]})
    with pytest.raises(InputError, match="a relation is a tuple of strings"):
        Graph.from_relations({"a-r-a": [(0, 1)]})
    with pytest.raises(InputError, match="there are no nodes 'bob' of one type here"):
        graph.neighbors("bob")
    with pytest.raises(InputError, match="there is no node 'bob' of type 'author'"):
        graph.nodes.find(["ann", "bob"], "author")


def test_options_that_do_not_exist_are_refused_with_those_that_do():
    with pytest.raises(InputError, match="duplicates must be one of 'merge', 'sum', 'keep', got 'add'"):
        Graph.from_edges([(0, 1)], duplicates="add")
    with pytest.raises(InputError, match="self_loops must be one of"):
        Graph.from_edges([(0, 1)], self_loops=True)
    with pytest.raises(InputError, match="direction='in' is for directed graphs"):
        Graph.from_edges([(0, 1)]).groups(direction="in")
    with pytest.raises(InputError, match="by must be one of"):
        Graph.from_edges([(0, 1)]).groups(by="color")


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.ones((3, 2)), r"features of type 'node' must have one row per node, \(2, ...\), got shape \(3, 2\)"),
        (np.ones(2), "must have one row per node"),
        ([["x"], ["y"]], "must be numbers"),
        ([[1.0], [np.inf]], "must be finite numbers"),
        (sp.csr_matrix((3, 2)), "must have one row per node"),
    ],
)
def test_bad_features_are_refused(features, message):
    with pytest.raises(InputError, match=message):
        Graph.from_edges([(0, 1)], features=features)
