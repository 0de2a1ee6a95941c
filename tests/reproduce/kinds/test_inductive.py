"""Experiments on graphs never seen: what is chosen on validation graphs, and the notes beside every table."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

import pytest
from support.inductive import planted
from support.reproduce import InProcess, runner_in

from pine import InputError
from pine.baselines import DeepWalk
from pine.reproduce.catalog import experiment_of, find
from pine.reproduce.inductive.run import NETWORKS_REVISION
from pine.reproduce.kinds import KINDS
from pine.reproduce.kinds.inductive import Inductive, best_validated
from pine.reproduce.outcome import outcome_of
from pine.reproduce.reproduction import ReproduceOptions, reproduce
from pine.reproduce.runner import Runner
from pine.reproduce.tasks import Machine

NOTE = "Never beside published figures."
TINY = ":width=8:pool=8:hidden=12:projections=2:scales=2:epochs=2"
SMALL = {
    "title": "A small one",
    "place": "nowhere",
    "kind": "inductive",
    "datasets": ["ppi"],
    "repeats": 2,
    "metrics": ["micro_f1"],
    "notes": [NOTE],
    "methods": [
        {"name": "PINE", "spec": f"sampled:aggregator=pine{TINY}", "panel": "A"},
        {"name": "pool", "spec": f"sampled{TINY}", "panel": "A"},
        {"name": "PINE", "spec": f"whole:layer=pine{TINY}", "search": [f"whole:layer=gat+pine{TINY}"], "panel": "B"},
        {"name": "(a)", "spec": f"whole:layer=pine{TINY}", "panel": "B"},
        {"name": "(c)", "spec": f"whole:layer=gat+pine{TINY}", "panel": "B"},
        {"name": "GAT", "spec": f"whole{TINY}", "panel": "B"},
    ],
    "claims": [{"text": "t", "place": "p", "check": "above", "method": "PINE", "over": ["GAT"], "deviations": 1}],
}


KIND = KINDS["inductive"]


def load_planted(name, data_dir):
    """A small data set in the place of ppi."""
    return planted()


def test_rows_tables_and_figure_come_from_real_trainings_made_once(tmp_path):
    jobs = InProcess()
    runner = dataclasses.replace(runner_in(tmp_path, jobs), machine=Machine(threads=1, load=load_planted))
    experiment = experiment_of("small", SMALL)
    rows = outcome_of(experiment, runner).rows
    assert len(jobs.made) == KIND.num_tasks(experiment) == 2 * 5  # the chosen one is one of those that are shown
    assert len(rows) == 2 * 6
    assert outcome_of(experiment, runner).rows == rows
    assert len(jobs.made) == 10
    text = KIND.tables(experiment, rows)
    assert text.count("**ppi, ") == text.count(NOTE) == 2
    assert [picture.path.name for picture in KIND.figures(experiment, rows, tmp_path)] == ["small.png"]


def result(validation, test):
    return {
        "scores": {"micro_f1": test},
        "validation": validation,
        "kept": 1,
        "epochs": 2,
        "seconds": 1.0,
        "alone": True,
    }


class ByHand(Runner):
    """A runner with results by hand, by a spec's first words."""

    by_spec: dict[str, Any]

    def __init__(self, results: dict[str, Any]) -> None:
        object.__setattr__(self, "by_spec", results)

    def results(self, tasks, what):
        return {task: result(*self.by_spec[task.spec.removesuffix(TINY)][task.seed]) for task in tasks}


RESULTS = {
    "sampled:aggregator=pine": [(0.5, 0.6), (0.5, 0.62)],
    "sampled": [(0.5, 0.6), (0.5, 0.6)],
    "whole:layer=pine": [(0.5, 0.9), (0.5, 0.9)],
    "whole:layer=gat+pine": [(0.4, 0.6), (0.7, 0.7)],
    "whole": [(0.9, 0.62), (0.9, 0.62)],
}


def test_the_headline_is_chosen_by_the_mean_validation_score_and_never_by_the_test_score():
    experiment = experiment_of("small", SMALL)
    rows = outcome_of(experiment, ByHand(RESULTS)).rows
    headline = [row for row in rows if (row["method"], row["panel"]) == ("PINE", "B")]
    assert [row["micro_f1"] for row in headline] == [0.6, 0.7]  # (a) is better on test
    assert "| PINE | 55.0 ±21.2 | 65.0 ±7.1 | 2 | 1.0 | (c) |" in KIND.tables(experiment, rows)
    assert "| GAT | 90.0 ±0.0 | 62.0 ±0.0 | 2 | 1.0 |  |" in KIND.tables(experiment, rows)


def test_a_setting_that_was_stopped_is_not_chosen():
    stopped = {"stopped": "time", "message": "took more than 1 minutes"}
    assert best_validated({"a": [result(0.9, 0.9), stopped], "b": [result(0.1, 0.1)] * 2}) == "b"
    assert best_validated({"a": [stopped], "b": [stopped]}) == "a"


def test_above_by_deviations_wants_a_gap_larger_than_the_larger_deviation():
    experiment = experiment_of("small", SMALL)
    assert (
        KIND.verdicts(experiment, outcome_of(experiment, ByHand(RESULTS)).rows)[0].summary == "does not hold"
    )  # 3 points, 7 deviation
    closer = RESULTS | {"whole:layer=gat+pine": [(0.7, 0.64), (0.7, 0.66)]}
    assert KIND.verdicts(experiment, outcome_of(experiment, ByHand(closer)).rows)[0].summary == "holds"


def test_the_key_of_a_network_is_what_it_came_from():
    machine = Machine(load=load_planted)

    def key(spec="whole", seed=0, machine=machine):
        return Inductive("ppi", spec, seed).key(machine)

    assert key() == key("whole:layer=gat") == key(machine=dataclasses.replace(machine, device="cpu", threads=1))
    assert len({key(), key("whole:layer=pine"), key(seed=1), key("sampled")}) == 4
    sources = Inductive("ppi", "whole", 0).sources(machine)
    assert (sources["revision"], sources["vectors"]) == (NETWORKS_REVISION, None)
    assert Inductive("ppi", "deepwalk", 0).sources(machine)["vectors"] == DeepWalk.revision


def test_without_pytorch_geometric_it_is_refused_in_a_sentence_and_left_out_of_all(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    options = ReproduceOptions(["ppi"], tmp_path, quick=True)
    with pytest.raises(InputError, match="the experiment ppi needs PyTorch Geometric: pip install"):
        reproduce(options)
    messages: list[str] = []
    reproduce(dataclasses.replace(options, names=["all"]), on_message=messages.append, known={"ppi": find("ppi")})
    assert messages[0].startswith("ppi is left out: ")


def test_the_experiment_has_the_methods_of_both_settings_and_notes_that_labels_are_rebuilt():
    experiment = find("ppi")
    panels = [m.panel for m in experiment.methods]
    assert sorted(map(panels.count, set(panels))) == [3, 6]
    assert all(experiment.methods[panels.index(panel)].name == "PINE" for panel in panels)
    assert experiment.repeats == 5
    assert "never with published figures" in experiment.notes[0]
    candidates = {m.name: len(m.specs()) for m in experiment.methods if "setting A" in m.panel}
    assert candidates.pop("PINE") <= min(candidates.values())
    headline = next(m for m in experiment.methods if m.name == "PINE" and "setting B" in m.panel)
    variants = {m.spec for m in experiment.methods if m.name[:2] in ("(a", "(b", "(c")}
    assert set(headline.specs()) == variants
