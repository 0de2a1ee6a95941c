"""Compressed rows: sorted, complete, of narrow integers, and cut like SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import weights_of

from pine import Graph
from pine.graph import csr
from pine.graph.csr import build_csr


@settings(max_examples=60, deadline=None)
@given(
    edges=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=120),
    directed=st.booleans(),
    loops=st.sampled_from(["drop", "keep"]),
    duplicates=st.sampled_from(["merge", "sum", "keep"]),
    weighted=st.booleans(),
)
def test_rows_equal_what_a_plain_count_gives(edges, directed, loops, duplicates, weighted):
    weights = [float(i % 5) for i in range(len(edges))] if weighted else None
    graph = Graph.from_edges(
        edges, nodes=range(13), weights=weights, directed=directed, self_loops=loops, duplicates=duplicates
    )
    expected: dict[tuple[int, int], list[float]] = {}
    for i, (source, target) in enumerate(edges):
        if source == target and loops == "drop":
            continue
        for pair in {(source, target)} if directed else {(source, target), (target, source)}:
            expected.setdefault(pair, []).append(1.0 if weights is None else weights[i])
    fold = {"merge": lambda w: [max(w)], "sum": lambda w: [sum(w)], "keep": lambda w: w}[duplicates]
    rows = {pair: sorted(fold(given)) for pair, given in expected.items()}
    matrix = graph.adjacency()
    found: dict[tuple[int, int], list[float]] = {}
    values = np.ones(matrix.nnz) if matrix.weights is None else matrix.weights
    for pair, value in zip(zip(matrix.rows().tolist(), matrix.indices.tolist(), strict=True), values, strict=True):
        found.setdefault(pair, []).append(float(value))
    assert {pair: sorted(given) for pair, given in found.items()} == rows
    assert all((np.diff(matrix.row(i)) >= 0).all() for i in range(13))
    assert (matrix.weights is None) == (not weighted and duplicates != "sum")


def test_high_degree_rows_are_sorted_with_their_weights():
    targets = np.random.default_rng(0).permutation(np.arange(1, 200))
    edges = np.column_stack([np.zeros(199, np.int64), targets])
    graph = Graph.from_edges(edges, weights=targets.astype(float), directed=True)
    assert graph.adjacency().row(0).tolist() == list(range(1, 200))
    assert weights_of(graph.adjacency())[:199] == [float(i) for i in range(1, 200)]


def test_indices_are_32_bit_where_they_fit():
    relations = {("author", "writes", "paper"): [("ann", 1), ("bob", 2)], ("paper", "cites", "paper"): [(1, 2)]}
    graph = Graph.from_relations(relations)
    assert all(group.matrix.indices.dtype == np.int32 for group in graph.groups())
    assert graph.matrix(graph.relations[0]).indices.dtype == np.int32


@pytest.mark.parametrize("weighted", [False, True])
def test_some_rows_and_some_columns_of_a_matrix_are_those_of_scipy(weighted):
    rng = np.random.default_rng(0)
    row, column = rng.integers(9, size=30), rng.integers(3, 7, size=30)
    csr = build_csr(row, column, rng.random(30).astype(np.float32) if weighted else None, (9, 10))
    whole = csr.to_scipy().toarray()
    for rows in (slice(0, 9), slice(2, 5), slice(4, 4), slice(8, 9)):
        np.testing.assert_array_equal(csr.some_rows(rows).to_scipy().toarray(), whole[rows])
    for columns in (slice(0, 10), slice(3, 7), slice(2, 9)):
        np.testing.assert_array_equal(csr.some_columns(columns).to_scipy().toarray(), whole[:, columns])


def test_strengths_and_loops_are_counted_block_by_block(monkeypatch):
    rng = np.random.default_rng(0)
    source, target, weights = rng.integers(0, 50, 400), rng.integers(0, 50, 400), rng.random(400).astype(np.float32)
    source[:20] = target[:20]
    matrix = build_csr(source, target, weights, (53, 53), duplicates="keep")
    assert matrix.num_loops() == (source == target).sum()
    monkeypatch.setattr(csr, "SUMMED_ROWS", 7)
    assert matrix.num_loops() == (source == target).sum()
    np.testing.assert_array_equal(matrix.strengths(), np.bincount(matrix.rows(), matrix.weights, 53))
    bare = build_csr(source, target, None, (53, 53), duplicates="keep")
    np.testing.assert_array_equal(bare.strengths(), np.bincount(source, minlength=53))
