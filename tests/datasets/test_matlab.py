"""MATLAB files: what SciPy writes is read as SciPy reads it, and what is damaged is refused, whatever is damaged."""

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from pine.datasets.matlab import read_matrices
from pine.errors import InputError


def written(folder: Path, content: dict[str, Any], packed: bool = False) -> Path:
    path = folder / "some.mat"
    scipy.io.savemat(path, content, do_compression=packed)
    return path


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8, np.int16, np.bool_])
def test_matrices_are_those_that_scipy_reads(tmp_path: Path, packed: bool, dtype: Any) -> None:
    some = sp.random(40, 30, 0.1, format="csc", random_state=0)
    dense = (10 * some.toarray()).astype(dtype)
    kept = np.float64 if dtype in (np.float32, np.uint8, np.int16) else dtype  # sparse ones are doubles or logical
    path = written(tmp_path, {"a": sp.csc_matrix(dense.astype(kept)), "dense": dense, "text": "abc"}, packed)
    read, known = read_matrices(path), scipy.io.loadmat(path)
    assert read.keys() == {"a", "dense"}
    np.testing.assert_array_equal(read["a"].toarray(), known["a"].toarray())
    np.testing.assert_array_equal(read["dense"].toarray(), known["dense"])


def test_an_empty_matrix_is_one(tmp_path: Path) -> None:
    assert read_matrices(written(tmp_path, {"a": sp.csc_matrix((3, 4))}))["a"].shape == (3, 4)


WHOLE: dict[bool, bytes] = {}


def whole(folder: Path, packed: bool) -> bytes:
    if packed not in WHOLE:
        content = {"network": sp.random(30, 30, 0.1, format="csc", random_state=0), "group": np.eye(30, 5)}
        WHOLE[packed] = written(folder, content, packed).read_bytes()
    return WHOLE[packed]


@settings(deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_a_damaged_file_is_read_or_refused_in_a_sentence(tmp_path_factory: Any, seed: int, packed: bool) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    rng = np.random.default_rng(seed)
    for _ in range(20):
        content = bytearray(whole(folder, packed))
        for _ in range(rng.integers(1, 4)):
            content[rng.integers(100, len(content))] = rng.integers(256)
        content = content[: rng.integers(10, len(content))] if rng.random() < 0.2 else content
        path = folder / "some.mat"
        path.write_bytes(content)
        sentence = ""
        try:
            for matrix in read_matrices(path).values():
                sp.triu(matrix, format="csr").nonzero()
        except InputError as refused:
            sentence = str(refused)
        assert not sentence or "cannot be read as a MATLAB file" in sentence
        assert len(sentence) < 300


def test_what_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pine.datasets.matlab.LARGEST", 10_000)
    bomb = zlib.compress(bytes(1_000_000))
    head = b"MATLAB 5.0".ljust(124) + b"\x00\x01IM"
    (tmp_path / "some.mat").write_bytes(head + struct.pack("<II", 15, len(bomb)) + bomb)
    with pytest.raises(InputError, match="unpacks to more than 10,000 bytes"):
        read_matrices(tmp_path / "some.mat")


def test_a_newer_form_is_named(tmp_path: Path) -> None:
    (tmp_path / "some.mat").write_bytes(b"MATLAB 7.3".ljust(124) + b"\x00\x02IM" + b"\x89HDF")
    with pytest.raises(InputError, match=r"version 7\.3; save it as version 7"):
        read_matrices(tmp_path / "some.mat")
