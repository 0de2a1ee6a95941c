"""Reading edges from files and frames of every form that users have."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pine import Graph

CITIES = [("Berlin", "Paris", 878.0), ("Paris", "Rome", 1106.0), ("Rome", "Berlin", 1184.0)]
EXPECTED = {"Berlin": ["Paris", "Rome"], "Paris": ["Berlin", "Rome"], "Rome": ["Berlin", "Paris"]}
TABLE = {"source": [a for a, _, _ in CITIES], "target": [b for _, b, _ in CITIES], "weight": [w for *_, w in CITIES]}


def neighborhoods(graph: Graph) -> dict[object, list[object]]:
    return {node: sorted(graph.neighbors(node)["node"]) for node in graph.ids().tolist()}


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".edgelist"])
@pytest.mark.parametrize("header", [True, False])
def test_text_files_of_every_dialect_give_the_same_graph(tmp_path, ending, header):
    delimiter = {".csv": ",", ".tsv": "\t", ".txt": " ", ".edgelist": "   "}[ending.removesuffix(".gz")]
    lines = [delimiter.join(map(str, row)) for row in CITIES]
    text = "\n".join([delimiter.join(["source", "target", "weight"])] * header + lines) + "\n"
    path = tmp_path / f"cities{ending}"
    path.write_bytes(gzip.compress(text.encode()) if ending.endswith(".gz") else text.encode())
    graph = Graph.from_edges(path)
    assert graph.ids().tolist() == ["Berlin", "Paris", "Rome"]
    assert neighborhoods(graph) == EXPECTED
    assert sorted(graph.adjacency().weights.tolist()) == sorted([878.0, 1106.0, 1184.0] * 2)


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
    assert graph.adjacency().weights.tolist() == [2.5, 1.0]
    frame = pd.DataFrame({"when": [1, 2], "payer": ["x", "y"], "payee": ["y", "z"]})
    assert Graph.from_edges(frame, source="payer", target="payee").ids().tolist() == ["x", "y", "z"]


def test_usual_names_are_found_in_any_order(tmp_path):
    (tmp_path / "t.csv").write_text("to,weight,from\n1,2.0,0\n")
    graph = Graph.from_edges(tmp_path / "t.csv", directed=True)
    assert graph.neighbors(0) == {"node": [1]}


def test_weights_can_be_left_alone(tmp_path):
    (tmp_path / "t.txt").write_text("0 1 1700000000\n1 2 1700000001\n")
    assert Graph.from_edges(tmp_path / "t.txt", weights=None).adjacency().weights is None


def test_integer_ids_in_a_file_become_integers(tmp_path):
    (tmp_path / "t.csv").write_text("10,2\n2,33\n")
    assert Graph.from_edges(tmp_path / "t.csv").ids().tolist() == [2, 10, 33]


def test_ids_that_stop_being_integers_after_many_lines_are_text_altogether(tmp_path):
    lines = [f"{i},{i + 1}" for i in range(30_000)] + ["x,0"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    graph = Graph.from_edges(tmp_path / "t.csv")
    assert graph.ids().tolist()[:2] == ["0", "1"]
    assert graph.neighbors("x") == {"node": ["0"]}


@pytest.mark.parametrize("early", [True, False])
def test_ids_with_leading_zeros_keep_them(tmp_path, early):
    lines = [f"{i},{i + 1}" for i in range(1, 20_000)]
    lines.insert(0 if early else len(lines), "007,7")
    (tmp_path / "t.csv").write_text("\n".join(lines))
    graph = Graph.from_edges(tmp_path / "t.csv")
    assert "7" in graph.neighbors("007")["node"]


def test_zeros_that_lead_in_other_columns_do_not_turn_ids_into_text(tmp_path):
    (tmp_path / "t.csv").write_text("source,target,date\n1,2,01-02\n2,3,03-04\n")
    assert Graph.from_edges(tmp_path / "t.csv").ids().tolist() == [1, 2, 3]


def test_snap_comments_and_blank_lines_are_passed_over(tmp_path):
    (tmp_path / "t.txt").write_text("# Directed graph\n# FromNodeId\tToNodeId\n\n0\t1\n1\t2\n\n2\t0\n")
    assert Graph.from_edges(tmp_path / "t.txt").num_edges == 3


def test_hashtags_are_ids_and_not_comments(tmp_path):
    (tmp_path / "t.csv").write_text("#python,#ml\n#ml,#graphs\n")
    assert Graph.from_edges(tmp_path / "t.csv").ids().tolist() == ["#python", "#ml", "#graphs"]


def test_quotes_byte_order_marks_and_windows_line_ends_are_understood(tmp_path):
    (tmp_path / "t.csv").write_bytes(b'\xef\xbb\xbf"Smith, J",Lee\r\nLee,"Wu, Q"\r\n')
    assert Graph.from_edges(tmp_path / "t.csv").ids().tolist() == ["Smith, J", "Lee", "Wu, Q"]


def test_words_that_other_readers_take_for_missing_values_are_ids(tmp_path):
    (tmp_path / "t.csv").write_text("NA,null\nnull,true\ntrue,2020-01-01\n")
    assert Graph.from_edges(tmp_path / "t.csv").ids().tolist() == ["NA", "null", "true", "2020-01-01"]


def test_a_header_can_be_forced_or_denied(tmp_path):
    (tmp_path / "t.csv").write_text("source,target\na,b\n")
    assert Graph.from_edges(tmp_path / "t.csv", header=False).num_nodes == 4
    (tmp_path / "u.csv").write_text("x,y\na,b\n")
    assert Graph.from_edges(tmp_path / "u.csv").num_nodes == 4
    assert Graph.from_edges(tmp_path / "u.csv", header=True).num_nodes == 2


def test_whole_numbers_that_a_frame_holds_as_floats_are_integers():
    frame = pd.DataFrame({"u": [1.0, 2.0], "v": [2.0, 3.0]})
    assert Graph.from_edges(frame).ids().tolist() == [1, 2, 3]


def test_pandas_columns_of_mixed_objects_and_categories_are_read():
    mixed = pd.DataFrame({"u": pd.Series([1, "a"], dtype=object), "v": pd.Series(["a", (2, 3)], dtype=object)})
    assert Graph.from_edges(mixed).ids().tolist() == [1, "a", (2, 3)]
    categories = pd.DataFrame({"u": pd.Categorical(["x", "y"]), "v": pd.Categorical(["y", "z"])})
    assert Graph.from_edges(categories).ids().tolist() == ["x", "y", "z"]


@pytest.mark.parametrize("dtype", [np.int8, np.uint32, np.int64, "U3", object, np.float64])
def test_arrays_of_every_kind_of_id_are_read(dtype):
    edges = np.array([[1, 2], [2, 3]]).astype(dtype)
    assert Graph.from_edges(edges).num_edges == 2


def test_large_text_files_are_read_in_blocks_with_the_same_result(tmp_path):
    rng = np.random.default_rng(0)
    pairs = [(f"n{a}", f"n{b}") for a, b in rng.integers(0, 5000, (150_000, 2))]
    (tmp_path / "t.csv").write_text("\n".join(f"{a},{b}" for a, b in pairs))
    graph = Graph.from_edges(tmp_path / "t.csv")
    assert graph.ids().tolist() == list(dict.fromkeys(end for pair in pairs for end in pair))
    assert graph.num_edges == len({frozenset(pair) for pair in pairs if pair[0] != pair[1]})


def test_typed_graphs_come_from_files_too(tmp_path):
    (tmp_path / "writes.csv").write_text("author,paper\nann,p1\nbob,p1\n")
    (tmp_path / "cites.tsv").write_text("p2\tp1\n")
    graph = Graph.from_relations(
        {("author", "writes", "paper"): tmp_path / "writes.csv", ("paper", "cites", "paper"): tmp_path / "cites.tsv"}
    )
    assert graph.num_nodes == 4
    assert graph.neighbors("p1") == {"author": ["ann", "bob"], "paper": ["p2"]}


def test_a_first_line_that_may_be_a_header_is_read_with_a_warning(tmp_path):
    (tmp_path / "t.csv").write_text("payer,payee\nx,y\ny,z\n")
    with pytest.warns(
        UserWarning, match="line 1 is read as data: 'payer', 'payee'. If it is a header, say header=True"
    ):
        assert Graph.from_edges(tmp_path / "t.csv").num_nodes == 5
    assert Graph.from_edges(tmp_path / "t.csv", header=True).num_nodes == 3
