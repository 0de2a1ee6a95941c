"""Distinct strings get distinct numbers, whatever their hashes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from pine.graph.ids.hash_table import StringInterner


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
