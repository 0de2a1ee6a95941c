"""The smallest results that are kept: a score of a method on one split, a map of a data set, an error of a function,
the score of a network on graphs that it never saw.

A unit knows what it comes from (its key) and how it is made; units that one fit serves are made together.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from pine._internal.settings import plain_settings
from pine.datasets import Dataset, load
from pine.evaluation.protocol import Part
from pine.evaluation.run import check_fits, scored
from pine.evaluation.variants import Variant, parse
from pine.labels import Labels, read_labels
from pine.reproduce.inductive import settings as inductive
from pine.reproduce.versions import version

SCORING = ("pine.evaluation.classifier", "pine.metrics", "pine.evaluation.protocol", "pine.propagation")


@dataclass(frozen=True)
class Machine:
    """Where and how units are made; it does not enter their keys."""

    data_dir: Path | None = None
    device: str = "auto"
    threads: int | None = None

    def settle(self, variant: Variant) -> Variant:
        """A variant with the device and threads of this machine, where its method has such settings."""
        own = variant.method().get_params()
        given = {"device": self.device, "threads": self.threads}
        return replace(variant, settings={k: v for k, v in given.items() if k in own} | variant.settings)


@dataclass(frozen=True)
class Score:
    """A method, as `pine evaluate` names it, on one split: {"scores": {...}, "seconds": ...}."""

    kind: ClassVar[str] = "score"
    dataset: str
    spec: str
    seed: int
    part: Part

    @property
    def together(self) -> tuple[Any, ...]:
        """What units have in common that are made together: vectors that no label enters serve all splits."""
        return (self.kind, self.dataset, self.spec, self.seed, None if not parse(self.spec).predicts else self.part)

    def key(self, machine: Machine) -> str:
        """Data, settings in full, split and code."""
        variant = parse(self.spec)
        settings = plain_settings(variant.method().set_params(**variant.settings))
        for free in ("seed", "device", "threads"):
            settings.pop(free, None)
        told = {
            "settings": settings,
            "labels": variant.labels,
            "types": variant.types,
            "spread": variant.spread,
            "method": variant.method.name,
            "seed": self.seed,
            "part": asdict(self.part),
            "data": digest(self.dataset, machine.data_dir),
            "code": [version(module) for module in (variant.method.__module__, *SCORING)],
        }
        return _hash(self.kind, told)

    @staticmethod
    def make(units: Sequence[Score], machine: Machine) -> Iterator[dict[str, Any]]:
        """Results of units that are made together, in their order."""
        some = units[0]
        data, labels = labelled(some.dataset, machine.data_dir)
        variant = machine.settle(parse(some.spec))
        check_fits(variant, data, labels)
        wanted = {unit.part: [variant] for unit in units}
        for _, _, scores, seconds in scored(data, labels, wanted, seed=some.seed):
            yield {"scores": scores, "seconds": seconds}


class OneByOne(ABC):
    """A unit that is made by itself; those of one job are made one after another."""

    kind: ClassVar[str]

    @property
    def together(self) -> tuple[Any, ...]:
        return (self.kind, self)

    @abstractmethod
    def result(self, machine: Machine) -> dict[str, Any]:
        """Make it."""

    @staticmethod
    def make(units: Sequence[OneByOne], machine: Machine) -> Iterator[dict[str, Any]]:
        return (unit.result(machine) for unit in units)


@dataclass(frozen=True)
class Map(OneByOne):
    """Vectors of the test nodes in the plane: {"x", "y", "true", "predicted"}, a list each."""

    kind: ClassVar[str] = "map"
    dataset: str
    spec: str
    ratio: float

    def key(self, machine: Machine) -> str:
        return _hash(self.kind, {"own": version("pine.reproduce.maps")}, self._score().key(machine))

    def _score(self) -> Score:
        return Score(self.dataset, self.spec, 0, Part(self.ratio, 0))

    def result(self, machine: Machine) -> dict[str, Any]:
        from pine.reproduce.maps import map_of

        data, labels = labelled(self.dataset, machine.data_dir)
        return map_of(machine.settle(parse(self.spec)).new(0), data, labels, Part(self.ratio, 0))


@dataclass(frozen=True)
class Approximation(OneByOne):
    """Errors of five functions of one size that learned a function of sets: {"errors": [...]}."""

    kind: ClassVar[str] = "approximation"
    target: str
    size: int

    def key(self, machine: Machine) -> str:
        return _hash(self.kind, asdict(self), version("pine.reproduce.approximation"))

    def result(self, machine: Machine) -> dict[str, Any]:
        from pine.reproduce.approximation import TARGETS, errors

        return {"errors": errors(TARGETS[self.target], self.size).tolist()}


@dataclass(frozen=True)
class Inductive(OneByOne):
    """A network of pine.inductive: {"scores": {"micro_f1": ...}, "validation", "kept", "epochs", "seconds"}."""

    kind: ClassVar[str] = "inductive"
    dataset: str
    spec: str
    seed: int

    @property
    def together(self) -> tuple[Any, ...]:
        """Vectors of walks serve with attributes and without, and for all trainings of their map."""
        setting = inductive.parse(self.spec)
        if not isinstance(setting, inductive.Walked):
            return super().together
        return (self.kind, self.dataset, setting.walk, self.seed)

    def key(self, machine: Machine) -> str:
        """Data with attributes and split, settings in full, seed and code."""
        setting = inductive.parse(self.spec)
        told = {
            "setting": type(setting).__name__,
            "settings": asdict(setting),
            "seed": self.seed,
            "data": [digest(self.dataset, machine.data_dir), attributes_digest(self.dataset, machine.data_dir)],
            "code": version("pine.reproduce.inductive.run"),
        }
        return _hash(self.kind, told)

    def result(self, machine: Machine) -> dict[str, Any]:
        from pine.reproduce.inductive.run import learn

        given = labelled(self.dataset, machine.data_dir)
        found = asdict(learn(inductive.parse(self.spec), *given, self.seed, machine.device, machine.threads))
        return {"scores": {"micro_f1": found.pop("test")}} | found


Unit = Score | Map | Approximation | Inductive


def told(unit: Unit) -> dict[str, Any]:
    """A unit as JSON."""
    return {"kind": unit.kind} | asdict(unit)


@cache
def labelled(name: str, data_dir: Path | None) -> tuple[Dataset, Labels]:
    """A data set and its labels, read once."""
    data = load(name, data_dir=data_dir)
    labels = read_labels(data.graph, data.labels)
    assert labels is not None
    return data, labels


@cache
def digest(name: str, data_dir: Path | None) -> str:
    """A hash of a data set's edges, weights and labels."""
    data, labels = labelled(name, data_dir)
    whole = hashlib.sha256()
    for group in data.graph.groups():
        matrix = group.matrix
        whole.update(group.name.encode())
        for array in (matrix.indptr, matrix.indices, matrix.weights):
            if array is not None:
                whole.update(np.ascontiguousarray(array).tobytes())
    whole.update(labels.known.tobytes() + np.ascontiguousarray(labels.values).tobytes())
    return whole.hexdigest()


@cache
def attributes_digest(name: str, data_dir: Path | None) -> str:
    """A hash of what is beside a data set's graph: attributes, which of several graphs nodes are in, the split."""
    data, _ = labelled(name, data_dir)
    features = data.features
    parts = [features.indptr, features.indices, features.data] if sp.issparse(features) else [features]
    whole = hashlib.sha256()
    for array in (*parts, data.graph_ids, *(data.splits[part] for part in sorted(data.splits))):
        if array is not None:
            whole.update(np.ascontiguousarray(array).tobytes())
    return whole.hexdigest()


def _hash(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()
