"""f learns functions of sets from samples, better the larger it is (table and picture: `pine reproduce theory`)."""

from __future__ import annotations

import numpy as np
import pytest

from pine.reproduce.approximation import TARGETS, disjoint_sets, errors

QUICK = ("largest of 5 numbers", "sum of 3 of one type times largest of 4 of another")  # the others are as long again
SOME = [
    pytest.param(target, id=name, marks=[] if name in QUICK else [pytest.mark.slow]) for name, target in TARGETS.items()
]


@pytest.mark.parametrize("target", SOME)
def test_the_error_falls_3_fold_from_one_unit_to_sixteen(target):
    small = errors(target, size=1, num_sets=500, steps=100)
    large = errors(target, size=16, num_sets=500, steps=250)
    assert np.median(large) < np.median(small) / 3


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_the_error_falls_with_every_size_up_to_32(target):
    median = [np.median(errors(target, size, num_sets=2000, steps=500)) for size in (1, 4, 16, 32)]
    assert median[-1] < median[0] / 5
    # Each four-fold size does better; from 16 to 32 the samples are the limit.
    assert median[2] < median[1] < median[0]
    assert median[3] < 1.1 * median[2]


def test_every_set_is_learned_from_its_own_members():
    csr = disjoint_sets(3, 2)
    assert [csr.row(i).tolist() for i in range(3)] == [[0, 1], [2, 3], [4, 5]]
