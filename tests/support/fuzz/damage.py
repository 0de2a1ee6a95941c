"""Bytes and JSON that are no longer what they were."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

WORDS = (
    b"\0", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b'"', b'""', b"'", b",", b",,", b";", b"\t", b" ", b"  ", b"\r",
    b"\r\n", b"\n", b"\n\n", b"#", b"# ", b"% ", b"%%", b"//", b"1e400", b"-1e400", b"1e-400", b"NaN", b"<NA>", b"NA",
    b"null", b"inf", b"-0", b"+7", b"007", b"0x10", b"1_000", b"1,5", b"9" * 25, b"9" * 400, b"-9223372036854775809",
    b"true", b"\xf0\x9f\x98\x80", b"\xc3", b"\xed\xb3\xbf", b"\xe2\x80\xa8", b"\x1b[31m", b"\x85",
    b"x" * 3000, b"[" * 200,
    b"{", b"}", b"source", b"id", b"label", b"weight", b"PAR1", b"\x1f\x8b", b"PK\x03\x04", b"\x93NUMPY",
)  # fmt: skip
INTEGERS = (0, 1, -1, 2, 127, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**63 - 1, 2**64 - 1)


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """One to three changes."""
    for _ in range(int(rng.integers(1, 4))):
        data = CHANGES[int(rng.integers(len(CHANGES)))](data, rng)
    return data


def _place(data: bytes, rng: np.random.Generator) -> int:
    return int(rng.integers(len(data) + 1))


def _flip(data: bytes, rng: np.random.Generator) -> bytes:
    if not data:
        return data
    changed = bytearray(data)
    changed[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _insert(data: bytes, rng: np.random.Generator) -> bytes:
    at = _place(data, rng)
    return data[:at] + WORDS[int(rng.integers(len(WORDS)))] + data[at:]


def _overwrite(data: bytes, rng: np.random.Generator) -> bytes:
    at, word = _place(data, rng), WORDS[int(rng.integers(len(WORDS)))]
    return data[:at] + word + data[at + len(word) :]


def _integer(data: bytes, rng: np.random.Generator) -> bytes:
    """A number where a size may stand."""
    form = ("<B", "<H", "<I", "<Q", ">I", ">Q")[int(rng.integers(6))]
    size = struct.calcsize(form)
    number = INTEGERS[int(rng.integers(len(INTEGERS)))] & ((1 << 8 * size) - 1)
    at = _place(data, rng)
    return data[:at] + struct.pack(form, number) + data[at + size :]


def _noise(data: bytes, rng: np.random.Generator) -> bytes:
    at, size = _place(data, rng), int(rng.integers(1, 40))
    return data[:at] + rng.bytes(size) + data[at + int(rng.integers(2)) * size :]


def _cut(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: _place(data, rng)]


def _leave_out(data: bytes, rng: np.random.Generator) -> bytes:
    at = _place(data, rng)
    return data[:at] + data[at + int(rng.integers(1, 60)) :]


def _repeat(data: bytes, rng: np.random.Generator) -> bytes:
    first, last = sorted((_place(data, rng), _place(data, rng)))
    return data[:last] + data[first : min(last, first + 5000)] + data[last:]


def _swap_lines(data: bytes, rng: np.random.Generator) -> bytes:
    lines = data.split(b"\n")
    first, second = (int(rng.integers(len(lines))) for _ in range(2))
    lines[first], lines[second] = lines[second], lines[first]
    return b"\n".join(lines)


CHANGES = (_flip, _flip, _insert, _insert, _overwrite, _integer, _noise, _cut, _leave_out, _repeat, _swap_lines)


def odd_json(rng: np.random.Generator) -> Any:
    """A value that no one expects there."""
    values: tuple[Any, ...] = (
        None, True, False, 0, -1, 1, 7, 0.5, -0.5, 1e308, 2**31, 2**63, 10**400, "", "x", "node", "\udcff", "\x1b[31m",
        "x" * 3000, [], [1], ["x"], [[]], [None], {}, {"tuple": [1]}, {"number": "inf"}, {"number": "x"}, {"x": {}},
    )  # fmt: skip
    return values[int(rng.integers(len(values)))]


def damaged_json(value: Any, rng: np.random.Generator) -> Any:
    """A copy in which one entry, however deep, is another, is gone, or is there twice."""
    copy = json.loads(json.dumps(value))
    place: Any = copy
    path: list[tuple[Any, Any]] = []
    while isinstance(place, dict | list) and place and (not path or rng.random() < 0.8):
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        path.append((place, keys[int(rng.integers(len(keys)))]))
        place = place[path[-1][1]]
    if not path:
        return odd_json(rng)
    holder, key = path[-1]
    kind = rng.random()
    if kind < 0.2:
        del holder[key]
    elif kind < 0.3 and isinstance(holder, list):
        holder.append(holder[key])
    else:
        holder[key] = odd_json(rng)
    return copy
