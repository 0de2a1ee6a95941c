"""Cases that are faults of every kind, to see that the fuzzer finds them."""

from __future__ import annotations

import ctypes
import time
from pathlib import Path

import numpy as np

from pine import InputError


class Faulty:
    """A case of each kind, drawn from six."""

    seconds = 0.5

    def __init__(self, folder: Path) -> None:
        self.number = 0

    def case(self, rng: np.random.Generator) -> None:
        kind = KINDS[int(rng.integers(len(KINDS)))]
        if kind == "crash":
            ctypes.string_at(1)
        elif kind == "hang":
            time.sleep(5)
        elif kind == "memory":
            np.ones(1 << 32, np.uint8)
        elif kind == "wrong":
            raise AssertionError("another result")
        elif kind == "long":
            problem = InputError()
            problem.args = ("x" * 301,)
            raise problem
        elif kind == "refused":
            raise InputError("no")


KINDS = ("crash", "hang", "memory", "wrong", "long", "refused", "read")
