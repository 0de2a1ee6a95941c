"""A run on disk: one file of numbers (safetensors) and one of JSON, written whole or not at all.

run.json holds a sum (SHA-256) of every array and one of itself; both are checked when a run is read. The entries
`record` (what a run was made from, for people) and `files` belong to no sum.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file

from pine._internal.tensor_file import write_arrays
from pine._version import __version__
from pine.errors import InputError, quoted
from pine.graph.ids.hash_table import string_buffers
from pine.graph.ids.node_ids import NodeIds
from pine.graph.nodes import Nodes
from pine.io.run_folder import ABOUT, ARRAYS, found_run, replaced_folder
from pine.labels import TASKS, Labels

FORMAT = 2
READABLE_FORMATS = (1, 2)  # the first had no sums
NOT_SUMMED = ("sum", "record", "files")
UNREADABLE_RUN = (
    KeyError, TypeError, ValueError, IndexError, OSError, SafetensorError, AttributeError, RecursionError,
    OverflowError, pa.ArrowException, RuntimeError, AssertionError,
)  # fmt: skip
LONGEST_REASON = 120  # letters of what is wrong with a damaged file


@dataclass(frozen=True, eq=False)
class Run:
    """What a folder holds; params: the settings, about: what else a method keeps, as JSON has it."""

    method: str
    params: dict[str, Any]
    nodes: Nodes
    arrays: dict[str, NDArray[Any]]
    labels: Labels | None
    about: dict[str, Any]


def write_run(folder: Path, run: Run) -> None:
    """Write a run; where one stands, it is replaced."""
    about: dict[str, Any] = {
        "format": FORMAT,
        "pine": __version__,
        "method": run.method,
        "params": {key: _plain(value) for key, value in run.params.items()},
        "types": [],
        "about": run.about,
    }
    tensors = dict(run.arrays)
    for number, (type, known) in enumerate(run.nodes.by_type.items()):
        entry: dict[str, Any] = {"name": type, "kind": known.kind}
        if known.kind == "int":
            tensors[f"ids.{number}"] = known.values
        elif known.kind == "str":
            data, offsets = string_buffers(known.values.cast(pa.large_string()))
            tensors[f"ids.{number}"], tensors[f"ids.{number}.offsets"] = data[: offsets[-1]], offsets
        else:
            entry["ids"] = [_tagged(value) for value in known.values]
        about["types"].append(entry)
    labels = run.labels
    if labels is not None:
        about["labels"] = {
            "task": labels.task,
            "type": labels.type,
            "classes": None if labels.classes is None else [_tagged(value) for value in labels.classes.tolist()],
            "named_sets": labels.named_sets,
        }
        tensors["labels.known"], tensors["labels.values"] = labels.known, labels.values
    tensors = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    about["sums"] = {name: array_sum(tensor) for name, tensor in tensors.items()}
    about = _finite(about)
    about["sum"] = _json_sum(json.loads(_text(about)))
    with replaced_folder(folder) as fresh:
        write_arrays(tensors, fresh / ARRAYS)
        (fresh / ABOUT).write_text(_text(about), encoding="utf-8")


def _finite(about: Any) -> Any:
    """JSON has no infinity and no NaN: {"number": "inf"} stands for one."""
    if isinstance(about, dict):
        return {key: _finite(value) for key, value in about.items()}
    if isinstance(about, list | tuple):
        return [_finite(value) for value in about]
    return {"number": str(about)} if isinstance(about, float) and not math.isfinite(about) else about


def _number(entry: dict[str, Any]) -> Any:
    return float(entry["number"]) if entry.keys() == {"number"} else entry


def _text(about: dict[str, Any]) -> str:
    return json.dumps(about, indent=1, ensure_ascii=False, allow_nan=False)


def add_record(folder: Path, record: dict[str, Any]) -> None:
    """Write into run.json what the run was made from; all files of the folder become the run's own."""
    about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    files = sorted({ABOUT, ARRAYS, *(path.name for path in folder.iterdir())})
    head = {key: about.pop(key) for key in ("format", "pine", "method")}
    made = head | {"record": _finite(record)} | about | {"files": files}
    (folder / ABOUT).write_text(_text(made), encoding="utf-8")


def read_record(folder: Path) -> dict[str, Any]:
    """What add_record wrote; nothing for a run that was saved from Python."""
    try:
        about = json.loads((found_run(folder) / ABOUT).read_text(encoding="utf-8"))
        record = about.get("record", {})
    except (OSError, ValueError, RecursionError, AttributeError):
        return {}
    return record if isinstance(record, dict) else {}


def array_sum(array: NDArray[Any]) -> str:
    """SHA-256 of an array: its type, its shape, its numbers."""
    digest = hashlib.sha256(f"{array.dtype.str} {array.shape} ".encode())
    digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.size else b"")
    return digest.hexdigest()


def _json_sum(about: dict[str, Any]) -> str:
    summed = {key: value for key, value in about.items() if key not in NOT_SUMMED}
    return hashlib.sha256(json.dumps(summed, sort_keys=True, allow_nan=False).encode()).hexdigest()


def read_run(folder: Path) -> Run:
    """Read a folder that write_run wrote; anything else gets one sentence."""
    place = found_run(folder)
    if not (place / ABOUT).is_file():
        raise InputError(f"{folder} is not a saved run: it has no {ABOUT}")
    try:
        text = (place / ABOUT).read_text(encoding="utf-8")
        about = json.loads(text, object_hook=_number)
        if about["format"] not in READABLE_FORMATS:
            raise InputError(
                f"{folder} has format {str(about['format'])[:20]}, this version reads {FORMAT} and older; upgrade "
                "pine-embedding"
            )
        tensors = load_file(place / ARRAYS)
        if about["format"] != 1 or "sum" in about:
            _check_sums(folder, json.loads(text), tensors)
        nodes = Nodes({entry["name"]: _ids(entry, number, tensors) for number, entry in enumerate(about["types"])})
        labels = _labels(about["labels"], tensors) if "labels" in about else None
        run = Run(about["method"], about["params"], nodes, tensors, labels, about["about"])
        _check_run(run)
        return run
    except InputError:
        raise
    except UNREADABLE_RUN as problem:
        reason = str(problem)[:LONGEST_REASON]
        raise InputError(f"{folder} is damaged and cannot be read: {reason}") from None


def _check_run(run: Run) -> None:
    """Raise where parts do not fit together: sums can be right in a file that someone made by hand."""
    if not (isinstance(run.method, str) and isinstance(run.params, dict) and isinstance(run.about, dict)):
        raise ValueError("its method, settings or state have no names")
    if not all(isinstance(type, str) for type in run.nodes.types) or not run.nodes.types:
        raise ValueError("its node types have no names")
    vectors, labels, scores = run.arrays["vectors"], run.labels, run.arrays.get("scores")
    if vectors.dtype != np.float32 or vectors.ndim != 2 or len(vectors) != len(run.nodes):
        raise ValueError(f"{len(run.nodes)} nodes but vectors of {vectors.dtype} and shape {vectors.shape}")
    if any(ids.first_repeat() is not None for ids in run.nodes.by_type.values()):
        raise ValueError("two nodes have the same id")
    if labels is None:
        return
    count = len(run.nodes.of(labels.type))
    known, values = labels.known, labels.values
    if known.dtype != np.int64 or known.ndim != 1 or len(values) != len(known) or values.ndim not in (1, 2):
        raise ValueError("its labels are not one a node")
    if len(known) and not (known[0] >= 0 and known[-1] < count and (np.diff(known) > 0).all()):
        raise ValueError("its labels are not on nodes")
    if labels.classes is not None and len(set(labels.classes.tolist())) < len(labels.classes):
        raise ValueError("two of its classes are the same")
    if labels.task not in TASKS or (labels.classes is None) != (labels.task == "numbers"):
        raise ValueError("its labels are of no known kind")
    if (values.ndim == 2) != (labels.task == "label-sets") or values.dtype.kind not in "iuf":
        raise ValueError("its labels are not of their kind")
    if labels.classes is not None and len(known):
        width = values.shape[1] if values.ndim == 2 else int(values.max()) + 1
        if values.min() < 0 or width > len(labels.classes) or (values.ndim == 2 and width != len(labels.classes)):
            raise ValueError("its labels are of classes that do not exist")
    if scores is None:
        raise ValueError("it has labels and no scores")
    if scores.shape != (count, labels.num_outputs) or scores.dtype.kind != "f":
        raise ValueError(f"its scores have the shape {scores.shape}, not {(count, labels.num_outputs)}")


def _check_sums(folder: Path, about: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> None:
    """Every array, and all of run.json that is used, must be what was written."""
    if about["sum"] != _json_sum(about):
        raise InputError(f"{folder} is damaged: {ABOUT} is not what was saved; train again, or take a copy of it")
    sums = about["sums"]
    wrong = next((name for name in {**sums, **tensors} if name not in tensors or name not in sums), None)
    wrong = wrong or next((name for name, array in tensors.items() if array_sum(array) != sums[name]), None)
    if wrong is not None:
        raise InputError(
            f"{folder} is damaged: the array {wrong[:40]!r} is not what was saved; train again, or take a copy of it"
        )


def _ids(entry: dict[str, Any], number: int, tensors: dict[str, NDArray[Any]]) -> NodeIds:
    if entry["kind"] == "int":
        return NodeIds("int", tensors.pop(f"ids.{number}"))
    if entry["kind"] == "str":
        data, offsets = tensors.pop(f"ids.{number}"), tensors.pop(f"ids.{number}.offsets")
        array = pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))
        array.validate(full=True)
        return NodeIds("str", array)
    return NodeIds("object", [_untagged(value) for value in entry["ids"]])


def _labels(entry: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> Labels:
    known, values = tensors.pop("labels.known"), tensors.pop("labels.values")
    classes = None if entry["classes"] is None else _class_array([_untagged(value) for value in entry["classes"]])
    return Labels(entry["task"], entry["type"], known, values, classes, entry["named_sets"])


def _plain(value: Any) -> Any:
    """A setting for JSON; a random generator cannot be written down."""
    if isinstance(value, np.random.Generator):
        return None
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else value


def _tagged(value: Any) -> Any:
    """An id or a label for JSON: tuples become {"tuple": [...]}."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple):
        return {"tuple": [_tagged(part) for part in value]}
    raise InputError(
        f"ids and labels can be saved if they are numbers, strings or tuples of these, got {quoted(value)}"
    )


def _untagged(value: Any) -> Any:
    return tuple(_untagged(part) for part in value["tuple"]) if isinstance(value, dict) else value


def _class_array(values: list[Any]) -> NDArray[Any]:
    if len({type(value) for value in values}) == 1 and not isinstance(values[0], tuple):
        return np.array(values)
    array = np.empty(len(values), object)
    array[:] = values
    return array
