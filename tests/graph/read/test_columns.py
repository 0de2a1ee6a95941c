"""Columns are used, named as ignored, or refused where they may be weights: none is passed over silently."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.graphs import weights_of

from pine import Graph
from pine.errors import InputError
from pine.graph.read.parquet import parquet_batches
from pine.graph.read.table import edge_table
from pine.labels import read_labels

UNCLEAR = ["w", "n", "count", "rating", "num_messages", "Edge Weight", "Score"]


@pytest.mark.parametrize("name", UNCLEAR)
@pytest.mark.parametrize("kind", ["csv", "parquet", "frame"])
def test_a_column_that_may_be_weights_is_taken_or_left_by_name_only(tmp_path: Path, name: str, kind: str):
    frame = pd.DataFrame({"a": ["x", "y"], "b": ["y", "z"], name: [2.0, 3.0]})
    edges: object = frame
    if kind == "csv":
        frame.to_csv(tmp_path / "e.csv", index=False)
        edges = tmp_path / "e.csv"
    elif kind == "parquet":
        frame.to_parquet(tmp_path / "e.parquet")
        edges = tmp_path / "e.parquet"
    with pytest.raises(InputError, match=rf"column '{name}' may be weights; use it with weights='{name}'") as caught:
        Graph.from_edges(edges)
    assert f"--weight {name}" in str(caught.value)
    assert "weights=None (--no-weight)" in str(caught.value)
    assert weights_of(Graph.from_edges(edges, weights=name, directed=True).adjacency()) == [2.0, 3.0]
    assert Graph.from_edges(edges, weights=None).adjacency().weights is None


@pytest.mark.parametrize("text", ["a b 3\nb c 4\n", "a b x\nb c y\n", "1 2 3 4\n2 3 4 5\n"])
def test_a_third_column_without_a_name_is_taken_or_left_by_number_only(tmp_path, text):
    (tmp_path / "e.txt").write_text(text)
    with pytest.raises(InputError, match=r"column 2 has no name and may be weights; use it with weights='2'"):
        Graph.from_edges(tmp_path / "e.txt")
    assert Graph.from_edges(tmp_path / "e.txt", weights=None).num_edges == 2


def test_a_column_called_weight_is_used_and_others_are_named_as_ignored(tmp_path):
    (tmp_path / "e.csv").write_text("when,source,target,weight,note\n1,a,b,2,x\n")
    columns = edge_table(tmp_path / "e.csv").columns
    assert columns is not None
    assert columns.used == {"source": "source", "target": "target", "weights": "weight"}
    assert columns.ignored == ("when", "note")
    assert columns.weighted
    assert str(columns).endswith("e.csv: source 'source', target 'target', weights 'weight'; ignored 'when', 'note'")
    (tmp_path / "e.csv").write_text("1,2\n")
    assert str(edge_table(tmp_path / "e.csv").columns).endswith("e.csv: no header, columns source 0, target 1")


def test_a_table_that_was_read_is_edges_like_others(tmp_path):
    (tmp_path / "e.csv").write_text("a,b\nb,c\na,c\n")
    assert Graph.from_edges(edge_table(tmp_path / "e.csv")).num_edges == 3


def test_a_parquet_file_that_names_a_column_twice_is_refused(tmp_path):
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], names=["u", "v", "v"])
    pq.write_table(table, tmp_path / "e.parquet")
    with pytest.raises(InputError, match="names a column twice"):
        Graph.from_edges(tmp_path / "e.parquet")


def test_ids_of_parquet_that_are_not_utf_8_are_refused(tmp_path):
    broken = pa.StringArray.from_buffers(2, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"a\xff"))
    pq.write_table(pa.table({"u": broken, "v": ["b", "c"]}), tmp_path / "e.parquet")
    with pytest.raises(InputError, match="u is not UTF-8 text"):
        Graph.from_edges(tmp_path / "e.parquet")


DAY = datetime.date(2020, 1, 1)
NO_IDS: dict[str, Any] = {
    "dates": pa.table({"u": [DAY], "v": [DAY]}),
    "times": pa.table({"u": [datetime.datetime(2020, 1, 1)], "v": [datetime.datetime(2020, 1, 2)]}),
    "bytes": pa.table({"u": [b"a"], "v": [b"b"]}),
    "truth values": pa.table({"u": [True], "v": [False]}),
    "lists": pa.table({"u": [[1]], "v": [[2]]}),
    "a frame of dates": pd.DataFrame({"u": pd.to_datetime(["2020-01-01"]), "v": pd.to_datetime(["2020-01-02"])}),
    "pairs of dates": [(DAY, DAY)],
    "pairs of bytes": [(b"a", b"b")],
}


@pytest.mark.parametrize("case", NO_IDS)
def test_ids_that_could_not_be_saved_are_refused_when_they_are_read(tmp_path, case):
    with pytest.raises(InputError, match="ids must be") as caught:
        Graph.from_edges(NO_IDS[case])
    assert len(str(caught.value)) <= 300
    if isinstance(NO_IDS[case], pa.Table):
        pq.write_table(NO_IDS[case], tmp_path / "e.parquet")
        with pytest.raises(InputError, match="ids must be"):
            Graph.from_edges(tmp_path / "e.parquet")


def test_a_number_that_points_outside_of_a_dictionary_is_refused(tmp_path):
    pq.write_table(pa.table({"u": ["a"], "v": ["b"]}), tmp_path / "e.parquet")
    damaged = pa.DictionaryArray.from_arrays(pa.array([0, 7]), pa.array(["a", "b"]), safe=False)

    class Damaged:
        def iter_batches(self, *_: Any, **__: Any) -> Any:
            yield pa.RecordBatch.from_arrays([damaged], ["u"])

    with pytest.raises(InputError, match="from row 0 on: u is damaged"):
        list(parquet_batches(tmp_path / "e.parquet", Damaged(), ["u"]))


@pytest.mark.parametrize("weights", [1.0, [[1.0]], [[1.0], [1.0, 2.0]], {1: 2}, object()])
def test_weights_that_are_not_one_a_row_are_refused(weights):
    with pytest.raises(InputError, match="weights must be one number per edge"):
        Graph.from_edges([(1, 2)], weights=weights)


@pytest.mark.parametrize("odd", [np.timedelta64(1, "s"), np.datetime64("2020")])
def test_times_of_numpy_are_no_integers(odd):
    with pytest.raises(InputError, match="ids must be"):
        Graph.from_edges([(odd, odd)])
    with pytest.raises(InputError, match="takes numbers as labels"):
        read_labels(Graph.from_edges([(0, 1)]), [odd, odd], "numbers")


def test_integers_beyond_64_bits_in_a_frame_are_ids():
    frame = pd.DataFrame({"u": pd.Series([10**25], dtype=object), "v": pd.Series([1], dtype=object)})
    assert Graph.from_edges(frame).ids().tolist() == [10**25, 1]


def test_weights_that_add_up_to_infinity_are_refused(tmp_path):
    with pytest.raises(InputError, match="add up to more than"):
        Graph.from_edges([("a", "b"), ("a", "b")], weights=[3e38, 3e38], duplicates="sum")


def test_a_long_name_makes_no_long_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # paths come on top
    (tmp_path / "e.csv").write_text(f"source,target,{'n' * 5000}\na,b,{'x' * 5000}\nb,c,1,2\n")
    cases: list[dict[str, Any]] = [{}, {"weights": "n" * 5000}, {"source": "y" * 5000}]
    for options in cases:
        with pytest.raises(InputError) as caught:
            Graph.from_edges("e.csv", **options)
        assert len(str(caught.value)) <= 300


@pytest.mark.parametrize("options", [{"weights": "x"}, {"source": "0"}, {"twice": True}])
def test_an_error_names_twenty_columns_and_counts_the_others(options):
    frame = pd.DataFrame(np.zeros((1, 30)), columns=[str(k) for k in range(30)])
    if options.pop("twice", False):
        frame = pd.concat([frame, frame], axis=1)
    with pytest.raises(InputError, match=r"'18', '19', \.\.\. \([36]0 in all\)"):
        Graph.from_edges(frame, **options)
