"""Files of features: matched by id, in every form, and refused in one sentence where they do not fit."""

from __future__ import annotations

import io
import pickle
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pine import Graph, InputError
from pine.io import read_feature_file

GRAPH = Graph.from_edges([("a", "b"), ("b", "c")])
NUMBERED = Graph.from_edges([(7, 10), (10, 12)])
ROWS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def written(folder, name, text):
    path = folder / name
    path.write_text(text) if isinstance(text, str) else path.write_bytes(text)
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("f.csv", "id,x,y\nc,5,6\na,1,2\nb,3,4\n"),
        ("f.csv", "x,node_id,y\n5,c,6\n1,a,2\n3,b,4\n"),
        ("f.csv", "id,0,1\nc,5,6\na,1,2\nb,3,4\n"),
        ("f.csv", ",x,y\nc,5,6\na,1,2\nb,3,4\n"),
        ("f.csv", ",0,1\nc,5,6\na,1,2\nb,3,4\n"),
        ("f.csv", "who,x,y\nc,5,6\na,1,2\nb,3,4\n"),
        ("f.tsv", "c\t5\t6\na\t1\t2\nb\t3\t4\n"),
        ("f.txt", "c 5 6\na 1  2\nb 3 4.0\n"),
    ],
)
def test_rows_of_text_are_matched_by_id_in_any_order(tmp_path: Path, name: str, text: str):
    features, mask = read_feature_file(written(tmp_path, name, text), GRAPH)
    assert features.tolist() == ROWS
    assert mask is None
    assert GRAPH.with_features(features, mask).features["node"].dtype == np.float32


def test_nodes_without_a_row_are_not_known(tmp_path: Path):
    features, mask = read_feature_file(written(tmp_path, "f.csv", "node,x\nc,5\na,1\n"), GRAPH)
    assert features.tolist() == [[1], [0], [5]]
    assert mask is not None
    assert mask.tolist() == [True, False, True]
    assert GRAPH.with_features(features, mask).feature_mask["node"].tolist() == [True, False, True]


@pytest.mark.parametrize("ids", [NUMBERED, Graph.from_edges([("7", "10"), ("10", "12")])])
@pytest.mark.parametrize("extra", ["", "x,0\n", "07,0\n"])
def test_ids_of_text_files_are_numbers_or_text_as_the_graph_has_them(tmp_path: Path, ids: Graph, extra: str):
    path = written(tmp_path, "f.csv", "id,x\n12,3\n7,1\n10,2\n" + extra)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert read_feature_file(path, ids)[0].tolist() == [[1], [2], [3]]
    assert len(said) == bool(extra)


def test_numbers_of_a_parquet_file_find_nodes_whose_ids_are_text(tmp_path: Path):
    pq.write_table(pa.table({"id": [7, 10], "x": [1, 2]}), tmp_path / "f.parquet")
    assert read_feature_file(tmp_path / "f.parquet", Graph.from_edges([("7", "10")]))[0].tolist() == [[1], [2]]


def test_a_first_line_of_true_and_false_is_data(tmp_path: Path):
    path = written(tmp_path, "f.csv", "a,True,1\nb,False,2\nc,True,3\n")
    assert read_feature_file(path, GRAPH)[0].tolist() == [[1, 1], [0, 2], [1, 3]]


def test_rows_of_other_ids_are_left_out_with_a_warning_and_may_hold_anything(tmp_path: Path):
    path = written(tmp_path, "f.csv", "id,x\nzz,\na,1\nyy,2\n")
    with pytest.warns(UserWarning, match="2 of 3 rows are left out, whose ids are not in the graph: 'zz'"):
        features, _ = read_feature_file(path, GRAPH)
    assert features.tolist() == [[1], [0], [0]]


def test_true_and_false_are_numbers_as_pandas_writes_them(tmp_path: Path):
    frame = pd.get_dummies(pd.DataFrame({"city": ["x", "y", "x"]}, index=["a", "b", "c"]))
    frame.to_csv(tmp_path / "f.csv")
    frame.reset_index().to_parquet(tmp_path / "f.parquet")
    for name in ("f.csv", "f.parquet"):
        assert read_feature_file(tmp_path / name, GRAPH)[0].tolist() == [[1, 0], [0, 1], [1, 0]]


def test_a_parquet_file_is_matched_by_the_named_column(tmp_path: Path):
    pq.write_table(pa.table({"x": [5, 1], "who": ["c", "a"], "flag": [True, False]}), tmp_path / "f.parquet")
    features, mask = read_feature_file(tmp_path / "f.parquet", GRAPH, id_column="who")
    assert features.tolist() == [[1, 0], [0, 0], [5, 1]]
    assert mask is not None
    with pytest.raises(InputError, match=r"f\.parquet has no column 'whom'; its columns are 'x', 'who', 'flag'"):
        read_feature_file(tmp_path / "f.parquet", GRAPH, id_column="whom")


def test_arrays_are_in_node_order_or_have_ids(tmp_path: Path):
    np.save(tmp_path / "f.npy", np.array(ROWS))
    sp.save_npz(tmp_path / "s.npz", sp.coo_array(ROWS))
    np.savez(tmp_path / "f.npz", features=np.array(ROWS))
    np.savez(tmp_path / "i.npz", features=np.array(ROWS)[::-1], ids=np.array(["c", "b", "a"]))
    for name in ("f.npy", "s.npz", "f.npz", "i.npz"):
        features, mask = read_feature_file(tmp_path / name, GRAPH)
        assert sp.issparse(features) == (name == "s.npz")
        assert (features.toarray() if sp.issparse(features) else features).tolist() == ROWS
        assert mask is None


def test_features_of_a_typed_graph_are_of_the_named_type(tmp_path: Path):
    typed = Graph.from_relations({("author", "writes", "paper"): [("ann", 1), ("bob", 2)]})
    path = written(tmp_path, "f.csv", "id,x\n2,5\n1,4\n")
    assert read_feature_file(path, typed, "paper")[0].tolist() == [[4], [5]]
    with pytest.raises(InputError, match="say which: type="):
        read_feature_file(path, typed)


@given(
    shares=st.sampled_from([0.0, 0.1, 0.24, 0.26, 1.0]), width=st.sampled_from([3, 64, 65, 200]), seed=st.integers(0, 9)
)
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_wide_tables_of_zeros_become_sparse_and_hold_the_same(tmp_path: Path, shares: float, width: int, seed: int):
    rng = np.random.default_rng(seed)
    graph = Graph.from_edges([(i, i + 1) for i in range(19)])
    ones = np.arange(20 * width) < shares * 20 * width
    dense = rng.permutation(ones).reshape(20, width).astype(np.float32)
    order = rng.permutation(20)
    kept = order[: rng.integers(1, 21)]
    frame = pd.DataFrame(dense[kept], columns=[f"c{i}" for i in range(width)])
    frame.insert(0, "id", kept)
    frame.to_csv(tmp_path / "f.csv", index=False)
    frame.to_parquet(tmp_path / "f.parquet")
    for name in ("f.csv", "f.parquet"):
        features, mask = read_feature_file(tmp_path / name, graph)
        assert sp.issparse(features) == (width > 64 and np.count_nonzero(dense[kept]) < dense[kept].size / 4)
        known = np.isin(np.arange(20), kept)
        assert known.all() if mask is None else mask.tolist() == known.tolist()
        got = features.toarray() if sp.issparse(features) else features
        np.testing.assert_array_equal(got, dense * known[:, None])


def test_a_csv_file_of_thousands_of_columns_is_read_in_seconds(tmp_path: Path):
    count, width = 300, 12_000
    values = (np.arange(count)[:, None] + np.arange(width)) % 7
    lines = [",".join(map(str, row)) for row in values.tolist()]
    path = written(
        tmp_path,
        "wide.csv",
        "id," + ",".join(f"feature_{i}" for i in range(width)) + "\n"
        + "\n".join(f"{i},{line}" for i, line in enumerate(lines)) + "\n",
    )  # fmt: skip
    start = time.process_time()  # others may have the cores
    features, _ = read_feature_file(path, Graph.from_edges([(i, i + 1) for i in range(count - 1)]))
    assert time.process_time() - start < 20
    np.testing.assert_array_equal(features, values)


class Alarm:
    """What must never be made: unpickling it would write a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.parametrize("name", ["f.npy", "f.npz", "f.csv", "f.parquet"])
def test_nothing_in_a_file_is_run(tmp_path: Path, name: str):
    alarm = tmp_path / "run"
    objects = np.array([Alarm(alarm)], object)
    if name == "f.npy":
        np.save(tmp_path / name, objects, allow_pickle=True)
    elif name == "f.npz":
        np.savez(tmp_path / name, features=objects)
    else:
        (tmp_path / name).write_bytes(pickle.dumps(Alarm(alarm)))
    with pytest.raises(InputError):
        read_feature_file(tmp_path / name, GRAPH)
    assert not alarm.exists()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("f.csv", "id,x\na,1\nb,2\na,3\n", r"f\.csv, line 4: node 'a' has a row already; keep one of them"),
        (
            "f.csv",
            "id,x,city\na,1,rome\n",
            r"column 'city' must be numbers, got text such as 'rome'; encode it",
        ),
        ("f.csv", "id,x\n" + "a,1\n" * 30_000 + "b,rome\n", r"f\.csv, line 30002: x must be a number, got 'rome'"),
        (
            "f.csv",
            "id,x\nzz,1\nyy,2\n",
            r"no row has the id of a node, such as 'zz'; the graph has 'a', 'b', 'c'",
        ),
        ("f.csv", "id,x,y\na,1,2\nb,,2\n", r"f\.csv, line 3: x must be a finite number of float32; fill it, or leave"),
        ("f.csv", "id,x\na,inf\n", "line 2: x must be a finite number"),
        ("f.csv", "id,x\na,1e300\n", "line 2: x must be a finite number of float32"),
        ("f.csv", "id,x\na,1\nb,2,3\n", "line 3: expected 2 fields"),
        ("f.csv", "id,x,x\na,1,2\n", "names a column twice"),
        ("f.csv", "", r"f\.csv is empty"),
        ("f.csv", "id\na\n", "expected at least two columns"),
        ("f.npy", "a,1\n", r"f\.npy cannot be read as an array of numbers"),
        ("f.npz", "PK", r"f\.npz cannot be read as an array of numbers"),
        ("f.parquet", "a,1\n", r"f\.parquet is not a Parquet file"),
        ("f.pkl", b"\x80\x04\x00", "not UTF-8 text"),
    ],
)
def test_bad_files_are_refused_in_a_sentence(tmp_path: Path, name: str, text: str, message: str):
    with pytest.raises(InputError, match=message) as refusal:
        read_feature_file(written(tmp_path, name, text), GRAPH)
    assert str(refusal.value).count("\n") == 0
    assert str(tmp_path) in str(refusal.value)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": np.ones(3)}, "must hold a sparse matrix, or an array `features`, got 'x'"),
        ({"features": np.ones((2, 2))}, "must have one row per node"),
        ({"features": np.ones((2, 2)), "ids": np.array(["a"])}, "one row for each of 1 ids, got float64 of shape"),
        ({"features": np.array([["x"]]), "ids": np.array(["a"])}, "features must be numbers with one row"),
        ({"features": np.array([[1.0, np.nan]]), "ids": np.array(["b"])}, r"f\.npz, row 0: column 1 must be a finite"),
        ({"features": np.array([["x"]] * 3)}, "must be numbers, got text"),
    ],
)
def test_bad_arrays_are_refused_in_a_sentence(tmp_path: Path, arrays: dict[str, np.ndarray], message: str):
    np.savez(tmp_path / "f.npz", **arrays)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=message):
        read_feature_file(tmp_path / "f.npz", GRAPH)


def test_bad_parquet_columns_and_missing_files_are_refused(tmp_path: Path):
    for table, message in (
        (pa.table({"id": ["a"], "city": ["rome"]}), "got text in column 'city'"),
        (pa.table({"id": ["a"]}), "no columns of features beside the ids"),
        (pa.table({"id": pa.array([], pa.string()), "x": pa.array([], pa.int64())}), "has no rows"),
        (pa.table({"id": ["a", None], "x": [1, 2]}), "row 1: the id is missing"),
    ):
        pq.write_table(table, tmp_path / "f.parquet")
        with pytest.raises(InputError, match=message):
            read_feature_file(tmp_path / "f.parquet", GRAPH)
    for name in ("no.csv", "no.npy", "no.npz", "no.parquet"):
        with pytest.raises(InputError, match=rf"no\.{name[3:]}.*No such file"):
            read_feature_file(tmp_path / name, GRAPH)


def test_a_header_that_asks_for_more_than_there_is_takes_no_memory(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (3, 10**12)})
    with zipfile.ZipFile(tmp_path / "f.npz", "w") as archive:
        archive.writestr("features.npy", header.getvalue() + bytes(64))
    with pytest.raises(InputError, match=r"features\.npy must have 12000000000000 bytes, got 64"):
        read_feature_file(tmp_path / "f.npz", GRAPH)


@pytest.mark.parametrize(
    "header", [b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2,    \n", b"((((\n", b"\xff\n"]
)
def test_a_header_that_is_no_expression_is_refused_in_a_sentence(tmp_path: Path, header: bytes):
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(24)
    (tmp_path / "f.npy").write_bytes(array)
    with zipfile.ZipFile(tmp_path / "f.npz", "w") as archive:
        archive.writestr("features.npy", array)
    for name in ("f.npy", "f.npz"):
        with pytest.raises(InputError, match="cannot be read as an array of numbers"):
            read_feature_file(tmp_path / name, GRAPH)
