"""A graph whose fit needs ten times the memory that it is given: as good as with all of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_within_a_tenth_of_the_memory_a_graph_is_learned_as_well(tmp_path):
    command = [sys.executable, str(ROOT / "benchmarks" / "out_of_core.py"), "--nodes", "300000", "--epochs", "2"]
    command += ["--json", "--folder", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    in_memory, in_files = found["in memory"], found["in files"]
    print(f"limit {found['limit']:,} by {found['limit by']}: {in_memory}, {in_files}")
    assert in_memory["peak"] - found["base"] > 9.9 * (found["limit"] - found["base"])
    if found["limit by"] == "a control group":
        assert in_files["peak"] <= found["limit"]
    assert abs(in_files["accuracy"] - in_memory["accuracy"]) < 0.005
