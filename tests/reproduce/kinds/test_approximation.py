"""Errors by size: rows, table, figure and the check that they fall."""

from __future__ import annotations

from support.reproduce import SMALL

from pine.reproduce.approximation import APPROXIMATION_REVISION, TARGETS
from pine.reproduce.catalog import experiment_of
from pine.reproduce.kinds import KINDS
from pine.reproduce.kinds.approximation import Approximation
from pine.reproduce.outcome import outcome_of
from pine.reproduce.runner import Runner
from pine.reproduce.tasks import Machine

THEORY = {key: SMALL[key] for key in ("title", "place")} | {"kind": "approximation", "sizes": [1, 8]}


def test_errors_fall_by_a_factor():
    errors = [{"target": "max", "size": s, "seed": 0, "error": e} for s, e in [(1, 0.9), (8, 0.2)]]
    for factor, summary in ((3, "holds"), (5, "does not hold")):
        claim = {"text": "t", "place": "p", "check": "falls", "factor": factor}
        verdict = KINDS["approximation"].verdicts(experiment_of("theory", THEORY | {"claims": [claim]}), errors)[0]
        assert verdict.summary == summary
        assert verdict.numbers == "max 4-fold"


def test_every_seed_has_a_row_and_the_table_shows_medians(tmp_path):
    experiment = experiment_of("theory", THEORY)

    class ByHand(Runner):
        def __init__(self) -> None:
            pass

        def results(self, tasks, what):
            return {task: {"errors": [1 / task.size, 2 / task.size, 9 / task.size]} for task in tasks}

    rows = outcome_of(experiment, ByHand()).rows
    assert len(rows) == 3 * KINDS["approximation"].num_tasks(experiment) == 3 * 2 * len(TARGETS)
    assert f"| {next(iter(TARGETS))} | 2.0000 | 0.2500 |" in KINDS["approximation"].tables(experiment, rows)
    assert [picture.path.name for picture in KINDS["approximation"].figures(experiment, rows, tmp_path)] == [
        "theory.png"
    ]


def test_the_key_of_an_error_is_target_size_and_revision():
    task = Approximation("largest of 5 numbers", 4)
    assert task.sources(Machine()) == {"revision": APPROXIMATION_REVISION, "target": task.target, "size": 4}
