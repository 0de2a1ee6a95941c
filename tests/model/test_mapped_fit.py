"""A fit whose vectors lie in files: what a fit in memory gives, by every task, and a sentence for what it cannot do."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pine
from pine import Graph, InputError
from pine.model import block_objective, needs
from pine.model.init import start


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Several blocks and slices, and the start of large graphs."""
    monkeypatch.setattr(block_objective, "NODES_OF_BLOCK", 100)
    monkeypatch.setattr(needs, "slice_columns", lambda nodes, free: 5)
    monkeypatch.setattr(start, "EXACT_NODES", 50)


def planted(count=400):
    return pine.datasets.planted_classes(count, classes=4, inside=0.8)


def labels_of(task, classes):
    known = np.arange(len(classes)) % 3 == 0
    if task == "classes":
        return np.where(known, classes, -1)
    if task == "numbers":
        return np.where(known, classes + 0.5, np.nan)
    sets = np.stack([classes % 2 == 0, classes > 1], 1).astype(int)
    return np.where(known[:, None], sets, -1)


@pytest.mark.parametrize(
    ("task", "epochs"), [("classes", None), ("classes", 0), ("classes", 5), ("label-sets", 5), ("numbers", 5)]
)
def test_it_gives_what_a_fit_in_memory_gives(tmp_path, task, epochs):
    graph, classes = planted(250)
    labels = labels_of(task, classes)
    in_memory = pine.PINE(dim=8, epochs=epochs).fit(graph, labels)
    in_files = pine.PINE(dim=8, epochs=epochs).fit(graph, labels, mmap_dir=tmp_path)
    assert in_files.choice_ == in_memory.choice_
    error = np.abs(in_files.embedding_ - in_memory.embedding_)
    assert np.quantile(error, 0.99) < 0.02  # 150 epochs may carry the order of additions far at a few nodes
    wanted, got = in_memory.predict(), in_files.predict()
    if task == "numbers":
        assert np.abs(got - wanted).mean() < 0.01
    else:
        assert (np.asarray(got) == np.asarray(wanted)).mean() > 0.99
    assert list(tmp_path.iterdir()) == []


def test_from_rows_in_files_it_is_the_same(tmp_path):
    graph, classes = planted()
    links = graph.links()
    pq.write_table(pa.table({"source": links.rows(), "target": links.indices}), tmp_path / "edges.parquet")
    mapped = Graph.from_edges(tmp_path / "edges.parquet", nodes=range(400), mmap_dir=tmp_path)
    fits = [
        pine.PINE(dim=8, epochs=3).fit(each, labels_of("classes", classes), mmap_dir=tmp_path)
        for each in (graph, mapped)
    ]
    np.testing.assert_array_equal(fits[0].embedding_, fits[1].embedding_)


def test_without_labels_it_gives_the_start(tmp_path):
    graph, _ = planted()
    in_memory, in_files = pine.PINE(dim=8).fit(graph), pine.PINE(dim=8).fit(graph, mmap_dir=tmp_path)
    np.testing.assert_allclose(in_files.embedding_, in_memory.embedding_, atol=1e-4)
    np.testing.assert_allclose(in_files.reconstruct(), in_memory.reconstruct(), atol=1e-3)


@pytest.mark.parametrize("directed", [False, True])
def test_typed_and_directed_graphs_can_be_fitted(tmp_path, directed):
    rng = np.random.default_rng(0)
    edges = {("a", "knows", "a"): rng.integers(0, 90, (300, 2)), ("a", "has", "b"): rng.integers(0, 40, (200, 2))}
    graph = Graph.from_relations(edges, nodes={"a": range(90), "b": range(40)}, directed=directed)
    labels = {"a": rng.integers(0, 3, 90)}
    in_memory, in_files = (
        pine.PINE(dim=8, epochs=3).fit(graph, labels, mmap_dir=folder) for folder in (None, tmp_path)
    )
    for type in "ab":
        np.testing.assert_allclose(in_files.embedding_[type], in_memory.embedding_[type], atol=0.01)


def test_a_random_start_is_drawn_as_in_memory(tmp_path):
    graph, classes = planted()
    labels, training = labels_of("classes", classes), pine.model.TrainingSettings(start="random")
    in_memory, in_files = (
        pine.PINE(dim=8, epochs=2, training=training).fit(graph, labels, mmap_dir=folder) for folder in (None, tmp_path)
    )
    np.testing.assert_allclose(in_files.embedding_, in_memory.embedding_, atol=1e-3)


def test_it_can_be_saved_loaded_and_asked_for_later_nodes(tmp_path):
    graph, classes = planted()
    model = pine.PINE(dim=8, epochs=3).fit(graph, labels_of("classes", classes), mmap_dir=tmp_path / "arrays")
    model.save(tmp_path / "run")
    again = pine.PINE.load(tmp_path / "run")
    np.testing.assert_array_equal(again.embedding_, model.embedding_)
    links = graph.links()
    later = Graph.from_edges(np.concatenate([np.stack([links.rows(), links.indices], 1), [[400, 3], [400, 5]]]))
    np.testing.assert_array_equal(again.predict(graph=later), model.predict(graph=later))
    assert model.most_similar(3, k=2) == again.most_similar(3, k=2)


@pytest.mark.parametrize(
    ("settings", "options", "message"),
    [
        ({"batch_size": 10}, {}, "nodes come in blocks already: leave batch_size out"),
        ({"function": pine.model.FunctionSettings(heads="separate")}, {}, "set heads='shared'"),
        ({"training": pine.model.TrainingSettings(moments="bfloat16")}, {}, "in files moments are of 4 bytes"),
        ({}, {"checkpoint": "state"}, "keeps no checkpoint"),
    ],
)
def test_what_needs_all_in_memory_is_refused(tmp_path, settings, options, message):
    graph, classes = planted()
    with pytest.raises(InputError, match=message):
        pine.PINE(**settings).fit(graph, classes, mmap_dir=tmp_path, **options)


def test_features_and_an_earlier_run_are_refused(tmp_path):
    graph, classes = planted()
    with pytest.raises(InputError, match="set features=False, or leave mmap_dir out"):
        pine.PINE().fit(graph.with_features(np.ones((400, 3))), classes, mmap_dir=tmp_path)
    earlier = pine.PINE(dim=4, epochs=0).fit(graph, classes)
    with pytest.raises(InputError, match="leave start_from or mmap_dir out"):
        pine.PINE(dim=4).fit(graph, classes, mmap_dir=tmp_path, start_from=earlier)


def test_other_methods_keep_all_in_memory(tmp_path):
    graph, _ = planted()
    with pytest.raises(InputError, match="deepwalk keeps all its arrays in memory; leave mmap_dir out"):
        pine.METHODS["deepwalk"]().fit(graph, mmap_dir=tmp_path)


def test_what_does_not_even_fit_in_slices_is_refused_before_it_begins(tmp_path, monkeypatch):
    graph, classes = planted()
    monkeypatch.setattr(needs, "free_memory", lambda: 10_000_000)
    with pytest.raises(InputError, match="even where its vectors lie in files, and 10 MB are free"):
        pine.PINE().fit(graph, classes, mmap_dir=tmp_path)


def test_fewer_columns_make_a_slice_where_less_is_free():
    from pine.model.mapped_part import slice_columns

    columns = [slice_columns(1_000_000, free) for free in (None, 1e10, 3e8, 1e8, 0)]
    assert columns[:2] == [64, 64]
    assert columns == sorted(columns, reverse=True)
    assert columns[-1] == 2
