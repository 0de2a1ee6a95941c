"""What is fuzzed: saved runs and the states of fits under way, damaged, or made by someone who knows the sums."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

import pine
from pine import PINE, Graph
from pine.embedder import Embedder
from pine.io.runs import _json_sum, array_sum
from pine.methods import load_run
from support.fuzz.damage import damaged, damaged_json

EDGES = [(i, (i * 7 + 1) % 20) for i in range(20)] + [(i, (i + 1) % 20) for i in range(20)]
CLASSES = [i % 3 for i in range(20)]
QUICK = {"pine": {"dim": 4, "epochs": 2}, "gcn": {"epochs": 2}, "wys": {"dim": 4, "steps": 2}, "label-propagation": {}}


def fitted() -> dict[str, Embedder]:
    """Runs of several methods, kinds of ids and kinds of labels."""
    graph = Graph.from_edges(EDGES).with_features({"node": np.eye(20, 4, dtype=np.float32)})
    named = Graph.from_relations({("a", "to", "b"): [(f"x{i}", (f"y{j}", j)) for i, j in EDGES]})
    made: dict[str, Embedder] = {
        name: pine.METHODS[name](**settings).fit(graph, CLASSES) for name, settings in QUICK.items()
    }
    made["pine typed"] = PINE(dim=4, epochs=2).fit(named, {"a": {"x0": {"p", "q"}, "x1": {"q"}, "x2": {"p"}}})
    made["pine numbers"] = PINE(dim=4, epochs=2).fit(graph, [0.5 * i for i in range(20)])
    made["pine without labels"] = PINE(dim=4, epochs=2).fit(Graph.from_edges([(f"v{i}", f"v{j}") for i, j in EDGES]))
    return made


def answers(model: Embedder) -> list[Any]:
    """What users ask of a run."""
    said: list[Any] = [model.embedding_, model.nodes_.id_at(0), repr(model)]
    type = model.nodes_.types[0]
    said.append(model.most_similar(model.nodes_.of(type)[0], k=3, type=type))
    if model.supervised and model.labels_ is not None:
        said.append(model.predict())
        if model.labels_.task != "numbers":
            said.append(model.predict_proba())
    return said


def check_equal(one: Any, other: Any) -> None:
    if isinstance(one, dict):
        assert one.keys() == other.keys(), "other types"
        one, other = list(one.values()), list(other.values())
    if isinstance(one, list | tuple):
        assert len(one) == len(other), "another number of answers"
        for ours, theirs in zip(one, other, strict=True):
            check_equal(ours, theirs)
    else:
        assert np.array_equal(one, other), "the run is not what was saved"


class SavedRuns:
    """A damaged run is refused, or all that it answers is as before."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: list[str] = []
        self.expected: dict[str, list[Any]] = {}
        for name, model in fitted().items():
            model.save(folder / name)
            self.names.append(name)
            self.expected[name] = answers(load_run(folder / name))

    def case(self, rng: np.random.Generator) -> None:
        name, place = self._copy(rng)
        file = place / ("run.json", "run.safetensors")[int(rng.integers(2))]
        file.write_bytes(damaged(file.read_bytes(), rng))
        check_equal(answers(load_run(place)), self.expected[name])

    def _copy(self, rng: np.random.Generator) -> tuple[str, Path]:
        name = self.names[int(rng.integers(len(self.names)))]
        place = self.folder / "case"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.folder / name, place)
        return name, place


class ForgedRuns(SavedRuns):
    """A run with other entries or arrays and sums that fit: refused, or it answers."""

    def case(self, rng: np.random.Generator) -> None:
        _, place = self._copy(rng)
        about = json.loads((place / "run.json").read_text())
        arrays = load_file(place / "run.safetensors")
        if rng.random() < 0.6:
            parts = {key: about[key] for key in about if key not in ("sum", "sums")}
            changed = damaged_json(parts, rng)
            about = changed if isinstance(changed, dict) else {}
        else:
            arrays = _other_arrays(arrays, rng)
        save_file(arrays, place / "run.safetensors")
        about["sums"] = {name: array_sum(array) for name, array in arrays.items()}
        about.pop("sum", None)
        about["sum"] = _json_sum(about)
        (place / "run.json").write_text(json.dumps(about))
        answers(load_run(place))


def _other_arrays(arrays: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    made = dict(arrays)
    name = sorted(made)[int(rng.integers(len(made)))]
    array, kind = made[name], int(rng.integers(8))
    if kind == 0:
        del made[name]
    elif kind == 1:
        made[name] = array[:-1].copy()
    elif kind == 2:
        made[name] = array.reshape(-1).copy()
    elif kind == 3:
        made[name] = array.astype((np.int8, np.float64, np.int64, np.uint8, np.bool_)[int(rng.integers(5))])
    elif kind == 4 and array.size:
        made[name] = array.copy()
        odd = np.array((-1, 0, 1, 127)[int(rng.integers(4))]).astype(array.dtype)
        made[name].reshape(-1)[int(rng.integers(array.size))] = odd
    elif kind == 5 and array.dtype.kind == "f":
        made[name] = np.full_like(array, (np.nan, np.inf, 1e38)[int(rng.integers(3))])
    elif kind == 6:
        made[name] = np.zeros((0, *array.shape[1:]), array.dtype)
    else:
        made["x" * int(rng.integers(1, 3000))] = array
    return made


class Stop(Exception):
    """Ends a fit in its midst."""


class Checkpoints:
    """A damaged state is refused, or the fit goes on from it to the same vectors."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "state"
        self.graph, self.model = Graph.from_edges(EDGES), PINE(dim=4, epochs=6, lam=1.0, label_share=0.0)

        def stop(done: int, planned: int, what: str) -> None:
            if self.file.exists() and done > planned // 2:
                raise Stop

        with contextlib.suppress(Stop):
            self.model.fit(self.graph, CLASSES, checkpoint=self.file, checkpoint_every=0.0, progress=stop)
        self.state = self.file.read_bytes()
        self.expected = self.model.fit(self.graph, CLASSES, checkpoint=self.file).embedding_

    def changed(self, rng: np.random.Generator) -> bytes:
        return damaged(self.state, rng)

    def case(self, rng: np.random.Generator) -> None:
        self.file.write_bytes(self.changed(rng))
        self.model.fit(self.graph, CLASSES, checkpoint=self.file)
        assert np.array_equal(self.model.embedding_, self.expected), "the fit went on to other vectors"
