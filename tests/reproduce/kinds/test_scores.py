"""Scores on real splits of Cora: what is chosen on held-out labels, what is made once, and the keys of results."""

from __future__ import annotations

from typing import ClassVar

from support.reproduce import SMALL

from pine import METHODS
from pine.baselines import GCN
from pine.evaluation.protocol import SCORING_REVISION, Part
from pine.reproduce.catalog import experiment_of
from pine.reproduce.kinds import KINDS
from pine.reproduce.kinds.scores import Score
from pine.reproduce.outcome import outcome_of
from pine.reproduce.runner import jobs_of
from pine.reproduce.tasks import Machine


def test_settings_are_chosen_on_held_out_labels_and_results_are_made_once(runner):
    experiment = experiment_of("small", SMALL)
    rows = outcome_of(experiment, runner).rows
    assert len(rows) == 2 * 2 * 2
    chosen = {row["spec"] for row in rows if row["method"] == "spread"}
    assert chosen == {"label-propagation"}  # without spreading it knows nothing of its neighbors' neighbors
    assert all(row["accuracy"] > 0.7 for row in rows if row["method"] == "spread")
    held_out = [task for task in runner.run_jobs.made if task.part.held_out]
    assert len(held_out) == 2 * 4
    assert len(runner.run_jobs.made) == 2 * 4 + 2 * 4 == KINDS["scores"].num_tasks(experiment)
    assert outcome_of(experiment, runner).rows == rows
    assert len(runner.run_jobs.made) == 16
    more = outcome_of(experiment_of("small", SMALL | {"repeats": 3}), runner).rows
    assert len(more) == 12
    assert {task.part.repeat for task in runner.run_jobs.made[16:]} == {2}


def test_vectors_without_labels_are_made_once_for_all_splits_and_on_large_data_for_all_repeats(runner):
    walks = {"name": "start", "spec": "start:dim=8", "search": ["start:dim=4"]}
    rows = outcome_of(experiment_of("small", SMALL | {"methods": [walks], "claims": []}), runner).rows
    assert len(rows) == 4
    jobs = jobs_of(runner.run_jobs.made)
    assert len(jobs) == 2 * 2  # two settings, two seeds
    assert all(len(job) == 4 for job in jobs)  # two ratios, held out and not
    runner.run_jobs.made.clear()
    given = SMALL | {"methods": [{"name": "start", "spec": "start:dim=6"}], "claims": [], "one_seed": ["cora"]}
    outcome_of(experiment_of("small", given), runner)
    assert [task.seed for task in runner.run_jobs.made] == [0] * 4
    assert len(jobs_of(runner.run_jobs.made)) == 1


def test_results_that_one_fit_serves_are_those_of_their_own_splits():
    tasks = [Score("cora", "start:dim=4", 0, Part(ratio, 0)) for ratio in (0.01, 0.9)]
    machine = Machine(threads=1)
    together = [result["scores"] for result in Score.make(tasks, machine)]
    assert together == [next(Score.make([task], machine))["scores"] for task in tasks]
    assert together[0] != together[1]


def key(spec="gcn", seed=0, part=None, machine=None):
    return Score("cora", spec, seed, part or Part(0.5, 0)).key(machine or Machine())


def test_the_key_of_a_score_is_what_it_came_from():
    assert key() == key("gcn:epochs=200")  # its default
    assert key() == key(machine=Machine(device="cpu", threads=1))
    different = [key("gcn:epochs=100"), key(seed=1), key(part=Part(0.5, 1)), key(part=Part(0.5, 0, True)), key("gat")]
    assert len({key(), *different}) == 6


def test_a_method_of_another_revision_has_another_key(monkeypatch):
    class Moved(GCN):
        """The same method in another module."""

    class Revised(GCN):
        revision: ClassVar[int] = GCN.revision + 1

    before = key()
    monkeypatch.setitem(METHODS, "gcn", Moved)
    assert key() == before
    monkeypatch.setitem(METHODS, "gcn", Revised)
    assert key() != before


def test_a_key_names_the_revision_of_scoring_and_settings_by_their_own_names():
    sources = Score("cora", "pine:hidden=64", 0, Part(0.5, 0)).sources(Machine())
    assert sources["scoring"] == SCORING_REVISION
    assert sources["settings"]["hidden"] == 64
    assert not {"seed", "device", "threads"} & sources["settings"].keys()
