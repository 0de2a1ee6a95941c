"""Rows in files, out of Parquet: the graph that from_edges reads into memory, or the same sentence."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pine import Graph, InputError
from pine.graph import csr
from pine.graph.read import parquet


def write(path, source, target, weight=None):
    columns = {"source": pa.array(source), "target": pa.array(target)}
    if weight is not None:
        columns["weight"] = pa.array(weight)
    pq.write_table(pa.table(columns), path, row_group_size=50)
    return path


def check_same(ours, theirs):
    assert ours.ids().tolist() == theirs.ids().tolist()
    assert ours.num_edges == theirs.num_edges
    mine, wanted = ours.links(), theirs.links()
    np.testing.assert_array_equal(mine.indptr, wanted.indptr)
    np.testing.assert_array_equal(mine.indices, wanted.indices)
    assert mine.indices.dtype == wanted.indices.dtype
    if wanted.weights is None:
        assert mine.weights is None
    else:
        np.testing.assert_array_equal(mine.weights, wanted.weights)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Several batches, and several ranges of rows."""
    monkeypatch.setattr(parquet, "ROWS_PER_BATCH", 37)
    monkeypatch.setattr(csr, "_ranges_in_memory", lambda entries: 5)


@pytest.mark.parametrize("ids", ["dense", "scattered", "text"])
@pytest.mark.parametrize("duplicates", ["merge", "sum", "keep"])
@pytest.mark.parametrize("self_loops", ["drop", "keep"])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_graph_that_memory_holds(tmp_path, ids, duplicates, self_loops, weighted):
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 60, (2, 400))
    ends = ends * 10**12 - 5 if ids == "scattered" else ends.astype(str) if ids == "text" else ends
    file = write(tmp_path / "edges.parquet", ends[0], ends[1], rng.random(400) if weighted else None)
    options = {"duplicates": duplicates, "self_loops": self_loops}
    check_same(Graph.from_edges(file, mmap_dir=tmp_path, **options), Graph.from_edges(file, **options))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=1, max_size=120))
def test_any_edges_make_the_same_graph(tmp_path_factory, edges):
    folder = tmp_path_factory.mktemp("edges")
    file = write(folder / "edges.parquet", *np.array(edges).T)
    check_same(Graph.from_edges(file, mmap_dir=folder), Graph.from_edges(file))


def test_nodes_without_edges_come_in_by_a_closed_list(tmp_path):
    file = write(tmp_path / "edges.parquet", [3, 1], [1, 7])
    nodes = [9, 7, 3, 1]
    check_same(Graph.from_edges(file, nodes=nodes, mmap_dir=tmp_path), Graph.from_edges(file, nodes=nodes))


def test_only_the_rows_are_left_on_the_disk_and_have_no_name(tmp_path):
    file = write(tmp_path / "edges.parquet", [3, 1], [1, 7])
    folder = tmp_path / "arrays"
    graph = Graph.from_edges(file, mmap_dir=folder)
    assert list(folder.iterdir()) == []
    assert graph.neighbors(1) == {"node": [3, 7]}


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (([1], [2]), {"nodes": [1]}, "row 0: 2 is not among the given nodes"),
        (([1], ["a"]), {}, "whole numbers at both ends of all edges, or text at both"),
        (([1], [2]), {"directed": True}, "mmap_dir is for undirected graphs"),
        (([1], [2]), {"weights": [1.0]}, "weights must be the name of a column, or None"),
        (([1], [2]), {"duplicates": "add"}, "duplicates must be"),
        (([], []), {}, "a graph needs at least one node"),
        (([1], [None]), {}, "target is missing"),
        (([1], [2], [-1.0]), {}, "the weight is negative"),
        (([1, 2], [2, 3], [3e38, 3e38]), {}, "add up to more than"),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path, columns, options, message):
    file = write(tmp_path / "edges.parquet", *columns)
    with pytest.raises(InputError, match=message):
        Graph.from_edges(file, mmap_dir=tmp_path / "arrays", **options)


def test_edges_that_are_no_parquet_file_are_refused(tmp_path):
    (tmp_path / "edges.csv").write_text("a,b\n1,2\n")
    for edges in (tmp_path / "edges.csv", [(1, 2)]):
        with pytest.raises(InputError, match="with mmap_dir edges must be the path of a Parquet file"):
            Graph.from_edges(edges, mmap_dir=tmp_path)


def test_a_mirrored_matrix_is_its_own_transposed():
    rng = np.random.default_rng(0)
    (source, target), weights = rng.integers(0, 20, (2, 200)), rng.random(200).astype(np.float32)
    for duplicates in ("merge", "sum", "keep"):
        made = csr.build_csr(source, target, weights, (20, 20), mirror=True, duplicates=duplicates)
        assert made.transposed is made
        wanted = csr.CSR(made.indptr, made.indices, made.weights, 20).transposed
        np.testing.assert_array_equal(made.indptr, wanted.indptr)
        np.testing.assert_array_equal(made.indices, wanted.indices)
        np.testing.assert_array_equal(made.weights, wanted.weights)
