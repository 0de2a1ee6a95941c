"""Integers out of text, where they are written as Python writes them: 7 and -7, but 007, +7, -0 and 0x7 are text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pine._internal.parallel import compiled
from pine.graph.ids.hash_table import string_buffers


def as_integers(text: pa.Array) -> NDArray[np.int64] | None:
    """The integers of an Arrow string array, or None where one is none."""
    integers: NDArray[np.int64] = np.empty(len(text), np.int64)
    return integers if _parse(*string_buffers(text), integers) else None


def has_blank_ends(text: pa.Array) -> bool:
    """Whether a string begins or ends with a blank or a tab."""
    return bool(_has_blank_ends(*string_buffers(text)))


@compiled
def _parse(data: NDArray[Any], offsets: NDArray[Any], integers: NDArray[Any]) -> bool:
    for i in range(len(offsets) - 1):
        start, stop = offsets[i], offsets[i + 1]
        negative = start < stop and data[start] == 45
        first = start + 1 if negative else start
        digits = stop - first
        # Nineteen digits fit into 64 bits without a sign.
        if digits < 1 or digits > 19 or (data[first] == 48 and (digits > 1 or negative)):
            return False
        value = np.uint64(0)
        for j in range(first, stop):
            digit = data[j] - np.uint8(48)
            if digit > 9:
                return False
            value = value * np.uint64(10) + np.uint64(digit)
        if value > np.uint64(9223372036854775807):
            return False
        integers[i] = -np.int64(value) if negative else np.int64(value)
    return True


@compiled
def _has_blank_ends(data: NDArray[Any], offsets: NDArray[Any]) -> bool:
    for i in range(len(offsets) - 1):
        if offsets[i] < offsets[i + 1]:
            first, last = data[offsets[i]], data[offsets[i + 1] - 1]
            if first == 32 or first == 9 or last == 32 or last == 9:
                return True
    return False
