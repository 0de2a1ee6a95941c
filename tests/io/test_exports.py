"""Exports: other tools read every vector under its node's own id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from pine import Graph, InputError
from pine.io.exports import export_vectors, format_of

RELATIONS = {("author", "writes", "paper"): [("ann", 1), ("bob", 1), ("eve", 2)]}


def untyped() -> tuple[Graph, np.ndarray]:
    graph = Graph.from_edges([(7, 3), (3, 5)])
    return graph, np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)


def typed() -> tuple[Graph, dict[str, np.ndarray]]:
    graph = Graph.from_relations(RELATIONS)
    rng = np.random.default_rng(0)
    sizes = {type: len(graph.nodes.of(type)) for type in graph.node_types}
    return graph, {type: rng.normal(size=(size, 4)).astype(np.float32) for type, size in sizes.items()}


def read_word2vec(path: Path) -> dict[str, list[float]]:
    first, *lines = path.read_text().splitlines()
    count, dim = map(int, first.split())
    found = {line.split()[0]: [float(number) for number in line.split()[1:]] for line in lines}
    assert len(found) == count
    assert all(len(vector) == dim for vector in found.values())
    return found


def test_word2vec_has_a_line_for_every_node_with_its_id(tmp_path: Path):
    graph, vectors = untyped()
    export_vectors(tmp_path / "v.txt", "word2vec", graph.nodes, vectors)
    found = read_word2vec(tmp_path / "v.txt")
    assert list(found) == [str(node) for node in graph.nodes.of("node").to_list()]
    np.testing.assert_allclose(list(found.values()), vectors, rtol=1e-5)


def test_nodes_of_a_typed_graph_are_named_by_type_and_id(tmp_path: Path):
    graph, vectors = typed()
    export_vectors(tmp_path / "v.txt", "word2vec", graph.nodes, vectors)
    found = read_word2vec(tmp_path / "v.txt")
    assert set(found) == {"author:ann", "author:bob", "author:eve", "paper:1", "paper:2"}
    np.testing.assert_allclose(found["paper:2"], vectors["paper"][1], rtol=1e-5)


@pytest.mark.parametrize("make", [untyped, typed])
def test_parquet_has_ids_types_and_the_same_numbers(tmp_path: Path, make: Any):
    graph, vectors = make()
    export_vectors(tmp_path / "v.parquet", "parquet", graph.nodes, vectors)
    rows = pq.read_table(tmp_path / "v.parquet").to_pylist()
    assert len(rows) == graph.num_nodes
    for type in graph.node_types:
        own = [row for row in rows if row.get("type", "node") == type]
        ids = graph.nodes.of(type).to_list()
        # One column holds the ids of all types: text, unless all of them are integers.
        assert [row["id"] for row in own] == (ids if make is untyped else list(map(str, ids)))
        expected = vectors[type] if isinstance(vectors, dict) else vectors
        np.testing.assert_array_equal(np.array([row["vector"] for row in own], np.float32), expected)


def test_npy_is_the_bare_array_type_after_type(tmp_path: Path):
    graph, vectors = typed()
    export_vectors(tmp_path / "v.npy", "npy", graph.nodes, vectors)
    expected = np.vstack([vectors[type] for type in graph.nodes.types])
    np.testing.assert_array_equal(np.load(tmp_path / "v.npy", allow_pickle=False), expected)


def test_an_id_with_a_blank_is_refused_by_word2vec_and_nothing_is_written(tmp_path: Path):
    graph = Graph.from_edges([("ann lee", "bob")])
    with pytest.raises(InputError, match="the id 'ann lee' has one; use --format parquet"):
        export_vectors(tmp_path / "v.txt", "word2vec", graph.nodes, np.zeros((2, 4), np.float32))
    assert list(tmp_path.iterdir()) == []


def test_unknown_formats_and_endings_are_refused(tmp_path: Path):
    graph, vectors = untyped()
    with pytest.raises(InputError, match=r"format must be one of .*, got 'pdf'"):
        export_vectors(tmp_path / "v.pdf", "pdf", graph.nodes, vectors)
    with pytest.raises(InputError, match="must end in one of"):
        format_of(tmp_path / "v.pdf")
    assert format_of(tmp_path / "v.vec") == "word2vec"
