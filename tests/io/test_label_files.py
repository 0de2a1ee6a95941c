"""Files of labels: an id and a label a line, whatever separates them."""

from __future__ import annotations

import itertools
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pine import Graph, InputError
from pine.io.label_files import read_label_file


def test_one_line_a_node_gives_classes_by_id(tmp_path: Path):
    (tmp_path / "labels.tsv").write_text("id\tlabel\n1\tred\n3\tblue\n")
    assert read_label_file(tmp_path / "labels.tsv", Graph.from_edges([(1, 2), (2, 3)])) == {1: "red", 3: "blue"}


def test_an_id_on_several_lines_has_a_set_of_labels_and_then_all_have(tmp_path: Path):
    (tmp_path / "labels.csv").write_text("a,x\na,y\nb,x\n")
    found = read_label_file(tmp_path / "labels.csv", Graph.from_edges([("a", "b")]))
    assert found == {"a": {"x", "y"}, "b": {"x"}}


def test_the_same_label_twice_is_one_label(tmp_path: Path):
    (tmp_path / "labels.csv").write_text("a,x\na,x\n")
    assert read_label_file(tmp_path / "labels.csv", Graph.from_edges([("a", "b")])) == {"a": "x"}


def test_ids_that_are_text_in_the_graph_stay_text(tmp_path: Path):
    (tmp_path / "labels.csv").write_text("7,x\n")
    assert read_label_file(tmp_path / "labels.csv", Graph.from_edges([("7", "b")])) == {"7": "x"}


def test_labels_of_a_typed_graph_are_on_the_given_type(tmp_path: Path):
    graph = Graph.from_relations({("author", "writes", "paper"): [("ann", 1)]})
    (tmp_path / "labels.csv").write_text("ann,x\n")
    assert read_label_file(tmp_path / "labels.csv", graph, "author") == {"author": {"ann": "x"}}
    with pytest.raises(InputError, match=r"no node has a label; ids such as 'ann' are not in the graph, which has 1"):
        read_label_file(tmp_path / "labels.csv", graph, "paper")


GRAPH = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d")])


def labels_of(folder: Path, text: str, graph: Graph = GRAPH, **options: Any) -> dict[Any, Any]:
    (folder / "labels.csv").write_text(text)
    return read_label_file(folder / "labels.csv", graph, **options)


@pytest.mark.parametrize("empty", ["", " ", "NA", "<NA>", "NaN", "nan"])
def test_empty_cells_are_unknown_as_pandas_writes_them(tmp_path: Path, empty: str):
    assert labels_of(tmp_path, f"a,x\nb,{empty}\nc,y\n") == {"a": "x", "c": "y"}
    assert labels_of(tmp_path, f"id,label\nb,{empty}\nc,1.5\nd,2\n") == {"c": 1.5, "d": 2.0}


def test_what_pandas_writes_comes_back(tmp_path: Path):
    frame = pd.DataFrame(
        {"node": list("abcd"), "kind": pd.array([1, None, 3, 1], "Int64"), "size": [0.5, 1.5, 2, None]}
    )
    frame.to_csv(tmp_path / "l.csv")
    frame.to_parquet(tmp_path / "l.parquet")
    for name in ("l.csv", "l.parquet"):
        kinds = read_label_file(tmp_path / name, GRAPH, id_column="node", label_column="kind")
        assert kinds == {"a": 1, "c": 3, "d": 1}
        sizes = read_label_file(tmp_path / name, GRAPH, label_column="size")
        assert sizes == {"a": 0.5, "b": 1.5, "c": 2.0}


def test_parquet_labels_may_be_lists(tmp_path: Path):
    table = pa.table({"id": ["a", "b", "c"], "label": [["x", "y"], ["x"], None]})
    pq.write_table(table, tmp_path / "l.parquet")
    assert read_label_file(tmp_path / "l.parquet", GRAPH) == {"a": {"x", "y"}, "b": {"x"}}


@pytest.mark.parametrize("label", [Decimal("1.5"), date(2020, 1, 1), b"x", {"x": 1}, [b"x"]])
def test_parquet_labels_that_no_run_could_hold_are_refused_when_they_are_read(tmp_path: Path, label: Any):
    pq.write_table(pa.table({"id": ["a"], "label": [label]}), tmp_path / "l.parquet")
    with pytest.raises(InputError, match="labels must be numbers, text or lists of these"):
        read_label_file(tmp_path / "l.parquet", GRAPH)


@pytest.mark.parametrize("separator", [";", "|", " / "])
def test_several_labels_in_a_cell_are_a_set(tmp_path: Path, separator: str):
    text = f"a,A{separator}B\nb,B\nc,\nd,C {separator}A\n"
    assert labels_of(tmp_path, text, separator=separator) == {"a": {"A", "B"}, "b": {"B"}, "d": {"A", "C"}}


def test_a_separator_that_was_not_given_is_asked_for(tmp_path: Path):
    with pytest.warns(UserWarning, match=r"labels hold ';'; if it separates several labels of a node, say separator="):
        assert labels_of(tmp_path, "a,A;B\nb,B;C\nc,A\n")["a"] == "A;B"


def test_labels_of_ids_that_are_not_in_the_graph_are_counted(tmp_path: Path):
    with pytest.warns(UserWarning, match=r"2 labels are left out, of ids that are not in the graph: 'y', 'z'"):
        assert labels_of(tmp_path, "a,1\ny,2\nz,1\nb,2\n") == {"a": 1, "b": 2}
    with_nodes = Graph.from_edges([("a", "b")], nodes=["a", "b", "y", "z"])
    assert labels_of(tmp_path, "a,1\ny,2\nz,1\nb,2\n", with_nodes) == {"a": 1, "y": 2, "z": 1, "b": 2}


def test_labels_of_a_typed_graph_are_on_the_only_type_that_has_their_ids(tmp_path: Path):
    buys, likes = [("ann", "pen"), ("bob", "both")], [("both", "ann")]
    graph = Graph.from_relations({("user", "buys", "product"): buys, ("user", "likes", "user"): likes})
    assert labels_of(tmp_path, "who,group\nann,1\nbob,2\n", graph) == {"user": {"ann": 1, "bob": 2}}
    assert labels_of(tmp_path, "ann,1\nboth,2\n", graph, type="user") == {"user": {"ann": 1, "both": 2}}
    for text, where in {
        "ann,1\nboth,2\n": "are of the node types 'user', 'product'",
        "eve,1\n": "are in none of 'user', 'product'",
    }.items():
        with pytest.raises(InputError, match=f"ids {where}; say which type the labels are on: .*--label-type"):
            labels_of(tmp_path, text, graph)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("a,red\nb,blue\n", {"a": "red", "b": "blue"}),  # the first id is a node
        ("person,color\na,red\nb,blue\n", {"a": "red", "b": "blue"}),
        ("id,label\na,1\nb,2\n", {"a": 1, "b": 2}),
        ("label,id\n1,a\n2,b\n", {"a": 1, "b": 2}),
        ("a,1\nb,2\n", {"a": 1, "b": 2}),
    ],
)
@pytest.mark.filterwarnings("ignore:.*is read as a header")
def test_a_header_is_a_line_whose_id_is_no_node_and_whose_label_is_nowhere_else(tmp_path: Path, text, labels):
    assert labels_of(tmp_path, text) == labels


def test_a_first_line_of_an_unknown_node_with_a_known_label_is_data(tmp_path: Path):
    with pytest.warns(UserWarning, match="1 label is left out"):
        assert labels_of(tmp_path, "stranger,x\na,x\nb,y\n") == {"a": "x", "b": "y"}


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1", "2", "1"], [1, 2, 1]),
        (["1", "2.5", "1e1"], [1.0, 2.5, 10.0]),
        (["1", "007", "1"], ["1", "007", "1"]),
        (["1", "x", "2.5"], ["1", "x", "2.5"]),
    ],
)
def test_labels_are_integers_numbers_or_words_all_together(tmp_path: Path, cells, values):
    for order in itertools.permutations(range(3)):
        text = "".join(f"{'abc'[i]},{cells[i]}\n" for i in order)
        assert labels_of(tmp_path, text, header=False) == dict(zip("abc", values, strict=True))


def test_two_numbers_for_a_node_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match=r"node 'a' has several numbers as labels: 1\.5, 2\.5; keep one"):
        labels_of(tmp_path, "a,1.5\na,2.5\nb,1\n")
