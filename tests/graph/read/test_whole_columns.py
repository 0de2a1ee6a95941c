"""What a file means does not depend on where in it a line stands, nor on the delimiter, nor on what is beside it."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.graphs import weights_of

from pine import Graph
from pine.errors import InputError

DELIMITERS = {"e.csv": ",", "e.tsv": "\t", "e.txt": " ", "f.csv": ";"}
MANY = [f"{i},{i + 1}" for i in range(1, 30_000)]  # more than any sample of a file's first lines
TO_REFUSE: dict[str, tuple[str, bytes, str]] = {
    "old Mac line ends": ("e.csv", b"a,b\rb,c\ra,c\r", "lines end as on old Macs"),
    "one old Mac line end": ("e.csv", b"a,b\nb,c\ra,c\n", "line 2: lines end as on old Macs"),
    "one below a blank line": ("e.csv", b"\na,b\nb,c\ra,c\n", "line 3: lines end as on old Macs"),
    "a field that is too long": ("e.csv", b"a,b\nb," + b"x" * 140_000 + b"\na,c\n", "line 2: an id of 140,000 bytes"),
    "a line that is too long": ("e.csv", b"a,b\nb," + b"x" * (1 << 21) + b"\na,c\n", "line 2: longer than 1,048,576"),
    "a gz file with a flipped byte": ("e.csv.gz", b"\x1f\x8b\x08\x00abcdefghijklm", "cannot be unpacked"),
    "a weight that is a word, no header": ("e.csv", b"1,2,1\n2,3,x\n", "line 2: 2 must be a number, got 'x'"),
    "a header that names a column twice": ("e.csv", b"node,node\na,b\nb,c\n", "names a column twice: 'node'"),
    "a quote behind a blank": ("e.csv", b'a,b\nb, "c"\n', "line 2: a quote behind a blank"),
    "quotes where blanks separate": ("e.txt", b'"a b" c\nd c\n', "quotes do not hold fields together"),
    "a quote that is not closed": ("e.csv", b'a,b\nb,c\n"a,b\n', "line 3: expected 2 fields"),
    "a header that may be an edge": ("e.csv", b"source,target\na,target\n", "may be a header, but occur below, too"),
}


def edges_of(graph: Graph) -> set[frozenset[object]]:
    return {frozenset((a, b)) for a in graph.ids().tolist() for b in graph.neighbors(a)["node"]}


def write(folder: Path, lines: list[str], name: str = "e.csv") -> Path:
    path = folder / name
    path.write_text("\n".join(line.replace(",", DELIMITERS.get(name, ",")) for line in lines) + "\n")
    return path


@pytest.mark.parametrize("odd", ["0x10", "-0", "007", "+5", "1_000", "1e3", "9223372036854775808", "x"])
@pytest.mark.parametrize("at", [0, 15_000, 29_999])
def test_one_id_that_is_no_integer_makes_text_of_all_wherever_it_stands(tmp_path, odd, at):
    graph = Graph.from_edges(write(tmp_path, [*MANY[:at], f"{odd},1", *MANY[at:]]), header=False)
    assert odd in graph.ids().tolist()
    assert {type(node) for node in graph.ids().tolist()} == {str}
    assert odd in graph.neighbors("1")["node"]


@pytest.mark.parametrize("line", ["1, 2", " 1,2", "1 ,2 ", "1\t, 2"])
@pytest.mark.parametrize("at", [0, 29_999])
def test_blanks_around_a_field_are_no_part_of_it_wherever_it_stands(tmp_path, line, at):
    graph = Graph.from_edges(write(tmp_path, [*MANY[:at], line, *MANY[at:]]))
    assert graph.ids().tolist() == list(range(1, 30_001))
    words = [f"n{i},n{i + 1}" for i in range(1, 9)]
    blank = Graph.from_edges(write(tmp_path, [*words, " n1 , n5 "]))
    assert edges_of(blank) == edges_of(Graph.from_edges(write(tmp_path, [*words, "n1,n5"])))


FIELDS = st.sampled_from(
    ["1", "2", "33", "-4", "0", "007", "0x1", "-0", "a", "b", " c", "d ", "#e", "%f", "1.0", "x y"]
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(FIELDS, FIELDS), min_size=2, max_size=8), st.randoms())
def test_lines_in_any_order_are_the_same_graph(tmp_path: Path, pairs: list[tuple[str, str]], rng: random.Random):
    lines = [f"{a},{b}" for a, b in pairs]
    first = Graph.from_edges(write(tmp_path, lines), header=False)
    rng.shuffle(lines)
    second = Graph.from_edges(write(tmp_path, lines), header=False)
    assert set(first.ids().tolist()) == set(second.ids().tolist())
    assert edges_of(first) == edges_of(second)


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Z")), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=8))
def test_quoted_ids_come_back_as_they_were_written(tmp_path: Path, pairs: list[tuple[str, str]]):
    def quoted(word: str) -> str:
        return '"' + word.replace('"', '""') + '"'

    path = tmp_path / "e.csv"
    path.write_text("".join(f"{quoted(a)},{quoted(b)}\n" for a, b in pairs), encoding="utf-8")
    graph = Graph.from_edges(path, header=False)
    assert set(map(str, graph.ids().tolist())) == {word for pair in pairs for word in pair}


def test_a_quoted_line_break_is_part_of_a_field_wherever_it_stands(tmp_path):
    lines = [f"n{i},n{i + 1},fine" for i in range(30_000)]
    for at in (0, 17_000, 30_000):
        graph = Graph.from_edges(
            write(tmp_path, ["source,target,note", *lines[:at], 'a,b,"one\ntwo"', *lines[at:]]), header=True
        )
        assert graph.num_nodes == 30_003
    for header in (True, False):
        lines = ["source,target"] * header + ['"a\nx",b', 'b,"a\nx"', 'c,"a\nx"']
        assert Graph.from_edges(write(tmp_path, lines)).ids().tolist() == ["a\nx", "b", "c"]
    assert Graph.from_edges(write(tmp_path, ['"from\nhere",to', "b,c", "c,d"])).ids().tolist() == ["b", "c", "d"]


@pytest.mark.parametrize("name", DELIMITERS)
@pytest.mark.parametrize("comment", ["# foo", "#", "% foo", "%%MatrixMarket x", "## x"])
def test_comments_stand_at_the_top_in_every_dialect_and_are_refused_below(tmp_path, name, comment):
    lines = ["a,b", "b,c", "c,a"]
    assert Graph.from_edges(write(tmp_path, [comment, "", *lines], name)).num_edges == 3
    for at in (1, 2, 3):
        with pytest.raises(InputError, match=rf"line {at + 1}: a comment below the first line of data"):
            Graph.from_edges(write(tmp_path, [*lines[:at], comment, *lines[at:]], name))


@pytest.mark.parametrize("name", DELIMITERS)
@pytest.mark.parametrize("line", ["#python,a", "%a,b"])
def test_a_sign_with_a_word_is_an_id_at_the_top_and_below(tmp_path, name, line):
    lines = ["a,b", "b,c", "c,a"]
    for at in (0, 2):
        graph = Graph.from_edges(write(tmp_path, [*lines[:at], line, *lines[at:]], name))
        assert line.split(",")[0] in graph.ids().tolist()


def test_ids_of_a_type_are_integers_or_text_in_all_files_together(tmp_path):
    writes = write(tmp_path, ["ann,1", "bob,1", "ann,2"], "w.csv")
    cites = write(tmp_path, ["1,3", "2,x4"], "c.csv")
    graph = Graph.from_relations({("author", "writes", "paper"): writes, ("paper", "cites", "paper"): cites})
    assert sorted(graph.ids("paper").tolist()) == ["1", "2", "3", "x4"]
    cites.write_text("1,3\n2,4\n")
    graph = Graph.from_relations({("author", "writes", "paper"): writes, ("paper", "cites", "paper"): cites})
    assert graph.ids("paper").tolist() == [1, 2, 3, 4]


def test_a_list_of_nodes_is_compared_with_a_file_as_it_is_written(tmp_path):
    path = write(tmp_path, ["1,2", "2,3"])
    assert Graph.from_edges(path, nodes=["1", "2", "3", "x"]).ids().tolist() == ["1", "2", "3", "x"]
    with pytest.raises(InputError, match="line 3: '007' is not among the given nodes"):
        Graph.from_edges(write(tmp_path, ["1,2", "2,3", "1,007"]), nodes=[1, 2, 3])


@pytest.mark.parametrize("case", TO_REFUSE)
def test_what_cannot_be_read_is_refused_in_one_sentence(tmp_path, case):
    name, data, message = TO_REFUSE[case]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=message) as caught:
        Graph.from_edges(tmp_path / name, weights="2" if "weight" in case else "auto")
    assert len(str(caught.value)) <= 300


def test_a_gz_file_that_grows_beyond_a_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("pine.graph.read.lines.UNPACKED_SIZE", 1 << 16)
    path = tmp_path / "e.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" * 500_000))
    with pytest.raises(InputError, match=r"e\.csv\.gz unpacks to more than .* bytes"):
        Graph.from_edges(path)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200), st.sampled_from(["e.csv", "e.tsv", "e.txt", "e.csv.gz", "e.parquet"]))
@pytest.mark.filterwarnings("ignore:.*is read as a header")
def test_any_bytes_are_a_graph_or_one_short_sentence(tmp_path: Path, data: bytes, name: str):
    (tmp_path / name).write_bytes(data)
    refusal = ""
    try:
        Graph.from_edges(tmp_path / name, weights=None)
    except InputError as problem:
        refusal = str(problem)
    assert len(refusal) <= 300
    assert "\n" not in refusal


def test_weights_of_a_file_are_read_to_the_last_digit(tmp_path):
    graph = Graph.from_edges(write(tmp_path, ["u,v,weight", "a,b, 0.5", "b,c,1e-3 "]), directed=True)
    assert weights_of(graph.adjacency()) == pytest.approx([0.5, 1e-3])
