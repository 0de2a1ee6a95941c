"""The library of the format reads what is written, of every kind and shape."""

from __future__ import annotations

import numpy as np
import pytest
from safetensors.numpy import load_file

from pine._internal.tensor_file import NAMES, write_arrays


def test_arrays_of_every_kind_come_back(tmp_path):
    rng = np.random.default_rng(0)
    arrays = {f"an array of {name}": (rng.random((3, 5)) * 100).astype(name) for name in NAMES}
    arrays |= {"empty": np.empty((0, 4), np.float32), "one": np.array(3.5), "turned": arrays["an array of int32"].T}
    write_arrays(arrays, tmp_path / "file")
    read = load_file(tmp_path / "file")
    assert read.keys() == arrays.keys()
    for name, array in arrays.items():
        assert read[name].dtype == array.dtype
        np.testing.assert_array_equal(read[name], array)


def test_more_than_is_written_at_a_time_comes_back(tmp_path, monkeypatch):
    monkeypatch.setattr("pine._internal.tensor_file.BYTES_AT_A_TIME", 7)
    write_arrays({"a": np.arange(100.0), "b": np.arange(9, dtype=np.uint8)}, tmp_path / "file")
    read = load_file(tmp_path / "file")
    assert (read["a"] == np.arange(100)).all()
    assert (read["b"] == np.arange(9)).all()


def test_a_file_that_is_there_is_not_written_over(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FileExistsError):
        write_arrays({"a": np.zeros(1)}, tmp_path / "file")
