"""Tasks: the smallest results that are kept, such as the score of a method on one split.

A task knows what its result comes from (its key) and how it is made; tasks that one fit serves are made together.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from pine.datasets import Dataset, load
from pine.evaluation.variants import Variant
from pine.labels import Labels, read_labels

Load = Callable[[str, Path | None], Dataset]


@dataclass(frozen=True)
class Machine:
    """Where and how tasks are made, and who loads their data; keys do not depend on it."""

    data_dir: Path | None = None
    device: str = "auto"
    threads: int | None = None
    load: Load = load

    def configure(self, variant: Variant) -> Variant:
        """A variant with the device and threads of this machine, where its method has such settings."""
        own = variant.method().get_params()
        given = {"device": self.device, "threads": self.threads}
        return replace(variant, settings={k: v for k, v in given.items() if k in own} | variant.settings)

    def labeled(self, name: str) -> tuple[Dataset, Labels]:
        """A data set and its labels, read once."""
        return _labeled(self.load, name, self.data_dir)

    def graph_digest(self, name: str) -> str:
        """A hash of a data set's edges, weights and labels."""
        return _graph_digest(self.load, name, self.data_dir)

    def features_digest(self, name: str) -> str:
        """A hash of what is beside a data set's graph: features, which of several graphs nodes are in, the split."""
        return _features_digest(self.load, name, self.data_dir)


@dataclass(frozen=True)
class Task(ABC):
    """One result to make: plain data, so that it can be sent to another process and written as JSON."""

    kind: ClassVar[str]

    @abstractmethod
    def sources(self, machine: Machine) -> dict[str, Any]:
        """All that the result depends on: data, settings in full, split, seed, and revisions of the code."""

    @classmethod
    @abstractmethod
    def make(cls, tasks: Sequence[Self], machine: Machine) -> Iterator[dict[str, Any]]:
        """The results of tasks with one fit_key, in their order."""

    def fit_key(self, machine: Machine) -> tuple[Any, ...]:
        """What tasks have in common that one fit serves, or whose fits run side by side on a machine."""
        return (self.kind, self)

    def key(self, machine: Machine) -> str:
        """The hash by which the result is kept."""
        text = json.dumps([self.kind, self.sources(machine)], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    def describe(self) -> dict[str, Any]:
        """As JSON."""
        return {"kind": self.kind} | asdict(self)

    @property
    def title(self) -> str:
        """In a few words."""
        about = self.describe()
        return " ".join(str(about[key]) for key in ("dataset", "spec", "target", "size") if key in about)


@dataclass(frozen=True)
class SingleTask(Task):
    """A task that shares no fit, or shares what is cached; those of one job are made one after another."""

    @abstractmethod
    def result(self, machine: Machine) -> dict[str, Any]:
        """Make it."""

    @classmethod
    def make(cls, tasks: Sequence[Self], machine: Machine) -> Iterator[dict[str, Any]]:
        return (task.result(machine) for task in tasks)


@cache
def _labeled(load: Load, name: str, data_dir: Path | None) -> tuple[Dataset, Labels]:
    data = load(name, data_dir)
    labels = read_labels(data.graph, data.labels)
    return data, labels


@cache
def _graph_digest(load: Load, name: str, data_dir: Path | None) -> str:
    data, labels = _labeled(load, name, data_dir)
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
def _features_digest(load: Load, name: str, data_dir: Path | None) -> str:
    data, _ = _labeled(load, name, data_dir)
    given = list(data.features.values()) if isinstance(data.features, Mapping) else [data.features]
    parts = [[each.indptr, each.indices, each.data] if sp.issparse(each) else [each] for each in given]
    whole = hashlib.sha256()
    for array in (*chain(*parts), data.graph_ids, *(data.splits[part] for part in sorted(data.splits))):
        if array is not None:
            whole.update(np.ascontiguousarray(array).tobytes())
    return whole.hexdigest()
