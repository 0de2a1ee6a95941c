"""A saved run: nothing in it can run, nothing half-written stays, and damage is explained."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from support.killed import kill_again_and_again

from pine import PINE, Graph, InputError
from pine.baselines import DeepWalk, LabelPropagation
from pine.io.runs import _json_sum, array_sum
from pine.methods import load_run


@pytest.fixture
def model() -> LabelPropagation:
    return LabelPropagation().fit(Graph.from_edges([("a", "b"), ("b", "ü")]), {"a": "x", "ü": "y"})


def test_a_run_is_one_file_of_numbers_and_one_of_json(model: LabelPropagation, tmp_path: Path):
    model.save(tmp_path / "run")
    assert sorted(os.listdir(tmp_path / "run")) == ["run.json", "run.safetensors"]
    assert json.loads((tmp_path / "run" / "run.json").read_text())["method"] == "label-propagation"


def test_saving_again_replaces_the_run_and_leaves_nothing_else(model: LabelPropagation, tmp_path: Path):
    for _ in range(2):
        model.save(tmp_path / "run")
    assert os.listdir(tmp_path) == ["run"]


def test_a_folder_that_is_no_run_is_not_overwritten(model: LabelPropagation, tmp_path: Path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("precious")
    with pytest.raises(InputError, match="exists and is not a saved run"):
        model.save(tmp_path / "thesis")
    assert (tmp_path / "thesis" / "chapter.tex").read_text() == "precious"


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file can grow beyond so many bytes, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("file", ["run.json", "run.safetensors"])
def test_a_save_that_fails_leaves_the_old_run_and_nothing_half_written(
    model: LabelPropagation, tmp_path: Path, file: str
):
    model.save(tmp_path / "run")
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    with pytest.raises(OSError, match="File too large"), largest_file(len(before[file]) - 1):
        model.save(tmp_path / "run")
    assert os.listdir(tmp_path) == ["run"]
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before


def test_a_save_that_is_killed_leaves_a_whole_run_or_none(tmp_path: Path):
    kill_again_and_again(
        tmp_path / "run",
        setup="""
        import numpy as np
        from pine import Graph
        from pine.baselines import LabelPropagation
        count = 20000
        graph = Graph.from_edges(np.column_stack([np.arange(count), (np.arange(count) * 7) % count]))
        model = LabelPropagation(rounds=1).fit(graph, np.arange(count) % 20)
        """,
        work="model.save(place)",
        check="assert not place.exists() or np.isfinite(LabelPropagation.load(place).embedding_).all()",
        waits=(0.01, 0.03, 0.08),
    )


def test_damage_is_explained(model: LabelPropagation, tmp_path: Path):
    with pytest.raises(InputError, match=r"is not a saved run: it has no run\.json"):
        LabelPropagation.load(tmp_path)
    model.save(tmp_path / "run")
    arrays, about = tmp_path / "run" / "run.safetensors", tmp_path / "run" / "run.json"
    whole, text = arrays.read_bytes(), about.read_text()
    for broken in (whole[:-10], whole[:5], b"", b"\xff" * len(whole)):
        arrays.write_bytes(broken)
        with pytest.raises(InputError, match="is damaged"):
            LabelPropagation.load(tmp_path / "run")
    arrays.write_bytes(whole)
    for broken_text in ("{", "[]", "{}", text.replace('"types"', '"tipes"'), text.replace('"str"', '"int"')):
        about.write_text(broken_text)
        with pytest.raises(InputError, match="is damaged"):
            LabelPropagation.load(tmp_path / "run")
    about.write_text(text.replace('"format": 2', '"format": 99'))
    with pytest.raises(InputError, match="has format 99, this version reads 2 and older"):
        LabelPropagation.load(tmp_path / "run")
    about.write_text('{"format": 2, "a": ' + 100_000 * "[")
    with pytest.raises(InputError, match="is damaged"):
        LabelPropagation.load(tmp_path / "run")
    about.write_text(text)
    with pytest.raises(InputError, match="was saved by 'label-propagation', not by 'deepwalk'"):
        DeepWalk.load(tmp_path / "run")


def test_every_flipped_byte_of_a_run_is_found(model: LabelPropagation, tmp_path: Path):
    model.save(tmp_path / "run")
    rng = np.random.default_rng(0)
    for file in ("run.json", "run.safetensors"):
        whole = (tmp_path / "run" / file).read_bytes()
        # Blanks between the words of run.json may be other blanks, and "files" is a list for people.
        for place in rng.choice(len(whole), 150, replace=False):
            broken = bytearray(whole)
            broken[place] ^= 1 << int(rng.integers(8))
            (tmp_path / "run" / file).write_bytes(broken)
            try:
                again = LabelPropagation.load(tmp_path / "run")
            except InputError as problem:
                assert len(str(problem)) <= 300  # noqa: PT017
            else:
                assert bytes(whole[place : place + 1]).isspace()
                assert np.array_equal(again.embedding_, model.embedding_)
        (tmp_path / "run" / file).write_bytes(whole)
    assert LabelPropagation.load(tmp_path / "run").predict().tolist() == model.predict().tolist()


def _forged(folder: Path, entries: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Other entries and arrays (None: without it), and sums that fit."""
    about = json.loads((folder / "run.json").read_text()) | entries
    tensors = {**load_file(folder / "run.safetensors"), **arrays}
    tensors = {name: array for name, array in tensors.items() if array is not None}
    save_file(tensors, folder / "run.safetensors")
    about["sums"] = {name: array_sum(array) for name, array in tensors.items()}
    (folder / "run.json").write_text(json.dumps(about | {"sum": _json_sum(about)}))


LABELS = {"task": "classes", "type": "node", "classes": ["x", "y"], "named_sets": False}
FORGED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a method without a name": ({"method": {}}, {}),
    "settings without names": ({"params": []}, {}),
    "a setting of another kind": ({"params": {"alpha": "x"}}, {}),
    "a state without names": ({"about": 1}, {}),
    "no nodes": ({"types": []}, {}),
    "vectors of doubles": ({}, {"vectors": np.zeros((3, 2))}),
    "a vector too few": ({}, {"vectors": np.zeros((2, 2), np.float32)}),
    "labels without scores": ({}, {"scores": None}),
    "flat scores": ({}, {"scores": np.zeros(6, np.float32)}),
    "labels of no node": ({}, {"labels.known": np.array([0, 7])}),
    "labels of one node twice": ({}, {"labels.known": np.array([0, 0])}),
    "labels of no class": ({}, {"labels.values": np.array([0, 5])}),
    "classes that are lists": ({"labels": LABELS | {"classes": [[], []]}}, {}),
    "two classes of one name": ({"labels": LABELS | {"classes": ["x", "x"]}}, {}),
    "an unknown task": ({"labels": LABELS | {"task": "x"}}, {}),
    "labels of an unknown type": ({"labels": LABELS | {"type": "x"}}, {}),
}


@pytest.mark.parametrize("case", FORGED)
def test_parts_that_do_not_fit_together_are_refused_also_where_sums_are_right(
    model: LabelPropagation, tmp_path: Path, case: str
):
    model.save(tmp_path / "run")
    _forged(tmp_path / "run", {}, {})
    assert LabelPropagation.load(tmp_path / "run").predict().tolist() == model.predict().tolist()
    _forged(tmp_path / "run", *FORGED[case])
    with pytest.raises(InputError) as caught:
        load_run(tmp_path / "run")
    assert len(str(caught.value)) <= 300


def test_two_nodes_of_one_id_are_refused(tmp_path: Path):
    LabelPropagation().fit(Graph.from_edges([(0, 1), (1, 2)]), [0, 1, 1]).save(tmp_path / "run")
    _forged(tmp_path / "run", {}, {"ids.0": np.array([0, 1, 1])})
    with pytest.raises(InputError, match="two nodes have the same id"):
        load_run(tmp_path / "run")


def test_a_run_of_the_first_format_is_still_read(model: LabelPropagation, tmp_path: Path):
    model.save(tmp_path / "run")
    about = json.loads((tmp_path / "run" / "run.json").read_text())
    del about["sum"], about["sums"]
    (tmp_path / "run" / "run.json").write_text(json.dumps(about | {"format": 1}))
    assert np.array_equal(LabelPropagation.load(tmp_path / "run").embedding_, model.embedding_)


def test_ids_that_cannot_be_saved_are_refused_before_anything_is_written(tmp_path: Path):
    graph = Graph.from_edges([(frozenset({1}), "b"), ("b", 3)])
    model = LabelPropagation().fit(graph, {"b": 1, 3: 0})
    with pytest.raises(InputError, match="ids and labels can be saved if they are numbers, strings or tuples"):
        model.save(tmp_path / "run")
    assert os.listdir(tmp_path) == []


def test_settings_that_are_infinite_are_saved_as_json_that_others_can_read(tmp_path: Path):
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
    model = PINE(lam=float("inf"), epochs=2, dim=4).fit(graph, {0: "a", 3: "b"})
    model.save(tmp_path / "run")
    text = (tmp_path / "run" / "run.json").read_text()
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    loaded = PINE.load(tmp_path / "run")
    assert loaded.lam == float("inf")
    assert loaded.learned_.choice.lam == (float("inf"),)
