"""What the page reads, as bytes: "PINE", the length of a JSON text, the text, then arrays, each at a multiple of 4.

The text says of every array its type, where it begins and how long it is. Ids are in the text, as JSON has strings:
ASCII alone, so that nothing in an id can end a line, a string or a script.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine._version import __version__
from pine.explore.answers import Answers
from pine.explore.colorings import TITLES
from pine.explore.explored import Explored
from pine.explore.layout import LAYOUT_NAMES
from pine.graph import NODE

MAGIC = b"PINE"
TOP_CLASSES = 5  # of a prediction, with their probabilities
FULL_SCALE = 65_535  # of probabilities and cosines in 16 bits
ARRAY_TYPES = {"uint8": "u1", "uint16": "u2", "uint32": "u4", "int32": "i4", "float32": "f4"}


def page_data(explored: Explored, more: Mapping[str, NDArray[Any]] | None = None, left_out: str = "") -> bytes:
    """Everything for the page but what is near a node; more: arrays of that, for a file that cannot ask."""
    arrays: dict[str, NDArray[Any]] = {"points": explored.map.points.astype(np.float32).ravel()}
    typed = explored.nodes.types != (NODE,)
    if typed:
        counts = [len(explored.nodes.of(type)) for type in explored.nodes.types]
        arrays["types"] = small_integers(np.repeat(np.arange(len(counts)), counts))
    for coloring in explored.colorings:
        arrays[f"color.{coloring.key}"] = small_integers(coloring.codes)
    if explored.matrix is not None:
        arrays["degrees"] = explored.matrix.degrees().astype(np.uint32)
    if explored.answers is not None:
        arrays |= _answer_arrays(explored.answers)
    arrays |= more or {}
    about = {
        "title": explored.title,
        "method": explored.method,
        "pine": __version__,
        "count": len(explored.nodes),
        "map": LAYOUT_NAMES.get(explored.map.layout, explored.map.layout),
        "types": list(explored.nodes.types) if typed else [],
        "answers": _answers_about(explored.answers),
        "colorings": [
            {
                "key": each.key,
                "title": TITLES[each.key],
                "scale": each.scale,
                "names": each.names,
                "unknown": each.unknown,
                "note": each.note,
            }
            for each in explored.colorings
        ],
        "tables": [vars(each) for each in explored.rankings],
        "notes": [*explored.notes(), *filter(None, [left_out])],
        "ids": [str(id) for ids in explored.nodes.by_type.values() for id in ids.to_list()],
    }
    return pack(about, arrays)


def pack(about: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """One block of bytes that data.js takes apart."""
    places: dict[str, list[Any]] = {}
    body = bytearray()
    for name, array in arrays.items():
        places[name] = [ARRAY_TYPES[array.dtype.name], len(body), len(array)]
        body += array.astype(array.dtype.newbyteorder("<")).tobytes()
        body += b"\0" * (-len(body) % 4)
    text = json.dumps(about | {"arrays": places}, separators=(",", ":"), allow_nan=False).encode("ascii")
    text += b" " * (-len(text) % 4)
    return MAGIC + struct.pack("<I", len(text)) + text + bytes(body)


def small_integers(values: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers from 0 on in as few bytes as they need."""
    top = int(values.max(initial=0))
    return values.astype(np.uint8 if top < 1 << 8 else np.uint16 if top < 1 << 16 else np.uint32)


def shares(values: NDArray[Any]) -> NDArray[np.uint16]:
    """Numbers from 0 to 1 in 16 bits."""
    return np.asarray(np.round(np.clip(np.nan_to_num(values), 0, 1) * FULL_SCALE), np.uint16)


def _answers_about(answers: Answers | None) -> dict[str, Any] | None:
    if answers is None:
        return None
    top = 0 if answers.scores is None or answers.task == "numbers" else min(TOP_CLASSES, answers.scores.shape[1])
    return {
        "task": answers.task,
        "first": answers.nodes.start,
        "count": answers.count,
        "classes": answers.classes,
        "predicts": answers.scores is not None,
        "top": top,
    }


def _answer_arrays(answers: Answers) -> dict[str, NDArray[Any]]:
    made: dict[str, NDArray[Any]] = {
        "known": answers.known.astype(np.uint8),
        "trained": answers.trained.astype(np.uint8),
    }
    if answers.task == "numbers":
        made["label.numbers"] = answers.truth.astype(np.float32)
    elif answers.task == "classes":
        made["label.classes"] = small_integers(answers.truth)
    else:
        made |= _sets("label", answers.truth)
    if answers.scores is None:
        return made
    if answers.task == "numbers":
        return made | {"prediction.numbers": answers.predicted.astype(np.float32)}
    if answers.task == "label-sets":
        made |= _sets("prediction", answers.predicted)
    top = min(TOP_CLASSES, answers.scores.shape[1])
    best = np.argsort(-answers.scores, axis=1, kind="stable")[:, :top]
    made["top.classes"] = small_integers(best.ravel())
    made["top.shares"] = shares(np.take_along_axis(answers.scores, best, axis=1).ravel())
    return made


def _sets(name: str, matrix: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Rows of truth values as the numbers that are true, one row after the other, and where each begins."""
    rows, columns = np.nonzero(matrix)
    starts = np.searchsorted(rows, np.arange(len(matrix) + 1)).astype(np.uint32)
    return {f"{name}.starts": starts, f"{name}.members": small_integers(columns)}
