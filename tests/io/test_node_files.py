"""Files of node ids: one a line, or a column."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pine import InputError
from pine.io import read_graph_files, read_node_file


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("1\n2\n3\n", [1, 2, 3]),
        ("node\n1\n2\n", [1, 2]),
        ("person\n1\n2\n", [1, 2]),
        ("a\nb\n", ["a", "b"]),
        ("a\n1\nb\n", ["a", "1", "b"]),
        ("age,id\n30,a\n40,b\n", ["a", "b"]),
        ("Jean Valjean\nMme Magloire\n", ["Jean Valjean", "Mme Magloire"]),
        ("# all of them\na\n b \n", ["a", "b"]),
    ],
)
def test_ids_are_a_line_or_a_column(tmp_path: Path, text: str, ids: list[object]):
    (tmp_path / "n.csv").write_text(text)
    assert read_node_file(tmp_path / "n.csv")[0].objects() == ids


def test_a_column_of_ids_can_be_named(tmp_path: Path):
    (tmp_path / "n.csv").write_text("x,y\n1,a\n2,b\n")
    ids, columns = read_node_file(tmp_path / "n.csv", "y")
    assert ids.objects() == ["a", "b"]
    assert columns.ignored == ("x",)
    pq.write_table(pa.table({"x": [1, 2], "y": ["a", "b"]}), tmp_path / "n.parquet")
    assert read_node_file(tmp_path / "n.parquet", "y")[0].objects() == ["a", "b"]
    with pytest.raises(InputError, match="has no column 'z'"):
        read_node_file(tmp_path / "n.csv", "z")


def test_nodes_without_edges_come_in_by_their_file(tmp_path: Path):
    (tmp_path / "e.csv").write_text("1,2\n2,3\n")
    (tmp_path / "n.csv").write_text("id\n1\n2\n3\nalone\n")
    graph, columns = read_graph_files(tmp_path / "e.csv", nodes={"node": tmp_path / "n.csv"})
    assert graph.ids().tolist() == ["1", "2", "3", "alone"]
    assert [each.used for each in columns] == [{"source": "0", "target": "1"}, {"ids": "id"}]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_named_column_is_read_of_the_relations_that_have_it(tmp_path: Path, ending: str):
    (tmp_path / "w.csv").write_text("author,paper,hours\nann,1,2\nbob,1,3\n")
    pq.write_table(pa.table({"author": ["ann", "bob"], "paper": [1, 1], "hours": [2, 3]}), tmp_path / "w.parquet")
    (tmp_path / "c.csv").write_text("1,2\n2,3\n")
    written, cites = ("author", "writes", "paper"), ("paper", "cites", "paper")
    files = {written: tmp_path / f"w.{ending}", cites: tmp_path / "c.csv"}
    graph, columns = read_graph_files(files, weights="hours")
    assert [each.weighted for each in columns] == [True, False]
    assert graph.matrix(("author", "writes", "paper")).weights is not None
    assert "ignored 'hours'" in str(read_graph_files(files)[1][0])
    with pytest.raises(InputError, match="no file of a relation has a column 'days' for weights"):
        read_graph_files(files, weights="days")
