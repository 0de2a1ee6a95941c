"""A first line is a header where its words are no numbers and occur nowhere else in their columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pine import Graph
from pine.errors import InputError


def graph_of(folder: Path, text: str, **options: Any) -> Graph:
    (folder / "t.csv").write_text(text)
    return Graph.from_edges(folder / "t.csv", **options)


@pytest.mark.parametrize("header", ["payer,payee", "source,target", "Paul,Paula", "#source,target", "a,b"])
def test_words_that_occur_nowhere_else_are_a_header(tmp_path, header):
    assert graph_of(tmp_path, f"{header}\nx,y\ny,z\n").ids().tolist() == ["x", "y", "z"]
    assert graph_of(tmp_path, f"{header}\n1,2\n2,3\n").ids().tolist() == [1, 2, 3]


def test_words_that_occur_far_below_are_an_edge(tmp_path):
    lines = "".join(f"n{i},n{i + 1}\n" for i in range(30_000))
    assert graph_of(tmp_path, f"ann,bob\n{lines}bob,n7\n").ids().tolist()[:2] == ["ann", "bob"]
    assert graph_of(tmp_path, f"ann,bob\n{lines}bobby,n7\n").num_nodes == 30_002


def test_a_line_with_a_number_is_data(tmp_path):
    assert graph_of(tmp_path, "Myriel,Napoleon,1\nMyriel,Valjean,5\n", weights="2").num_edges == 2
    assert graph_of(tmp_path, "ann,7\nbob,8\n").num_nodes == 4


def test_a_word_of_the_header_may_occur_in_another_column(tmp_path):
    text = "note,source,target\nsource,a,b\ntarget,b,c\n"
    assert graph_of(tmp_path, text).ids().tolist() == ["a", "b", "c"]


def test_a_header_among_lines_that_are_all_different_is_read_with_a_warning(tmp_path):
    with pytest.warns(UserWarning, match="line 1 is read as a header: 'x', 'y'; if it is data, say header=False"):
        assert graph_of(tmp_path, "x,y\na,b\n").num_nodes == 2


def test_a_single_line_of_words_is_an_edge(tmp_path):
    assert graph_of(tmp_path, "x,y\n").num_nodes == 2


def test_a_usual_name_that_is_also_a_node_must_be_told(tmp_path):
    text = "source,target\na,b\nb,target\n"
    with pytest.raises(InputError, match=r"line 1: 'source', 'target' may be a header, but occur below, too"):
        graph_of(tmp_path, text)
    assert graph_of(tmp_path, text, header=True).num_nodes == 3
    assert graph_of(tmp_path, text, header=False).num_nodes == 4


def test_relations_have_headers_too(tmp_path):
    (tmp_path / "w.csv").write_text("writer,book\nann,1\nbob,1\n")
    graph = Graph.from_relations({("author", "writes", "paper"): tmp_path / "w.csv"})
    assert graph.ids("author").tolist() == ["ann", "bob"]
    assert graph.ids("paper").tolist() == [1]


def test_a_repeated_name_is_refused_and_never_an_edge(tmp_path):
    for first in ("id,id", "x,x", "source,target,note,note"):
        rest = ",1,2" if first.count(",") == 3 else ""
        with pytest.raises(InputError, match=r"line 1: the header names a column twice"):
            graph_of(tmp_path, f"{first}\na,b{rest}\nb,a{rest}\n")
    assert graph_of(tmp_path, "x,x\na,b\nb,x\n", self_loops="keep").num_nodes == 3


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=9), st.booleans())
def test_a_header_changes_nothing_but_the_names(tmp_path, pairs, words):
    lines = "".join(f"n{a},n{b}\n" if words else f"{a},{b}\n" for a, b in pairs)
    with_header = graph_of(tmp_path, f"source,target\n{lines}")
    without = graph_of(tmp_path, lines, header=False)
    assert with_header.ids().tolist() == without.ids().tolist()
    assert with_header.num_edges == without.num_edges
