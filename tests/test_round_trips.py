"""What is written comes back: runs, labels and results of any text and number."""

from __future__ import annotations

import csv
import string
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pine import Graph
from pine.baselines import LabelPropagation
from pine.evaluation.results import Result, read_results, write_results
from pine.io.label_files import UNKNOWN_CELLS, read_label_table
from pine.methods import load_run
from pine.reproduce.store import Store

pytestmark = pytest.mark.slow
many = settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))

text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
atoms = st.one_of(st.integers(), st.floats(allow_nan=False), text)
ids = st.lists(st.one_of(st.integers(), text, st.tuples(st.integers(), text)), min_size=2, max_size=6, unique_by=repr)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)


@many
@given(ids, st.data())
def test_a_run_of_any_ids_and_labels_loads_equal(nodes: list[Any], data: st.DataObject):
    nodes = list(dict.fromkeys(nodes))
    labels = data.draw(st.lists(st.one_of(text, st.integers(0)), min_size=len(nodes), max_size=len(nodes)))
    graph = Graph.from_edges([(nodes[0], node) for node in nodes[1:]], nodes=nodes)
    model = LabelPropagation().fit(graph, dict(zip(nodes, labels, strict=True)), task="classes")
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "run")
        again = load_run(Path(folder) / "run")
    assert again.nodes_.of().to_list() == graph.ids().tolist()
    np.testing.assert_array_equal(again.embedding_, model.embedding_)
    assert list(again.predict()) == list(model.predict())
    assert list(map(type, again.classes_.tolist())) == list(map(type, model.classes_.tolist()))


cells = st.text(string.printable.replace("\r", "").replace("\x0b", "").replace("\x0c", ""), min_size=1, max_size=12)


@many
@given(st.dictionaries(cells.filter(str.strip), cells.filter(str.strip), min_size=1, max_size=6))
def test_labels_of_any_text_come_back_from_a_quoted_file(written: dict[str, str]):
    expected = {node.strip(" \t"): label.strip(" \t") for node, label in written.items()}
    expected = {f"n {node}": f"l {label}" for node, label in expected.items() if label not in UNKNOWN_CELLS}
    graph = Graph.from_edges([], nodes=["other", *expected])
    if not expected:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "l.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([("id", "label"), *expected.items()])
        assert read_label_table(path, graph, header=True).labels == expected


@many
@given(st.lists(st.tuples(text, st.sampled_from([0.1, 0.5, "public"]), st.integers(0, 9), st.floats(0, 1)), max_size=5))
def test_runs_to_resume_come_back(given_runs: list[tuple[str, Any, int, float]]):
    runs = [
        Result("cora", method, ratio, repeat, {"accuracy": score}, 1.5) for method, ratio, repeat, score in given_runs
    ]
    with tempfile.TemporaryDirectory() as folder:
        write_results(runs, Path(folder) / "runs.json")
        assert read_results(Path(folder) / "runs.json", "cora") == runs


@many
@given(st.dictionaries(text, st.dictionaries(text, json_values, max_size=3), max_size=5))
def test_kept_results_come_back(results: dict[str, dict[str, Any]]):
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "s.sqlite")
        for key, result in results.items():
            store.put(key, {}, result)
        store.close()
        again = Store(Path(folder) / "s.sqlite")
        assert again.get(results) == results
        again.close()
