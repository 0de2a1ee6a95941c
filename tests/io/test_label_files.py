"""Files of labels: an id and a label a line, whatever separates them."""

from __future__ import annotations

from pathlib import Path

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
