"""Distinct strings get distinct numbers, whatever their hashes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from pine.graph.ids import hash_table
from pine.graph.ids.hash_table import IDS_PER_BLOCK, IntInterner, StringInterner, fnv1a


@pytest.mark.parametrize("number_of_hashes", [1, 3])
def test_strings_with_the_same_hash_get_numbers_of_their_own(number_of_hashes):
    def short_hash(data, offsets, hashes):
        hashes[: len(offsets) - 1] = np.diff(offsets) % number_of_hashes

    strings = [f"v{(3 * i) % 50}" * (1 + i % 4) for i in range(200)]
    interner = StringInterner(hash=short_hash)
    codes = [*interner.add(pa.array(strings[:90])).tolist(), *interner.add(pa.array(strings[90:])).tolist()]
    distinct = list(dict.fromkeys(strings))
    assert codes == [distinct.index(string) for string in strings]
    assert interner.strings().to_pylist() == distinct


def test_the_hash_is_fnv_1a_with_its_upper_bits_mixed_in():
    """Its published values: of no byte, of a and of foobar."""
    hashes = np.empty(3, np.uint64)
    fnv1a(np.frombuffer(b"afoobar", np.uint8), np.array([0, 0, 1, 7]), hashes)
    published = [0xCBF29CE484222325, 0xAF63DC4C8601EC8C, 0x85944171F73967E8]
    assert hashes.tolist() == [value ^ (value >> 29) for value in published]


def test_a_table_grows_with_its_strings():
    distinct = [str(i) for i in range(2 * IDS_PER_BLOCK + 1)]
    interner = StringInterner()
    for some in (distinct[:IDS_PER_BLOCK], distinct[: IDS_PER_BLOCK + 1], distinct):
        assert interner.add(pa.array(some)).tolist() == list(range(len(some)))
    assert interner.strings().to_pylist() == distinct
    long = [letter * 200_000 for letter in "abcdefghij"]  # more bytes than there is room for at first
    interner = StringInterner()
    assert interner.add(pa.array(long)).tolist() == list(range(10))
    assert interner.strings().to_pylist() == long


def test_a_table_grows_with_its_integers():
    distinct = 7 * np.arange(2 * IDS_PER_BLOCK + 1)[::-1]
    interner = IntInterner()
    for count in (IDS_PER_BLOCK, IDS_PER_BLOCK + 1, len(distinct)):
        assert interner.add(distinct[:count]).tolist() == list(range(count))
    np.testing.assert_array_equal(interner.values(), distinct)


@pytest.mark.parametrize("seed", range(10))
def test_all_that_goes_into_a_new_table_is_found_there(seed):
    keys, slots = np.random.default_rng(seed).integers(2**62, size=60), np.full(128, -1)
    hash_table._rehash_ints(slots, keys, 60)
    assert np.sort(slots[slots >= 0]).tolist() == list(range(60))
    codes = np.empty(60, np.int64)
    assert hash_table._intern_ints(keys, codes, slots, keys, 60) == 60
    assert codes.tolist() == list(range(60))
    hashes, slots = keys.astype(np.uint64), np.zeros(128, np.uint64)
    hash_table._rehash(slots, hashes, 60)
    slots = np.sort(slots[slots > 0])
    numbers = (slots & np.uint64(0xFFFFFFFF)).astype(np.int64) - 1
    assert np.sort(numbers).tolist() == list(range(60))
    assert (slots >> np.uint64(32) == hashes[numbers] >> np.uint64(32)).all()
