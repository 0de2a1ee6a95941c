"""200 kills of train, evaluate and reproduce: nothing is lost, nothing stays behind, and ends are equal bit by bit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = 200
TESTS = Path(__file__).parent


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").exists(), reason="needs /proc")
def test_runs_that_are_killed_at_random_moments_end_with_the_same_bits(tmp_path):
    command = [sys.executable, "-m", "support.kills", str(tmp_path), str(KILLS), "0"]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    print(f"{'command':10} {'kills':>5} {'runs':>5} {'lost':>5} {'left behind':>11}")
    for each in found:
        kills, lost = sum(each["kills"].values()), len(each["lost"])
        print(f"{each['command']:10} {kills:5} {each['runs']:5} {lost:5} {each['left behind']:11}")
        assert (each["lost"], each["left behind"], each["tracebacks"]) == ([], 0, []), each
    assert sum(sum(each["kills"].values()) for each in found) == KILLS
