"""A run on disk: one file of numbers (safetensors) and one of JSON, written whole or not at all."""

from __future__ import annotations

import json
import math
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from pine._version import __version__
from pine.errors import InputError
from pine.graph.ids.hash_table import string_buffers
from pine.graph.ids.node_ids import NodeIds
from pine.graph.nodes import Nodes
from pine.labels import Labels

ARRAYS, ABOUT = "run.safetensors", "run.json"
FORMAT = 1


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
    """Write beside the folder, then put it in place with one rename."""
    about: dict[str, Any] = {
        "format": FORMAT,
        "pine": __version__,
        "method": run.method,
        "params": {key: _plain(value) for key, value in run.params.items()},
        "types": [],
        "about": run.about,
    }
    tensors = {name: np.ascontiguousarray(array) for name, array in run.arrays.items()}
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
    _replace(folder, tensors, json.dumps(_finite(about), indent=1, ensure_ascii=False, allow_nan=False))


def _finite(about: Any) -> Any:
    """JSON has no infinity and no NaN: {"number": "inf"} stands for one."""
    if isinstance(about, dict):
        return {key: _finite(value) for key, value in about.items()}
    if isinstance(about, list | tuple):
        return [_finite(value) for value in about]
    return {"number": str(about)} if isinstance(about, float) and not math.isfinite(about) else about


def _number(entry: dict[str, Any]) -> Any:
    return float(entry["number"]) if entry.keys() == {"number"} else entry


def _replace(folder: Path, tensors: dict[str, NDArray[Any]], about: str) -> None:
    if folder.exists() and not (folder / ABOUT).exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} exists and is not a saved run; choose another place, it would be overwritten")
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        _save_tensors(tensors, fresh / ARRAYS)
        (fresh / ABOUT).write_text(about, encoding="utf-8")
        for file in (fresh / ARRAYS, fresh / ABOUT):
            with open(file, "rb") as written:
                os.fsync(written.fileno())
        fresh.chmod(0o755)
        if folder.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
            folder.rename(old / "old")
            fresh.rename(folder)
            shutil.rmtree(old)
        else:
            fresh.rename(folder)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def _save_tensors(tensors: dict[str, NDArray[Any]], path: Path) -> None:
    try:
        save_file({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}, path)
    except SafetensorError as problem:  # a full disk, say
        raise OSError(f"cannot write {path}: {problem}") from None


def read_run(folder: Path) -> Run:
    """Read a folder that write_run wrote; anything else gets one sentence."""
    if not (folder / ABOUT).is_file():
        raise InputError(f"{folder} is not a saved run: it has no {ABOUT}")
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"), object_hook=_number)
        if about["format"] != FORMAT:
            raise InputError(
                f"{folder} has format {about['format']}, this version reads {FORMAT}; upgrade pine-embedding"
            )
        tensors = load_file(folder / ARRAYS)
        nodes = Nodes({entry["name"]: _ids(entry, number, tensors) for number, entry in enumerate(about["types"])})
        labels = _labels(about["labels"], tensors) if "labels" in about else None
        if tensors["vectors"].shape[0] != len(nodes):
            raise InputError(f"{folder} is damaged: {len(nodes)} nodes but vectors of shape {tensors['vectors'].shape}")
        return Run(about["method"], about["params"], nodes, tensors, labels, about["about"])
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, OSError, SafetensorError, AttributeError) as problem:
        raise InputError(f"{folder} is damaged and cannot be read: {problem}") from None


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
    raise InputError(f"ids and labels can be saved if they are numbers, strings or tuples of these, got {value!r}")


def _untagged(value: Any) -> Any:
    return tuple(_untagged(part) for part in value["tuple"]) if isinstance(value, dict) else value


def _class_array(values: list[Any]) -> NDArray[Any]:
    if len({type(value) for value in values}) == 1 and not isinstance(values[0], tuple):
        return np.array(values)
    array = np.empty(len(values), object)
    array[:] = values
    return array
