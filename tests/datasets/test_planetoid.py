"""Planetoid's parts become arrays in node order, and an unknown pickle is never opened."""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import struct
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.sparse as sp

from pine.datasets import CATALOG, load
from pine.datasets.planetoid import PLANETOID_PARTS, read_old_pickle, read_planetoid
from pine.errors import InputError


class Python2Pickler(pickle._Pickler):
    """Protocol 2 with strings of bytes as Python 2 wrote them; Python 3 would call _codecs.encode for each."""

    def save_bytes(self: Any, value: bytes) -> None:
        self.write(pickle.BINSTRING + struct.pack("<i", len(value)) + value)
        self.memoize(value)

    dispatch: ClassVar[dict[type, Any]] = {**pickle._Pickler.dispatch, bytes: save_bytes}


def python_2_pickle(value: Any) -> bytes:
    """The pickle that Python 2 would have written, under the module names of the time."""
    file = io.BytesIO()
    Python2Pickler(file, protocol=2).dump(value)
    content = file.getvalue()
    for now, then in (
        (b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n"),
        (b"cscipy.sparse._csr\n", b"cscipy.sparse.csr\n"),
    ):
        content = content.replace(now, then)
    return content


def test_planetoids_parts_land_on_their_nodes(tmp_path: Path) -> None:
    """Five nodes, of which test.index lists 4 before 2 and skips 3."""

    def matrix(rows: list[list[float]]) -> Any:
        return sp.csr_matrix(np.array(rows, np.float32))

    content: dict[str, Any] = {
        "x": matrix([[1, 0]]),
        "y": np.array([[1, 0]]),
        "allx": matrix([[1, 0], [0, 2]]),
        "ally": np.array([[1, 0], [0, 1]]),
        "tx": matrix([[4, 4], [0, 3]]),
        "ty": np.array([[0, 1], [1, 0]]),
        "graph": {0: [1, 4], 1: [0], 2: [], 3: [], 4: [0]},
    }
    paths = {part: tmp_path / part for part in PLANETOID_PARTS}
    paths["test.index"].write_text("4\n2\n")
    for part, value in content.items():
        paths[part].write_bytes(python_2_pickle(value))
    sha256 = {part: hashlib.sha256(path.read_bytes()).hexdigest() for part, path in paths.items()}
    arrays = read_planetoid(paths, sha256, np.uint8)
    assert arrays["labels"].tolist() == [0, 1, 0, -1, 1]
    assert arrays["edges"].tolist() == [[0, 1], [0, 4], [1, 0], [4, 0]]
    assert (arrays["train_idx"].tolist(), arrays["test_idx"].tolist()) == ([0], [2, 4])
    features = sp.csr_array((arrays["feat_data"], arrays["feat_indices"], arrays["feat_indptr"]), shape=(5, 2))
    assert features.toarray().tolist() == [[1, 0], [0, 2], [0, 3], [0, 0], [4, 4]]


def test_a_pickle_with_another_checksum_is_not_opened(tmp_path: Path) -> None:
    trap, path = tmp_path / "trap", tmp_path / "ind.cora.x"
    path.write_bytes(pickle.dumps(Trap(str(trap)), protocol=2))
    with pytest.raises(InputError, match="it is a pickle, so no other file is opened"):
        read_old_pickle(path, "0" * 64)
    assert not trap.exists()


def test_even_a_pickle_with_the_right_checksum_may_not_call_anything_else(tmp_path: Path) -> None:
    trap, path = tmp_path / "trap", tmp_path / "ind.cora.x"
    path.write_bytes(pickle.dumps(Trap(str(trap)), protocol=2))
    total = hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(InputError, match=r"must hold plain arrays, but it asks for .*mkdir"):
        read_old_pickle(path, total)
    assert not trap.exists()


def test_a_planted_pickle_is_refused_by_load(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    (tmp_path / "planetoid").mkdir()
    for original in CATALOG["pubmed"].originals:
        (tmp_path / original.path).write_bytes(pickle.dumps(Trap(str(trap)), protocol=2))
    with pytest.raises(InputError, match="it is a pickle, so no other file is opened"):
        load("pubmed", tmp_path, download=False)
    assert not trap.exists()


class Trap:
    """Unpickled in the ordinary way, it makes a folder."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (self.path,)
