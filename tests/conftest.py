"""What tests share: a seed, where the benchmark data lies, and the count of what was skipped for lack of it."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch


@pytest.fixture(autouse=True)
def _own_seed() -> None:
    """What a test draws from torch's generator does not depend on the tests before it."""
    torch.manual_seed(0)


@pytest.fixture
def need_data() -> Callable[..., Path]:
    """The folder of benchmark data, if it holds the named files; otherwise the test is skipped and says so."""

    def folder(*files: str) -> Path:
        place = os.environ.get("PINE_DATA")
        if place is None:
            pytest.skip("needs the benchmark data: set PINE_DATA to its folder")
        for file in files:
            if not (Path(place) / file).exists():
                pytest.skip(f"needs PINE_DATA/{file}")
        return Path(place)

    return folder


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Under coverage, lines are said to be run by this test: scripts/mutate.py asks which tests run a line."""
    if "coverage" in sys.modules and (measured := sys.modules["coverage"].Coverage.current()) is not None:
        measured.switch_context(item.nodeid.partition("[")[0])


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say in the last lines how many tests were skipped, and why."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in skipped)
    terminalreporter.write_line(f"skipped: {len(skipped)}" + (", because" if skipped else ""))
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"  {count}: {reason}")
