"""Labels in every form that users have them, turned into one: which nodes have a label, and its value as a number."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pine._internal.numbers import as_float
from pine.errors import InputError, listed, one_of, quoted
from pine.graph import Graph
from pine.graph.ids.column import NO_IDS, column, is_unicode

Task = Literal["classes", "label-sets", "numbers"]
TASKS: tuple[Task, ...] = ("classes", "label-sets", "numbers")
LARGEST_NUMBER = 1e30  # predictions and their squares are float32 and float64
MANY_CLASSES = 10  # where as many classes as labels are no toy


@dataclass(frozen=True, eq=False)
class Labels:
    """The known labels of the nodes of one type.

    known (num_known,): positions within the type, ascending. values: class numbers (num_known,), label sets
    (num_known, num_classes) of 0 and 1, or numbers (num_known,). classes: the users' own values; for numbers None.
    """

    task: Task
    type: str
    known: NDArray[np.int64]
    values: NDArray[Any]
    classes: NDArray[Any] | None
    named_sets: bool = False  # label sets were given as sets of names, and are given back so

    @property
    def num_outputs(self) -> int:
        """Number of classes, or 1 for numbers."""
        return 1 if self.classes is None else len(self.classes)

    def targets(self) -> NDArray[np.float64]:
        """The scores that a perfect prediction has at the known nodes: (num_known, num_outputs)."""
        if self.task == "classes":
            one_hot: NDArray[np.float64] = np.eye(self.num_outputs)[self.values]
            return one_hot
        return self.values.reshape(len(self.known), -1).astype(np.float64)

    def some(self, chosen: NDArray[np.bool_]) -> Labels:
        """Those of some of the known nodes: chosen (num_known,)."""
        return replace(self, known=self.known[chosen], values=self.values[chosen])

    def standardized(self) -> tuple[Labels, float, float]:
        """Numbers at zero mean and unit variance, their center and scale; other labels as they are, with 0 and 1."""
        if self.task != "numbers":
            return self, 0.0, 1.0
        center, scale = float(self.values.mean()), float(self.values.std()) or 1.0
        return self.rescaled(center, scale), center, scale

    def rescaled(self, center: float, scale: float) -> Labels:
        """Numbers less a center, divided by a scale; other labels as they are."""
        return self if self.task != "numbers" else replace(self, values=(self.values - center) / scale)


def read_labels(graph: Graph, labels: Any, task: str = "auto") -> Labels:
    """Understand labels: an array in node order or {id: label}; for a typed graph {type: either}.

    With task="auto", sets are label sets; floats are numbers, but classes where all of them are 0 or 1, as integers
    with missing values often come; all else are classes. Missing is what pandas, polars, NumPy's masked arrays or None
    and NaN say is missing.
    """
    one_of("task", task, ("auto", *TASKS))
    type, given = _labeled_type(graph, labels)
    known, values = _known_values(graph, type, given)
    if isinstance(values, np.ndarray) and values.ndim == 2:
        return _from_indicator(type, known, values, task)
    if task == "auto":
        task = _guess_task(values)
        if task == "classes" and not (isinstance(values, np.ndarray) and values.dtype.kind in "iu"):
            values = [int(value) if isinstance(value, float) and value in (0, 1) else value for value in _plain(values)]
    if task == "label-sets":
        return _from_sets(type, known, values)
    if task == "numbers":
        return _from_numbers(type, known, values)
    return _warn_of_many_classes(_from_classes(type, known, values))


def split_validation(graph: Graph, labels: Labels, nodes: Any) -> tuple[Labels, Labels]:
    """The labels to learn from, and those of validation nodes: ids, or a mask over the nodes of the labeled type."""
    given, count = np.asarray(nodes), graph.count(labels.type)
    if given.dtype == bool:
        if given.shape != (count,):
            raise InputError(f"a validation mask must have one entry per node, shape ({count},), got {given.shape}")
        held = given[labels.known]
    else:
        held = np.isin(labels.known, graph.nodes.find(nodes, labels.type)[1])
    if not held.any():
        raise InputError("no validation node has a label; give labels of both training and validation nodes")
    if held.all():
        raise InputError("all labeled nodes are for validation, and none is left to learn from")
    return labels.some(~held), labels.some(held)


def _labeled_type(graph: Graph, labels: Any) -> tuple[str, Any]:
    if len(graph.node_types) == 1:
        return graph.node_types[0], labels
    if not isinstance(labels, Mapping):
        raise InputError(f"labels of a typed graph must say their type: {{{graph.node_types[0]!r}: labels}}")
    unknown = [type for type in labels if type not in graph.node_types]
    if unknown:
        raise InputError(
            f"labels of a typed graph are {{type: labels}}; node type {quoted(unknown[0])} does not exist, "
            f"there are {listed(graph.node_types)}"
        )
    if len(labels) != 1:
        raise InputError(f"labels must be on one node type, got {len(labels)}: {listed(labels)}")
    return next(iter(labels.items()))


def _known_values(graph: Graph, type: str, given: Any) -> tuple[NDArray[np.int64], Any]:
    """Positions of the nodes that labels are given for, and these labels."""
    count = graph.count(type)
    values: Any
    if isinstance(given, Mapping):
        if not given:
            raise InputError("labels are empty; give at least one, or none at all: labels=None")
        ids = graph.nodes.of(type)
        positions = ids.find(column(list(given)))
        if (positions < 0).any():
            node = list(given)[int(np.flatnonzero(positions < 0)[0])]
            raise InputError(
                f"there is a label for node {quoted(node)}, but no such node of type {type!r} in the graph"
            )
        order = np.argsort(positions, kind="stable")
        values = list(given.values())
        return positions[order], [values[i] for i in order]
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"labels must be an array in node order or {{id: label}}, got {quoted(given)}")
    given = with_none(given)
    if isinstance(given, Sequence) and any(isinstance(value, set | frozenset) for value in given):
        values = list(given)
    else:
        values = _as_array(given)
    if len(values) != count:
        shape = values.shape if isinstance(values, np.ndarray) else (len(values),)
        wanted = f"({count},)" if len(shape) == 1 else f"({count}, num_classes)"
        raise InputError(f"labels must have one entry per node, shape {wanted}, got {shape}")
    return np.arange(count), values


def _as_array(given: Any) -> NDArray[Any]:
    try:
        array = np.asarray(given)
    except ValueError:
        raise InputError("labels given as rows must all have the same length") from None
    if array.ndim not in (1, 2):
        raise InputError(f"labels must have one or two dimensions, got shape {array.shape}")
    if isinstance(given, Sequence) and array.dtype.kind in "US" and not all(isinstance(v, str | bytes) for v in given):
        # NumPy would turn a missing label or a number among words into a word.
        array = np.empty(len(given), object)
        array[:] = list(given)
    return array


def _is_missing(value: Any) -> bool:
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def with_none(given: Any) -> Any:
    """Labels of pandas, polars, Arrow and masked arrays, with None where one is missing; anything else as it is."""
    if isinstance(given, np.ma.MaskedArray):
        objects = np.asarray(given.data, object)
        return np.where(np.ma.getmaskarray(given), np.full(objects.shape, None), objects)
    categories = getattr(given, "array", given)
    if hasattr(categories, "codes") and hasattr(categories, "categories"):
        # A Categorical of integers turns into floats where some are missing.
        names = categories.categories.tolist()
        return _array(None if code < 0 else names[code] for code in categories.codes.tolist())
    as_list = getattr(given, "to_pylist", None) or getattr(given, "to_list", None)
    if hasattr(given, "null_count") and as_list is not None:
        return as_list()  # polars and Arrow
    if type(given).__module__.startswith("pandas") and hasattr(given, "isna"):
        # Integers and truth values of pandas turn into floats where some are missing.
        array = np.array(given if isinstance(getattr(given, "dtype", None), np.dtype) else given.astype(object))
        if array.dtype.kind == "O":
            array[np.asarray(given.isna())] = None
        return array
    return given


def _guess_task(values: Any) -> Task:
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        if values.dtype.kind != "f":
            return "classes"
        return "classes" if np.isin(values[~np.isnan(values)], (0, 1)).all() else "numbers"
    present = [value for value in values if not _is_missing(value)]
    if any(isinstance(value, set | frozenset | list | tuple) for value in present):
        return "label-sets"
    if present and all(isinstance(value, Real) and not isinstance(value, bool | np.bool_) for value in present):
        floats = [value for value in present if not isinstance(value, Integral)]
        return "numbers" if floats and not all(value in (0, 1) for value in present) else "classes"
    return "classes"


def _warn_of_many_classes(labels: Labels) -> Labels:
    if labels.num_outputs == len(labels.known) >= MANY_CLASSES:
        warnings.warn(
            f"every one of {len(labels.known):,} labels is a class of its own, which nothing can be learned from; if "
            "they are numbers, say task='numbers' (--task numbers)",
            stacklevel=3,
        )
    return labels


def _require_known(known: NDArray[np.int64]) -> None:
    if not len(known):
        raise InputError("labels hold no known label; give at least one, or none at all: labels=None")


def _from_classes(type: str, known: NDArray[np.int64], values: Any) -> Labels:
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        keep = values != -1
        _require_known(known[keep])
        classes, codes = np.unique(values[keep], return_inverse=True)
        return Labels("classes", type, known[keep], codes.astype(np.int64), classes)
    plain = _plain(values)
    keep = np.array(
        [not (_is_missing(value) or (isinstance(value, Integral) and value == -1)) for value in plain], bool
    )
    present = [value for value, kept in zip(plain, keep, strict=True) if kept]
    _require_known(known[keep])
    numbers = _numbered(present)
    return Labels("classes", type, known[keep], np.array([numbers[v] for v in present], np.int64), _array(numbers))


def _plain(values: Any) -> list[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def _from_sets(type: str, known: NDArray[np.int64], values: Any) -> Labels:
    keep = np.array([not _is_missing(value) for value in values], bool)
    present = [value for value, kept in zip(values, keep, strict=True) if kept]
    _require_known(known[keep])
    for value in present:
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise InputError(f"label sets must be sets of names or rows of 0 and 1, got {quoted(value)}")
    numbers = _numbered(name for value in present for name in value)
    if not numbers:
        raise InputError("label sets must name at least one label; all of them are empty")
    matrix = np.zeros((len(present), len(numbers)), np.uint8)
    for row, value in enumerate(present):
        matrix[row, [numbers[name] for name in value]] = 1
    return Labels("label-sets", type, known[keep], matrix, _array(numbers), named_sets=True)


def _from_indicator(type: str, known: NDArray[np.int64], values: NDArray[Any], task: str) -> Labels:
    if task not in ("auto", "label-sets"):
        raise InputError(f"labels of shape {values.shape} are label sets; task={task!r} takes one label a node")
    if values.dtype.kind == "O":
        values = np.array([[np.nan if _is_missing(value) else value for value in row] for row in values], object)
    try:
        matrix = values.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError("label sets given as an array must hold 0 and 1, and -1 or NaN in unknown rows") from None
    keep = ~((matrix == -1) | np.isnan(matrix)).all(axis=1)
    wrong = np.flatnonzero(~np.isin(matrix[keep], (0, 1)).all(axis=1))
    if len(wrong):
        row = int(known[keep][wrong[0]])
        raise InputError(
            f"labels, row {row}: label sets hold 0 and 1, and -1 or NaN in unknown rows, got {values[row]}"
        )
    _require_known(known[keep])
    return Labels("label-sets", type, known[keep], matrix[keep].astype(np.uint8), np.arange(matrix.shape[1]))


def _from_numbers(type: str, known: NDArray[np.int64], values: Any) -> Labels:
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iuf":
        for value in values:
            is_number = isinstance(value, Real) and not isinstance(value, (bool, *NO_IDS))
            if not _is_missing(value) and not is_number:
                raise InputError(f"task='numbers' takes numbers as labels, got {quoted(str(value))}")
        values = [np.nan if _is_missing(value) else as_float(value) for value in values]
    numbers = np.asarray(values, np.float64)
    wrong = np.flatnonzero(np.abs(numbers) > LARGEST_NUMBER)
    if len(wrong):
        raise InputError(
            f"labels must be finite and at most {LARGEST_NUMBER:g} in size, got {numbers[wrong[0]]:g} at node position "
            f"{known[wrong[0]]}; divide them"
        )
    keep = ~np.isnan(numbers)
    _require_known(known[keep])
    return Labels("numbers", type, known[keep], numbers[keep], None)


def _numbered(values: Iterable[Any]) -> dict[Any, int]:
    """Distinct values in ascending order where they have one, otherwise in order of first appearance."""
    try:
        distinct = list(dict.fromkeys(values))
    except TypeError as problem:
        raise InputError(f"labels must be numbers, strings or other hashable values: {problem}") from None
    for value in distinct:
        _check_label(value)
    with contextlib.suppress(TypeError):
        distinct = sorted(distinct)
    return {value: number for number, value in enumerate(distinct)}


def _check_label(value: Any) -> None:
    """Say now what a saved run could not hold, rather than after the training."""
    if isinstance(value, NO_IDS):
        raise InputError(
            f"labels must be numbers, text or other hashable values, got {type(value).__name__}; turn it into text"
        )
    if isinstance(value, str) and not is_unicode(value):
        raise InputError(f"the label {quoted(value)} is no Unicode text")


def _array(values: Iterable[Any]) -> NDArray[Any]:
    listed_values = list(values)
    kinds = {type(value) for value in listed_values}
    if kinds == {int} or kinds == {str} or kinds == {bool}:
        return np.array(listed_values)
    array = np.empty(len(listed_values), object)
    array[:] = listed_values
    return array
