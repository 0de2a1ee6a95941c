"""Columns of text files: integers where all are, text as it stands, and the line of whatever is wrong."""

from __future__ import annotations

import gzip
from typing import Any

import numpy as np
import pytest
from support.graphs import weights_of

from pine import Graph
from pine.errors import InputError
from pine.graph.read import text

CITIES = [("Berlin", "Paris", 878.0), ("Paris", "Rome", 1106.0), ("Rome", "Berlin", 1184.0)]
EXPECTED = {"Berlin": ["Paris", "Rome"], "Paris": ["Berlin", "Rome"], "Rome": ["Berlin", "Paris"]}


def neighborhoods(graph: Graph) -> dict[object, list[object]]:
    return {node: sorted(graph.neighbors(node)["node"]) for node in graph.ids().tolist()}


FILES = {
    "a line that is too long": (
        "e.csv",
        "a,b\nb,d,e\n",
        r"e\.csv, line 2: expected 2 fields as in the first line, got 3",
    ),
    "a line that is too short": ("e.tsv", "a\tb\tc\na\te\n", r"e\.tsv, line 2: expected 3 fields"),
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
}


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".edgelist"])
@pytest.mark.parametrize("header", [True, False])
def test_text_files_of_every_dialect_give_the_same_graph(tmp_path, ending, header):
    delimiter = {".csv": ",", ".tsv": "\t", ".txt": " ", ".edgelist": "   "}[ending.removesuffix(".gz")]
    lines = [delimiter.join(map(str, row)) for row in CITIES]
    text = "\n".join([delimiter.join(["source", "target", "weight"])] * header + lines) + "\n"
    path = tmp_path / f"cities{ending}"
    path.write_bytes(gzip.compress(text.encode()) if ending.endswith(".gz") else text.encode())
    graph = Graph.from_edges(path, weights="weight" if header else "2")
    assert graph.ids().tolist() == ["Berlin", "Paris", "Rome"]
    assert neighborhoods(graph) == EXPECTED
    assert sorted(weights_of(graph.adjacency())) == sorted([878.0, 1106.0, 1184.0] * 2)


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


def test_words_that_other_readers_take_for_missing_values_are_ids(tmp_path):
    (tmp_path / "t.csv").write_text("NA,null\nnull,true\ntrue,2020-01-01\n")
    assert Graph.from_edges(tmp_path / "t.csv").ids().tolist() == ["NA", "null", "true", "2020-01-01"]


def test_large_text_files_are_read_in_blocks_with_the_same_result(tmp_path):
    rng = np.random.default_rng(0)
    pairs = [(f"n{a}", f"n{b}") for a, b in rng.integers(0, 5000, (150_000, 2))]
    (tmp_path / "t.csv").write_text("\n".join(f"{a},{b}" for a, b in pairs))
    graph = Graph.from_edges(tmp_path / "t.csv")
    assert graph.ids().tolist() == list(dict.fromkeys(end for pair in pairs for end in pair))
    assert graph.num_edges == len({frozenset(pair) for pair in pairs if pair[0] != pair[1]})


@pytest.mark.parametrize("longest", [100, 200, 300, 1000])
def test_every_edge_of_every_batch_is_there(tmp_path, monkeypatch, longest):
    monkeypatch.setattr(text, "LONGEST_LINE", longest)
    pairs = np.random.default_rng(0).integers(0, 90, (150, 2))
    pairs[0] = 0, 0
    (tmp_path / "t.csv").write_text("\n".join(f"{a},{b}" for a, b in pairs))
    options: dict[str, Any] = {"directed": True, "self_loops": "keep", "duplicates": "keep"}
    ours, wanted = Graph.from_edges(tmp_path / "t.csv", **options), Graph.from_edges(pairs, **options)
    assert ours.ids().tolist() == wanted.ids().tolist()
    assert ours.num_edges == 150
    np.testing.assert_array_equal(ours.adjacency().to_scipy().toarray(), wanted.adjacency().to_scipy().toarray())


def test_typed_graphs_come_from_files_too(tmp_path):
    (tmp_path / "writes.csv").write_text("author,paper\nann,p1\nbob,p1\n")
    (tmp_path / "cites.tsv").write_text("p2\tp1\n")
    graph = Graph.from_relations(
        {("author", "writes", "paper"): tmp_path / "writes.csv", ("paper", "cites", "paper"): tmp_path / "cites.tsv"}
    )
    assert graph.num_nodes == 4
    assert graph.neighbors("p1") == {"author": ["ann", "bob"], "paper": ["p2"]}


@pytest.mark.parametrize("case", FILES)
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
        Graph.from_edges(tmp_path / "e.csv", weights="2")


def test_a_gzip_file_that_is_cut_off_is_refused(tmp_path):
    whole = gzip.compress("\n".join(f"{i},{i * 7919 % 10007}" for i in range(100_000)).encode())
    (tmp_path / "e.csv.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"e\.csv\.gz"):
        Graph.from_edges(tmp_path / "e.csv.gz")


def test_a_comment_in_the_data_is_refused_with_its_line_wherever_a_block_begins(tmp_path):
    lines = (1 << 20) // 4  # of four bytes: the comment is the first line of the second block
    (tmp_path / "e.txt").write_text("1 2\n" * lines + "# 3\n4 5\n")
    with pytest.raises(InputError, match=rf"line {lines + 1}: a comment below the first line of data"):
        Graph.from_edges(tmp_path / "e.txt")
