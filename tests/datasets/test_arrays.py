"""A file with the right name and the wrong content is named, with what it must hold; nothing in it is run."""

import io
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pine.datasets import CATALOG, load
from pine.errors import InputError

ROWS, NODES = 4732, 3312


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write citeseer.npz of the right form, with the given arrays changed; None leaves one out."""

    def write(**changes: Any) -> Path:
        arrays = {"edges": np.zeros((ROWS, 2), np.int32), "labels": np.arange(NODES, dtype=np.int16) % 6, **changes}
        np.savez(tmp_path / "citeseer.npz", **{name: array for name, array in arrays.items() if array is not None})
        return tmp_path

    return write


def refused(name: str, folder: Path, reason: str) -> None:
    with pytest.raises(InputError) as caught:
        load(name, folder, download=False)
    message = str(caught.value)
    assert ".npz" in message
    assert reason in message
    assert message.endswith("this is not the file that PINE expects: remove it and get it again")


def test_the_unchanged_file_of_this_test_loads(write: Callable[..., Path]) -> None:
    assert load("citeseer", write(), download=False).graph.num_nodes == NODES


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"edges": None}, "must hold an array 'edges', got 'labels'"),
        ({"labels": None}, "must hold an array 'labels', got 'edges'"),
        (
            {"edges": np.zeros((ROWS - 1, 2), np.int32)},
            "edges must be integers of shape (4732, 2), got int32 of shape (4731, 2)",
        ),
        (
            {"edges": np.zeros((2, ROWS), np.int32)},
            "edges must be integers of shape (4732, 2), got int32 of shape (2, 4732)",
        ),
        ({"edges": np.zeros((ROWS, 2))}, "edges must be integers of shape (4732, 2), got float64"),
        ({"edges": np.full((ROWS, 2), NODES)}, "column 0 of edges must be between 0 and 3311, got 3312"),
        ({"edges": np.full((ROWS, 2), -1)}, "column 0 of edges must be between 0 and 3311, got -1"),
        (
            {"labels": np.zeros(NODES - 1, np.int16)},
            "labels must be integers of shape (3312,), got int16 of shape (3311,)",
        ),
        ({"labels": np.full(NODES, 6, np.int16)}, "labels must be between -1 and 5, got 6"),
        ({"labels": np.full(NODES, -2, np.int16)}, "labels must be between -1 and 5, got -2"),
        ({"labels": np.array([None] * NODES)}, "cannot be read as an npz file of plain arrays"),
    ],
)
def test_an_array_that_does_not_fit_is_named(write: Callable[..., Path], changes: dict[str, Any], reason: str) -> None:
    refused("citeseer", write(**changes), reason)


@pytest.mark.parametrize("size", [0, 10, 500, 20_000])
def test_a_truncated_file_is_refused(write: Callable[..., Path], size: int) -> None:
    path = write() / "citeseer.npz"
    path.write_bytes(path.read_bytes()[:size])
    refused("citeseer", path.parent, "cannot be read as an npz file of plain arrays")


def test_a_damaged_byte_is_noticed(write: Callable[..., Path]) -> None:
    path = write() / "citeseer.npz"
    content = bytearray(path.read_bytes())
    content[5000] ^= 1
    path.write_bytes(content)
    refused("citeseer", path.parent, "cannot be read as an npz file of plain arrays")


@pytest.mark.parametrize("content", [b"edges\n1,2\n", pickle.dumps([1, 2])])
def test_another_kind_of_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "citeseer.npz").write_bytes(content)
    refused("citeseer", tmp_path, "cannot be read as an npz file of plain arrays")


def test_a_single_array_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "citeseer.npz").open("wb") as file:
        np.save(file, np.zeros((ROWS, 2), np.int32))
    refused("citeseer", tmp_path, "cannot be read as an npz file of plain arrays")


@pytest.mark.parametrize(
    ("name", "changes", "reason"),
    [
        ("pubmed", {"train_idx": np.array([0, 19717])}, "train_idx must be between 0 and 19716, got 19717"),
        ("pubmed", {"val_idx": np.array([5, 5])}, "val_idx must hold every node once"),
        ("pubmed", {"test_idx": None}, "must hold an array 'test_idx'"),
        ("pubmed", {"feat_shape": np.array([5, 500])}, "feat_shape must begin with the number of nodes, 19717, got 5"),
        ("pubmed", {"feat_indices": np.full(988031, 500)}, "feat_indices must be between 0 and 499, got 500"),
        ("pubmed", {"feat_indptr": np.zeros(19718, np.int32)}, "feat_indptr must rise from 0 to 988031"),
        (
            "pubmed",
            {"feat_data": np.zeros(5)},
            "feat_data must be numbers of shape (988031,), got float64 of shape (5,)",
        ),
        ("ppi", {"split": np.full(56944, 3)}, "split must be between 0 and 2, got 3"),
        ("ppi", {"graph_id": np.arange(56944) % 24}, "edges must stay within one graph"),
        ("ppi", {"labels": np.full((56944, 121), 2, np.uint8)}, "labels must be between 0 and 1, got 2"),
        ("dblp", {"name_term": None}, "must hold an array 'name_term'"),
        ("chameleon", {"targets": None}, "must hold an array 'targets'"),
        ("chameleon", {"targets": np.full(2277, np.inf)}, "targets must be finite, got infinity"),
        ("chameleon", {"targets": np.zeros(5)}, "targets must be numbers of shape (2277,), got float64 of shape (5,)"),
        ("facebook-pages", {"label_names": np.array([b"a"])}, "label_names must be bytes of shape (4,), got |S1"),
        (
            "dblp",
            {"weight_author_uses_term": np.zeros(489601)},
            "weight_author_uses_term must be positive numbers, got 0.0",
        ),
        (
            "blogcatalog-hetero-standin",
            {"edges_user_has_attribute": np.full((369435, 2), 5196)},
            "column 0 of edges_user_has_attribute must be between 0 and 5195, got 5196",
        ),
    ],
)
def test_what_comes_beside_edges_and_labels_is_checked_too(
    need_data: Callable[..., Path], tmp_path: Path, name: str, changes: dict[str, Any], reason: str
) -> None:
    for file in CATALOG[name].files:
        arrays = dict(np.load(need_data(*CATALOG[name].files) / file, allow_pickle=False))
        arrays.update({key: value for key, value in changes.items() if key in arrays})
        np.savez(tmp_path / file, **{key: value for key, value in arrays.items() if value is not None})
    refused(name, tmp_path, reason)


def test_a_header_that_asks_for_more_than_there_is_takes_no_memory(tmp_path: Path) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<i4", "fortran_order": False, "shape": (10**12, 2)})
    with zipfile.ZipFile(tmp_path / "citeseer.npz", "w") as archive:
        archive.writestr("edges.npy", header.getvalue() + bytes(64))
    refused("citeseer", tmp_path, "edges.npy must have 8000000000000 bytes, got 64")
