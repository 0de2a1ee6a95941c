"""Delimiters, headers and comments are found in the first lines, and files that are no text are refused."""

from __future__ import annotations

import pytest

from pine import Graph
from pine.errors import InputError
from pine.graph.read.dialect import sniff

FILES = {
    "an empty file": ("e.csv", "", r"e\.csv is empty"),
    "a file of comments": ("e.txt", "# nothing\n\n", r"e\.txt has no lines of data"),
    "a header alone": ("e.csv", "source,target\n", r"e\.csv has a header and no lines of data"),
    "one column": ("e.csv", "a\nb\n", r"e\.csv, line 1: expected at least two columns"),
    "text under a gz ending": ("e.csv.gz", "a,b\n", r"e\.csv\.gz ends in \.gz but cannot be unpacked"),
    "Parquet under a csv ending": ("e.csv", "PAR1\x15\x04", r"e\.csv is a Parquet file, not text as its ending says"),
    "zero bytes": ("e.csv", "a\x00,b\n", r"e\.csv is not UTF-8 text"),
}


def test_usual_names_are_found_in_any_order(tmp_path):
    (tmp_path / "t.csv").write_text("to,weight,from\n1,2.0,0\n")
    graph = Graph.from_edges(tmp_path / "t.csv", directed=True)
    assert graph.neighbors(0) == {"node": [1]}


def test_snap_comments_and_blank_lines_are_passed_over(tmp_path):
    (tmp_path / "t.txt").write_text("# Directed graph\n# FromNodeId\tToNodeId\n\n0\t1\n1\t2\n\n2\t0\n")
    assert Graph.from_edges(tmp_path / "t.txt").num_edges == 3


def test_hashtags_are_ids_and_not_comments(tmp_path):
    (tmp_path / "t.csv").write_text("#python,#ml\n#ml,#graphs\n")
    assert Graph.from_edges(tmp_path / "t.csv").ids().tolist() == ["#python", "#ml", "#graphs"]


def test_quotes_byte_order_marks_and_windows_line_ends_are_understood(tmp_path):
    (tmp_path / "t.csv").write_bytes(b'\xef\xbb\xbf"Smith, J",Lee\r\nLee,"Wu, Q"\r\n')
    assert Graph.from_edges(tmp_path / "t.csv").ids().tolist() == ["Smith, J", "Lee", "Wu, Q"]


def test_a_header_can_be_forced_or_denied(tmp_path):
    (tmp_path / "t.csv").write_text("source,target\na,b\n")
    assert Graph.from_edges(tmp_path / "t.csv", header=False).num_nodes == 4
    (tmp_path / "u.csv").write_text("x,y\na,b\n")
    assert Graph.from_edges(tmp_path / "u.csv", header=False).num_nodes == 4
    assert Graph.from_edges(tmp_path / "u.csv", header=True).num_nodes == 2


def test_a_last_line_without_an_end_is_looked_at_too(tmp_path, recwarn):
    (tmp_path / "t.csv").write_text("x,y\n1,2")
    assert Graph.from_edges(tmp_path / "t.csv").ids().tolist() == [1, 2]
    assert not recwarn.list, "numbers below leave no doubt that words above are a header"


@pytest.mark.parametrize("at", range(-3, 4))
def test_the_sample_may_end_inside_a_character(tmp_path, at):
    line = "α,b\n"
    (tmp_path / "t.csv").write_bytes(b"#" * (at % 4 + 1) + b"\n" + line.encode() * 20_000)
    assert Graph.from_edges(tmp_path / "t.csv", header=False).num_nodes == 2


def test_only_the_top_of_a_large_file_is_looked_at(tmp_path):
    (tmp_path / "t.csv").write_text("# a comment\n" + "a,b\n" * 100_000)
    assert 3 <= len(sniff(tmp_path / "t.csv").sample) < 50_000


def test_a_row_that_is_no_longer_there_is_named_by_its_number(tmp_path):
    (tmp_path / "t.csv").write_text("# a comment\na,b\nb,c\n")
    file = sniff(tmp_path / "t.csv")
    assert file.where(1) == f"{tmp_path / 't.csv'}, line 3"
    assert file.where(2) == f"{tmp_path / 't.csv'}, row 2"


@pytest.mark.parametrize("case", FILES)
def test_a_bad_file_is_refused_with_its_name(tmp_path, case):
    name, text, message = FILES[case]
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        Graph.from_edges(tmp_path / name)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    for name in ("no.csv", "no.parquet", "no.csv.gz"):
        with pytest.raises(InputError, match=rf"cannot read .*{name}"):
            Graph.from_edges(tmp_path / name)
    with pytest.raises(InputError, match="cannot read"):
        Graph.from_edges(tmp_path)
