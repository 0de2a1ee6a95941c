"""The experiment on graphs never seen: what is chosen on validation graphs, and what is said beside every table."""

from __future__ import annotations

import dataclasses
import io

import pytest
from rich.console import Console
from support.inductive import labels_of, planted

import pine.reproduce.command as command
import pine.reproduce.run as run
from pine import InputError
from pine.reproduce import tasks as units
from pine.reproduce.claims import verdicts
from pine.reproduce.command import Asked, reproduce
from pine.reproduce.experiment import Experiment, read
from pine.reproduce.figures import figures
from pine.reproduce.outcome import amount, best_validated, outcome_of
from pine.reproduce.run import Runner
from pine.reproduce.store import Store
from pine.reproduce.tables import tables
from pine.reproduce.tasks import Inductive, Machine
from pine.reproduce.workers import Limits

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


@pytest.fixture
def made(monkeypatch):
    """Units as they are made, on a small data set in the place of ppi, in this process."""
    data, units_made = planted(), []

    def here(work, jobs, processes, limits):
        for job in jobs:
            units_made.extend(job)
            yield from zip(job, work(job), strict=True)

    monkeypatch.setattr(run, "run_jobs", here)
    monkeypatch.setattr(units, "labelled", lambda name, folder: (data, labels_of(data)))
    # The digests of ppi are kept for its real data.
    monkeypatch.setattr(units, "digest", units.digest.__wrapped__)
    monkeypatch.setattr(units, "attributes_digest", units.attributes_digest.__wrapped__)
    return units_made


def test_rows_tables_and_figure_come_from_real_trainings_made_once(made, tmp_path):
    experiment, runner = Experiment.of("small", SMALL), Runner(Store(tmp_path / "store.sqlite"), Machine(threads=1))
    rows = outcome_of(experiment, runner).rows
    assert len(made) == amount(experiment) == 2 * 5  # the chosen one is one of those that are shown
    assert len(rows) == 2 * 6
    assert outcome_of(experiment, runner).rows == rows
    assert len(made) == 10
    text = tables(experiment, rows)
    assert text.count("**ppi, ") == text.count(NOTE) == 2
    assert [path.name for path in figures(experiment, rows, tmp_path)] == ["small.png"]


def result(validation, test):
    return {"scores": {"micro_f1": test}, "validation": validation, "kept": 1, "epochs": 2, "seconds": 1.0}


class Told:
    """Results by hand, by a spec's first words."""

    def __init__(self, results):
        self.by_spec = results

    def results(self, units, what):
        return {unit: result(*self.by_spec[unit.spec.removesuffix(TINY)][unit.seed]) for unit in units}


RESULTS = {
    "sampled:aggregator=pine": [(0.5, 0.6), (0.5, 0.62)],
    "sampled": [(0.5, 0.6), (0.5, 0.6)],
    "whole:layer=pine": [(0.5, 0.9), (0.5, 0.9)],
    "whole:layer=gat+pine": [(0.4, 0.6), (0.7, 0.7)],
    "whole": [(0.9, 0.62), (0.9, 0.62)],
}


def test_the_headline_is_chosen_by_the_mean_validation_score_and_never_by_the_test_score():
    experiment = Experiment.of("small", SMALL)
    rows = outcome_of(experiment, Told(RESULTS)).rows
    headline = [row for row in rows if (row["method"], row["panel"]) == ("PINE", "B")]
    assert [row["micro_f1"] for row in headline] == [0.6, 0.7]  # (a) is better on test
    assert "| PINE | 55.0 ±21.2 | 65.0 ±7.1 | 2 | 1.0 | (c) |" in tables(experiment, rows)
    assert "| GAT | 90.0 ±0.0 | 62.0 ±0.0 | 2 | 1.0 |  |" in tables(experiment, rows)


def test_a_setting_that_was_stopped_is_not_chosen():
    stopped = {"stopped": "time", "said": "took more than 1 minutes"}
    assert best_validated({"a": [result(0.9, 0.9), stopped], "b": [result(0.1, 0.1)] * 2}) == "b"
    assert best_validated({"a": [stopped], "b": [stopped]}) == "a"


def test_above_by_deviations_wants_a_gap_larger_than_the_larger_deviation():
    experiment = Experiment.of("small", SMALL)
    assert (
        verdicts(experiment, outcome_of(experiment, Told(RESULTS)).rows)[0].said == "does not hold"
    )  # 3 points, 7 deviation
    closer = RESULTS | {"whole:layer=gat+pine": [(0.7, 0.64), (0.7, 0.66)]}
    assert verdicts(experiment, outcome_of(experiment, Told(closer)).rows)[0].said == "holds"


def test_the_key_of_a_network_is_what_it_came_from(made, monkeypatch):

    def key(spec="whole", seed=0, machine=None):
        return Inductive("ppi", spec, seed).key(machine or Machine())

    assert key() == key("whole:layer=gat") == key(machine=Machine(device="cpu", threads=1))
    assert len({key(), key("whole:layer=pine"), key(seed=1), key("sampled")}) == 4
    before = key()
    monkeypatch.setattr("pine.reproduce.tasks.version", lambda module: "changed")
    assert key() != before


def test_without_pytorch_geometric_it_is_refused_in_a_sentence_and_listed_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr("pine._internal.optional.find_spec", lambda name: None)
    asked = Asked(["ppi"], tmp_path, True, Machine(), 1, Limits())
    with pytest.raises(InputError, match="the experiment ppi needs PyTorch Geometric: pip install"):
        reproduce(asked, Console(quiet=True))
    monkeypatch.setattr(command.experiments, "names", lambda: ["ppi"])
    console = Console(record=True, file=io.StringIO())
    reproduce(dataclasses.replace(asked, names=["all"]), console)
    assert "ppi is left out" in console.export_text()
    command.show_list(console)
    assert "PPI with rebuilt labels" in console.export_text()


def test_the_experiment_has_the_methods_of_both_settings_and_says_that_labels_are_rebuilt():
    experiment = read("ppi")
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
