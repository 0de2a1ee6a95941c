"""What nodes are labeled as and predicted as, with the users' classes as text: the labels of a run, and of a file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine.embedder import Embedder
from pine.errors import InputError
from pine.labels import Labels

LIKELY = 0.5  # a label of a set is predicted from this probability on


@dataclass(frozen=True, eq=False)
class Answers:
    """Of the nodes of one type, count of them; nodes says where they stand among all.

    truth: class numbers (count,), label sets (count, num_classes) of truth values, or numbers (count,), where known.
    scores: probabilities (count, num_predicted) or numbers (count, 1); None where nothing is predicted.
    trained: (count,), whether the run was trained with the node's label.
    """

    task: str
    type: str
    nodes: slice
    classes: list[str]
    known: NDArray[np.bool_]
    truth: NDArray[Any]
    scores: NDArray[np.float32] | None
    trained: NDArray[np.bool_]

    @property
    def count(self) -> int:
        return len(self.known)

    @cached_property
    def predicted(self) -> NDArray[Any]:
        """As truth has them."""
        assert self.scores is not None
        if self.task == "classes":
            return np.asarray(self.scores.argmax(axis=1))
        if self.task == "numbers":
            return self.scores[:, 0].astype(np.float64)
        given = np.zeros((self.count, len(self.classes)), bool)
        given[:, : self.scores.shape[1]] = self.scores >= LIKELY
        return given

    @cached_property
    def best(self) -> tuple[NDArray[np.bool_], NDArray[Any]]:
        """Where something is known or predicted, and what: the label where it is known, else the prediction."""
        if self.scores is None:
            return self.known, self.truth
        known = self.known if self.truth.ndim == 1 else self.known[:, None]
        return np.ones(self.count, bool), np.where(known, self.truth, self.predicted)

    def text(self, value: Any) -> str:
        """A label in words."""
        if self.task == "classes":
            return self.classes[int(value)]
        if self.task == "numbers":
            return f"{float(value):.4g}"
        return ", ".join(self.classes[i] for i in np.flatnonzero(value)) or "empty set"


def answers_of(model: Embedder, given: Labels | None) -> Answers | None:
    """The labels and predictions of a run, and labels that are given beside it; None where there is neither."""
    own = model.labels_
    first = own or given
    if first is None:
        return None
    if given is not None and own is not None:
        _check_alike(own, given)
    values = list(_values(own))
    values += [value for value in _values(given) if not _among(value, values)]
    numbers = {str(value): number for number, value in enumerate(values)}
    count = len(model.nodes_.of(first.type))
    sets = first.task == "label-sets"
    kind: Any = {"classes": np.int64, "label-sets": bool, "numbers": np.float64}[first.task]
    known, trained = np.zeros(count, bool), np.zeros(count, bool)
    truth = np.zeros((count, len(values)) if sets else count, kind)
    for labels in (own, given):  # a file wins over the run
        if labels is not None:
            known[labels.known] = True
            truth[labels.known] = _renumbered(labels, numbers)
    if own is not None:
        trained[own.known] = True
    scores = model.fitted_.scores if model.supervised and own is not None else None
    nodes, classes = model.nodes_.slice(first.type), [str(value) for value in values]
    return Answers(first.task, first.type, nodes, classes, known, truth, scores, trained)


def _values(labels: Labels | None) -> list[Any]:
    return [] if labels is None or labels.classes is None else labels.classes.tolist()


def _among(value: Any, values: list[Any]) -> bool:
    return str(value) in {str(each) for each in values}


def _renumbered(labels: Labels, numbers: dict[str, int]) -> NDArray[Any]:
    """The values of labels, with the numbers of all classes."""
    if labels.classes is None:
        return labels.values
    places = np.array([numbers[str(value)] for value in labels.classes.tolist()], np.int64)
    if labels.task == "classes":
        return np.asarray(places[labels.values])
    wide = np.zeros((len(labels.known), len(numbers)), bool)
    wide[:, places] = labels.values.astype(bool)
    return wide


def _check_alike(own: Labels, given: Labels) -> None:
    if own.task != given.task:
        raise InputError(
            f"the run was trained with {own.task}, and the given labels are {given.task}; give labels of one kind"
        )
    if own.type != given.type:
        raise InputError(
            f"the run was trained with labels of nodes of type {own.type!r}, the given ones are of type {given.type!r}"
        )
