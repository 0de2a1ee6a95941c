"""Damaged files and odd values end in what is right or in one sentence: see support/fuzz."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from support.fuzz import faulty
from support.fuzz.runner import Outcome, fuzz, run_batch, seed_of, table
from support.fuzz.targets import CASES


def test_the_fuzzer_sees_crashes_hangs_memory_wrong_results_and_long_errors():
    """And names each case, and goes on after it."""
    drawn = [
        faulty.KINDS[int(np.random.default_rng(seed_of("faulty", i)).integers(len(faulty.KINDS)))] for i in range(24)
    ]
    expected = Counter(drawn)
    assert set(expected) == set(faulty.KINDS), "choose another number of cases"
    outcome = run_batch("faulty", 0, 24)
    assert (outcome.cases, outcome.read, outcome.refused) == (24, expected["read"], expected["refused"])
    words = {
        "crash": "SIGSEGV",
        "hang": "no result after",
        "memory": "MemoryError",
        "wrong": "another result",
        "long": "an error of 301 characters",
    }
    for kind, word in words.items():
        found = [fault for fault in outcome.faults if word in fault]
        assert [int(fault.split()[1].rstrip(":")) for fault in found] == [
            i for i, each in enumerate(drawn) if each == kind
        ]


def test_the_table_adds_up():
    outcomes = [Outcome("a", 1, 2), Outcome("b", 1000, 0, ["b 7: x"])]
    assert table(outcomes).splitlines()[2:] == [
        "| a | 3 | 2 | 1 | 0 |",
        "| b | 1,001 | 0 | 1,000 | 1 |",
        "| **all** | 1,004 | 2 | 1,001 | 1 |",
    ]


@pytest.mark.slow
def test_no_case_of_the_fuzzer_is_a_fault(capsys: pytest.CaptureFixture[str]):
    outcomes = fuzz(CASES)
    with capsys.disabled():
        print(f"\n{table(outcomes)}")
    assert sum(each.cases for each in outcomes) >= 20_000
    assert [fault for each in outcomes for fault in each.faults] == []
