"""The examples run as they stand; with few epochs here, so that it is quick."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_beats_guessing(path):
    command = [sys.executable, "-W", "ignore", str(path), "--epochs", "20"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found = [float(number) for number in re.findall(r"(?:accuracy|papers:)\D*?(0\.\d+)", done.stdout)]
    assert found
    assert min(found) > 0.4
