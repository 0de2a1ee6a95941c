"""f learns functions of sets from samples, better the larger it is (table and picture: scripts/approximation.py)."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "approximation.py"


def load():
    spec = importlib.util.spec_from_file_location("approximation", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["approximation"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


approximation = load()
NAMES = [target.name for target in approximation.TARGETS]


@pytest.mark.parametrize("target", approximation.TARGETS, ids=NAMES)
def test_the_error_falls_3_fold_from_one_unit_to_sixteen(target):
    small = approximation.errors(target, size=1, num_sets=500, steps=100)
    large = approximation.errors(target, size=16, num_sets=500, steps=250)
    assert np.median(large) < np.median(small) / 3


@pytest.mark.slow
@pytest.mark.parametrize("target", approximation.TARGETS, ids=NAMES)
def test_the_error_falls_with_every_size_up_to_32(target):
    median = [np.median(approximation.errors(target, size, num_sets=2000, steps=500)) for size in (1, 4, 16, 32)]
    assert median[-1] < median[0] / 5
    # Each four-fold size does better; from 16 to 32 the samples are the limit.
    assert median[2] < median[1] < median[0]
    assert median[3] < 1.1 * median[2]


def test_every_set_is_learned_from_its_own_members():
    csr = approximation.disjoint_sets(3, 2)
    assert [csr.row(i).tolist() for i in range(3)] == [[0, 1], [2, 3], [4, 5]]


def test_the_picture_is_drawn(tmp_path):
    found = {"some function": np.array([[0.5, 0.6], [0.2, 0.3]])}
    approximation.draw(found, tmp_path / "picture.png", sizes=(1, 2))
    assert (tmp_path / "picture.png").stat().st_size > 1000
