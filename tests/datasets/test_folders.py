"""Files are taken from the caller's folder, then PINE_DATA, then the cache; what is nowhere is explained."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pine.datasets import CATALOG, available, how_to_get, load
from pine.datasets.folders import FolderLike, cache_folder
from pine.errors import InputError, listed


@pytest.fixture(autouse=True)
def empty_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PINE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def fake_email(folder: Path, first_label: int) -> Path:
    """A file of the right form for email-eu, told apart by one label."""
    folder.mkdir(parents=True, exist_ok=True)
    edges = np.stack([np.arange(25571) % 1005, np.arange(25571) // 1005], 1).astype(np.int32)
    labels = np.zeros(1005, np.int16)
    labels[0] = first_label
    np.savez(folder / "email-eu-core.npz", edges=edges, labels=labels)
    return folder


def test_the_callers_folder_comes_before_pine_data_and_that_before_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def first_label(data_dir: FolderLike = None) -> int:
        return int(np.asarray(load("email-eu", data_dir, download=False).labels)[0])

    fake_email(cache_folder(), 1)
    assert first_label() == 1
    monkeypatch.setenv("PINE_DATA", str(fake_email(tmp_path / "variable", 2)))
    assert first_label() == 2
    given = fake_email(tmp_path / "given", 3)
    assert first_label(given) == 3
    assert first_label(str(given)) == 3
    assert available("email-eu", given) == given / "email-eu-core.npz"
    (given / "email-eu-core.npz").unlink()
    assert first_label(given) == 2


def test_the_cache_folder_follows_xdg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_folder() == tmp_path / "cache" / "pine-embedding"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    assert cache_folder() == tmp_path / ".cache" / "pine-embedding"


@pytest.mark.parametrize("name", [name for name in CATALOG if name != "cora"])
def test_a_data_set_that_is_nowhere_says_which_files_go_where(name: str, tmp_path: Path) -> None:
    assert available(name) is None
    with pytest.raises(InputError) as caught:
        load(name, tmp_path, download=False)
    message = str(caught.value)
    assert message.startswith(f"dataset {name!r} is not in {tmp_path}, {cache_folder()}, and download=False")
    assert all(file in message for file in CATALOG[name].files)
    assert CATALOG[name].where in message
    assert "PINE_DATA" in message
    if CATALOG[name].downloadable:
        assert all(original.url in message for original in CATALOG[name].originals)
    else:
        assert "PINE cannot download it" in message
    assert how_to_get(name) in message


@pytest.mark.parametrize("name", ["dblp", "blogcatalog", "ppi", "reddit", "blogcatalog-hetero-standin", "chameleon"])
def test_a_data_set_without_a_checkable_home_is_not_downloaded(name: str) -> None:
    assert not CATALOG[name].downloadable
    with pytest.raises(InputError) as caught:
        load(name)
    assert str(caught.value).startswith(f"dataset {name!r} is not in {cache_folder()}. To get it: PINE cannot download")


def test_cora_needs_nothing() -> None:
    assert how_to_get("cora") == "cora comes with PINE; there is nothing to get"
    assert load("cora", download=False).graph.num_nodes == 2708


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("coar", "unknown dataset 'coar'; did you mean 'cora'?"),
        ("email-eu-core", "unknown dataset 'email-eu-core'; did you mean 'email-eu'?"),
        ("karate", f"unknown dataset 'karate'; there are {listed(CATALOG, 8)}; `pine datasets` lists them"),
    ],
)
@pytest.mark.parametrize("function", [load, available, how_to_get])
def test_an_unknown_name_is_met_with_the_nearest_one(
    function: Callable[[str], object], name: str, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        function(name)
    assert str(caught.value) == message


def test_a_data_dir_that_is_no_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"data_dir must be a folder, got '.*nowhere'; create it or leave"):
        load("citeseer", tmp_path / "nowhere", download=False)


def test_a_stand_in_never_answers_to_the_name_of_the_real_graph(tmp_path: Path) -> None:
    stand_ins = [entry for entry in CATALOG.values() if entry.stand_in_for]
    assert {entry.name for entry in stand_ins} == {"blogcatalog-10312", "blogcatalog-hetero-standin"}
    for entry in stand_ins:
        assert "not the paper's" in entry.credit
        assert not set(entry.forms) & set(CATALOG[entry.stand_in_for].forms)
    # All files of both stand-ins, also under the path of the publisher's own, and still no BlogCatalog.
    for file in ("blogcatalog-10312.npz", "blogcatalog-hetero-standin.npz", "blogcatalog-10312/blogcatalog.mat"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_bytes(b"a stand-in")
    assert available("blogcatalog-10312", tmp_path) is not None
    assert available("blogcatalog", tmp_path) is None
    with pytest.raises(InputError, match="dataset 'blogcatalog' is not in"):
        load("blogcatalog", tmp_path)
