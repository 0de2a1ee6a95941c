"""What tests of experiments share."""

from __future__ import annotations

import pytest
from support.reproduce import InProcess, runner_in


@pytest.fixture
def runner(tmp_path):
    """A runner whose jobs run in this process; runner.run_jobs.made are the tasks that it made."""
    return runner_in(tmp_path, InProcess())
