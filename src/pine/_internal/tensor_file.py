"""Arrays to a file in the format of safetensors, one after the other: the library's own writer copies all of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

NAMES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8",
    "uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8", "bool": "BOOL",
}  # fmt: skip
BYTES_AT_A_TIME = 1 << 24


def write_arrays(arrays: Mapping[str, NDArray[Any]], path: Path) -> None:
    """A new file. Its layout: the length of the header, the header as JSON, the arrays by falling size of a number."""
    order = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    header: dict[str, Any] = {}
    end = 0
    for name in order:
        array = arrays[name]
        header[name] = {
            "dtype": NAMES[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [end, end := end + array.nbytes],
        }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("xb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for name in order:
            flat = np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8)
            for first in range(0, len(flat), BYTES_AT_A_TIME):
                file.write(flat[first : first + BYTES_AT_A_TIME].data)
