"""Number distinct strings and integers in order of first appearance: an open-addressing hash table in flat arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pine._internal.parallel import compiled

Hash = Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], None]  # bytes, offsets, and where the hashes go

# Ids that are added at a time. The table grows between blocks only, so that the kernels work on plain arrays.
IDS_PER_BLOCK = 1 << 16


@compiled
def fnv1a(data: NDArray[Any], offsets: NDArray[Any], hashes: NDArray[Any]) -> None:
    """The FNV-1a hash of every string, its bits mixed once more."""
    for i in range(len(offsets) - 1):
        key = np.uint64(14695981039346656037)
        for j in range(offsets[i], offsets[i + 1]):
            key = (key ^ np.uint64(data[j])) * np.uint64(1099511628211)
        hashes[i] = key ^ (key >> np.uint64(29))


class StringInterner:
    """Distinct UTF-8 strings, kept as one run of bytes with offsets.

    Random memory access is the cost, so each block goes through short passes that let the processor overlap its
    misses: hash; look up by hash alone (a slot holds half of the hash and a code); compare bytes.
    """

    def __init__(self, hash: Hash = fnv1a) -> None:
        self.count = 0
        self._hash = hash
        self._slots = np.zeros(4 * IDS_PER_BLOCK, np.uint64)  # 0: empty, otherwise the hash's upper half and code + 1
        self._hashes = np.empty(IDS_PER_BLOCK, np.uint64)
        self._offsets = np.zeros(IDS_PER_BLOCK + 1, np.int64)
        self._data = np.empty(16 * IDS_PER_BLOCK, np.uint8)

    def add(self, strings: pa.Array) -> NDArray[np.int64]:
        """Number every string of an Arrow array without nulls: (len(strings),)."""
        codes = np.empty(len(strings), np.int64)
        size = min(IDS_PER_BLOCK, len(strings)) + 1
        hashes, starts, different = np.empty(size, np.uint64), np.empty(size, np.int64), np.empty(size, np.int64)
        for start in range(0, len(strings), IDS_PER_BLOCK):
            data, offsets = string_buffers(strings.slice(start, IDS_PER_BLOCK))
            self._reserve(len(offsets) - 1, int(offsets[-1] - offsets[0]))
            self._hash(data, offsets, hashes)
            table = (self._slots, self._hashes, self._offsets, self._data)
            self.count = _look_up(data, offsets, hashes, codes[start:], *table, self.count)
            for i in different[: _differ(data, offsets, codes[start:], *table[2:], starts, different)]:
                self.count = _search_on(i, data, offsets, hashes, codes[start:], *table, self.count)
        return codes

    def strings(self) -> pa.Array:
        """The distinct strings, in order of first appearance."""
        size = int(self._offsets[self.count])
        offsets = self._offsets[: self.count + 1].copy()
        data = pa.py_buffer(self._data[:size].copy())
        large = pa.LargeStringArray.from_buffers(int(self.count), pa.py_buffer(offsets), data)
        return large.cast(pa.string()) if size <= np.iinfo(np.int32).max else large

    def _reserve(self, strings: int, size: int) -> None:
        self._hashes = _room(self._hashes, self.count, self.count + strings)
        self._offsets = _room(self._offsets, self.count + 1, self.count + strings + 1)
        used = int(self._offsets[self.count])
        self._data = _room(self._data, used, used + size)
        if 2 * (self.count + strings) > len(self._slots):
            self._slots = np.zeros(4 * len(self._slots), np.uint64)
            _rehash(self._slots, self._hashes, self.count)


class IntInterner:
    """Distinct 64-bit integers."""

    def __init__(self) -> None:
        self.count = 0
        self._slots = np.full(4 * IDS_PER_BLOCK, -1, np.int64)
        self._values = np.empty(IDS_PER_BLOCK, np.int64)

    def add(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number every value: (len(values),)."""
        codes = np.empty(len(values), np.int64)
        for start in range(0, len(values), IDS_PER_BLOCK):
            block = values[start : start + IDS_PER_BLOCK]
            self._values = _room(self._values, self.count, self.count + len(block))
            if 2 * (self.count + len(block)) > len(self._slots):
                self._slots = np.full(4 * len(self._slots), -1, np.int64)
                _rehash_ints(self._slots, self._values, self.count)
            self.count = _intern_ints(block, codes[start:], self._slots, self._values, self.count)
        return codes

    def values(self) -> NDArray[np.int64]:
        """The distinct values, in order of first appearance."""
        return self._values[: self.count].copy()


def string_buffers(strings: pa.Array) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """The bytes and the offsets of an Arrow string array, without a copy."""
    wide = pa.types.is_large_string(strings.type)
    _, offsets, data = strings.buffers()
    starts = np.frombuffer(offsets, np.int64 if wide else np.int32)[strings.offset : strings.offset + len(strings) + 1]
    return (np.frombuffer(data, np.uint8) if data is not None and data.size else np.empty(0, np.uint8)), starts


def _room(array: NDArray[Any], used: int, needed: int) -> NDArray[Any]:
    """The same array with room for `needed` entries, doubling as it grows."""
    if needed <= len(array):
        return array
    grown = np.empty(max(needed, 2 * len(array)), array.dtype)
    grown[:used] = array[:used]
    return grown


@compiled
def _append(
    data: NDArray[Any],
    first: int,
    last: int,
    key: int,
    slot: int,
    slots: NDArray[Any],
    known_hashes: NDArray[Any],
    known_offsets: NDArray[Any],
    known: NDArray[Any],
    count: int,
) -> int:
    slots[slot] = (key & np.uint64(0xFFFFFFFF00000000)) | np.uint64(count + 1)
    known_hashes[count] = key
    start = known_offsets[count]
    for j in range(last - first):
        known[start + j] = data[first + j]
    known_offsets[count + 1] = start + (last - first)
    return count + 1


@compiled
def _look_up(
    data: NDArray[Any],
    offsets: NDArray[Any],
    hashes: NDArray[Any],
    codes: NDArray[Any],
    slots: NDArray[Any],
    known_hashes: NDArray[Any],
    known_offsets: NDArray[Any],
    known: NDArray[Any],
    count: int,
) -> int:
    """The code that a string's hash suggests; strings with a new hash get a new code."""
    mask = np.uint64(len(slots) - 1)
    low, high = np.uint64(0xFFFFFFFF), np.uint64(0xFFFFFFFF00000000)
    for i in range(len(offsets) - 1):
        key = hashes[i]
        slot = key & mask
        while slots[slot] != np.uint64(0) and (slots[slot] ^ key) & high != np.uint64(0):
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] == np.uint64(0):
            codes[i] = count
            count = _append(
                data, offsets[i], offsets[i + 1], key, slot, slots, known_hashes, known_offsets, known, count
            )
        else:
            codes[i] = np.int64(slots[slot] & low) - 1
    return count


@compiled
def _differ(
    data: NDArray[Any],
    offsets: NDArray[Any],
    codes: NDArray[Any],
    known_offsets: NDArray[Any],
    known: NDArray[Any],
    starts: NDArray[Any],
    different: NDArray[Any],
) -> int:
    """The strings whose bytes are not those behind their suggested code; how many there are."""
    for i in range(len(offsets) - 1):
        starts[i] = known_offsets[codes[i]]
        if known_offsets[codes[i] + 1] - starts[i] != offsets[i + 1] - offsets[i]:
            starts[i] = -1
    count = 0
    for i in range(len(offsets) - 1):
        first, start = offsets[i], starts[i]
        difference = np.uint8(start < 0)
        if start >= 0:
            # No early exit: nearly all strings are the same, and without branches the loads of many overlap.
            for j in range(offsets[i + 1] - first):
                difference |= known[start + j] ^ data[first + j]
        different[count] = i
        count += difference != 0
    return count


@compiled
def _search_on(
    i: int,
    data: NDArray[Any],
    offsets: NDArray[Any],
    hashes: NDArray[Any],
    codes: NDArray[Any],
    slots: NDArray[Any],
    known_hashes: NDArray[Any],
    known_offsets: NDArray[Any],
    known: NDArray[Any],
    count: int,
) -> int:
    """Another string was found under the same hash: search the slots on, comparing bytes."""
    first, last = offsets[i], offsets[i + 1]
    mask, low = np.uint64(len(slots) - 1), np.uint64(0xFFFFFFFF)
    slot = hashes[i] & mask
    while slots[slot] != np.uint64(0):
        code = np.int64(slots[slot] & low) - 1
        start = known_offsets[code]
        same = known_offsets[code + 1] - start == last - first
        for j in range(last - first):
            same = same and known[start + j] == data[first + j]
        if same:
            codes[i] = code
            return count
        slot = (slot + np.uint64(1)) & mask
    codes[i] = count
    return _append(data, first, last, hashes[i], slot, slots, known_hashes, known_offsets, known, count)


@compiled
def _rehash(slots: NDArray[Any], hashes: NDArray[Any], count: int) -> None:
    mask = np.uint64(len(slots) - 1)
    for code in range(count):
        slot = hashes[code] & mask
        while slots[slot] != np.uint64(0):
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = (hashes[code] & np.uint64(0xFFFFFFFF00000000)) | np.uint64(code + 1)


@compiled
def _mix(value: int) -> np.uint64:
    key = np.uint64(value) * np.uint64(0x9E3779B97F4A7C15)
    return key ^ (key >> np.uint64(29))


@compiled
def _intern_ints(
    block: NDArray[Any], codes: NDArray[Any], slots: NDArray[Any], values: NDArray[Any], count: int
) -> int:
    mask = np.uint64(len(slots) - 1)
    for i in range(len(block)):
        value = block[i]
        slot = _mix(value) & mask
        while True:
            code = slots[slot]
            if code < 0:
                slots[slot] = code = count
                values[count] = value
                count += 1
                break
            if values[code] == value:
                break
            slot = (slot + np.uint64(1)) & mask
        codes[i] = code
    return count


@compiled
def _rehash_ints(slots: NDArray[Any], values: NDArray[Any], count: int) -> None:
    mask = np.uint64(len(slots) - 1)
    for code in range(count):
        slot = _mix(values[code]) & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = code
