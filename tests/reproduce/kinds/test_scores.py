"""Scores on real splits of Cora: what is chosen on held-out labels, what is made once, and the keys of results."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from support.inductive import planted
from support.reproduce import SMALL

from pine import METHODS, InputError
from pine.baselines import GCN, LabelPropagation
from pine.baselines.gnn import replicas
from pine.evaluation import side_by_side
from pine.evaluation.protocol import SCORING_REVISION, Part
from pine.reproduce.catalog import experiment_of
from pine.reproduce.kinds import KINDS
from pine.reproduce.kinds.scores import Score
from pine.reproduce.outcome import outcome_of
from pine.reproduce.runner import jobs_of
from pine.reproduce.store import Store
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
    jobs = jobs_of(runner.run_jobs.made, runner.machine)
    assert len(jobs) == 2 * 2  # two settings, two seeds
    assert all(len(job) == 4 for job in jobs)  # two ratios, held out and not
    runner.run_jobs.made.clear()
    given = SMALL | {"methods": [{"name": "start", "spec": "start:dim=6"}], "claims": [], "vector_seeds": {"cora": 1}}
    outcome_of(experiment_of("small", given), runner)
    assert [task.seed for task in runner.run_jobs.made] == [0] * 4
    assert len(jobs_of(runner.run_jobs.made, runner.machine)) == 1
    runner.run_jobs.made.clear()
    more = given | {"methods": [{"name": "start", "spec": "start:dim=5"}], "repeats": 5, "vector_seeds": {"cora": 2}}
    outcome_of(experiment_of("small", more), runner)
    assert {task.part.repeat: task.seed for task in runner.run_jobs.made} == {0: 0, 1: 1, 2: 0, 3: 1, 4: 0}


def test_a_data_set_may_have_fewer_repeats_than_the_others():
    given = SMALL | {"datasets": ["cora", "email-eu"], "repeats": 3, "fewer": {"email-eu": 1}}
    experiment = experiment_of("small", given)
    assert [experiment.num_repeats(name, 0.5) for name in experiment.datasets] == [3, 1]
    assert KINDS["scores"].num_tasks(replace(experiment, methods=experiment.methods[1:])) == 2 * (3 + 1)
    with pytest.raises(InputError, match="fewer and vector_seeds of experiment small has 'pubmed'"):
        experiment_of("small", given | {"fewer": {"pubmed": 1}})


def test_a_method_may_have_fewer_repeats_than_the_others():
    slow = {"name": "slow", "spec": "label-propagation", "repeats": 2}
    given = SMALL | {"methods": [*SMALL["methods"], slow], "repeats": 3}
    experiment = experiment_of("small", given)
    assert [experiment.num_repeats("cora", 0.5, name) for name in ("spread", "slow")] == [3, 2]
    alone = replace(experiment, methods=experiment.methods[-1:])
    assert KINDS["scores"].num_tasks(alone) == 2 * 2
    rows = [{"dataset": "cora", "ratio": 0.5, "method": "slow", "repeat": repeat} for repeat in range(3)]
    assert KINDS["scores"].is_whole(experiment, rows[:2])
    assert not KINDS["scores"].is_whole(experiment, rows)
    assert experiment_of("small", given | {"fewer": {"cora": 1}}).num_repeats("cora", 0.5, "slow") == 1


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


PUBLIC_SPLIT = SMALL | {"ratios": ["public", 0.5], "features": True, "claims": []}


def load_planted(name, data_dir):
    return planted(single=True)


def load_without(name, data_dir):
    return replace(planted(single=True), features=None, splits={})


def test_settings_on_the_public_split_are_chosen_on_validation_labels_and_repeats_are_seeds(runner):
    runner = replace(runner, machine=Machine(threads=1, load=load_planted))
    experiment = experiment_of("public", PUBLIC_SPLIT)
    rows = outcome_of(experiment, runner).rows
    assert [(row["ratio"], row["repeat"]) for row in rows[:4]] == [("public", 0), ("public", 1), (0.5, 0), (0.5, 1)]
    assert rows[0] | {"repeat": 1, "seconds": 0} == rows[1] | {"seconds": 0}  # label propagation draws nothing
    made = runner.run_jobs.made
    assert len(made) == 2 * (3 + 2) + 2 * 4 == KINDS["scores"].num_tasks(experiment)
    assert all(task.features for task in made)
    assert {(task.part, task.seed) for task in made[:6]} == {(Part("public", k, held_out=True), k) for k in range(3)}
    assert outcome_of(experiment, runner).rows == rows
    assert len(made) == 18


def test_the_public_split_may_have_more_seeds_than_others_have_repeats_and_one_choice_for_all_of_them(runner, tmp_path):
    runner = replace(runner, machine=Machine(threads=1, load=load_planted))
    experiment = experiment_of("public", PUBLIC_SPLIT | {"seeds": 4})
    rows = outcome_of(experiment, runner).rows
    cell = [row for row in rows if row["ratio"] == "public" and row["method"] == rows[0]["method"]]
    assert [row["repeat"] for row in cell] == [0, 1, 2, 3]
    assert len({row["spec"] for row in cell}) == 1
    later = replace(runner, only_kept=True, store=Store(tmp_path / "empty.sqlite"))
    assert outcome_of(experiment, later, rows).rows == rows


def test_a_method_gets_the_features_that_its_task_asks_for(monkeypatch):
    seen = []

    class Recorder(LabelPropagation):
        def _fit(self, graph, labels, rng):
            seen.append(graph.features)
            return super()._fit(graph, labels, rng)

    monkeypatch.setitem(METHODS, "label-propagation", Recorder)
    for features in (False, True):
        next(Score.make([Score("x", "label-propagation", 0, Part(0.5, 0), features)], Machine(load=load_planted)))
    assert not seen[0]
    assert np.array_equal(seen[1]["node"], planted(single=True).features)


def test_keys_of_random_splits_without_features_are_what_they_always_were():
    machine = Machine(load=load_planted)
    task = Score("x", "label-propagation", 0, Part(0.5, 0))
    known = ("method", "revision", "settings", "labels", "types", "spread", "scoring", "seed", "part", "data")
    sources = task.sources(machine)
    assert set(sources) == set(known)
    assert sources["part"] == {"ratio": 0.5, "repeat": 0, "held_out": False}
    text = json.dumps(["score", sources], sort_keys=True, default=str)
    assert task.key(machine) == hashlib.sha256(text.encode()).hexdigest()
    assert task.key(machine) == task.key(Machine(load=load_without))


def test_keys_of_the_public_split_and_of_features_go_by_both():
    def changed(**values):
        return Machine(load=lambda name, data_dir: replace(planted(single=True), **values))

    data = planted(single=True)
    machines = [
        Machine(load=load_planted),
        changed(features=data.features + 1),
        changed(splits={**data.splits, "val": data.splits["val"][1:]}),
    ]
    for task in (
        Score("x", "label-propagation", 0, Part("public", 0)),
        Score("x", "label-propagation", 0, Part(0.5, 0), features=True),
        Score("x", "label-propagation", 0, Part("public", 0), features=True),
    ):
        assert len({task.key(machine) for machine in machines}) == 3
    tasks = [Score("x", "gcn", 0, Part(ratio, 0), on) for ratio in ("public", 0.5) for on in (False, True)]
    assert len({task.key(machines[0]) for task in tasks}) == 4
    assert len(jobs_of([Score("x", "start", 0, Part(0.5, 0), on) for on in (False, True)], machines[0])) == 2


def test_features_of_several_types_are_in_the_digest():
    def digest(words):
        made = {"a": np.ones((2, 3), np.float32), "b": sp.csr_array(words)}
        return Machine(load=lambda name, data_dir: replace(planted(), features=made)).features_digest("x")

    assert digest(np.eye(3)) == digest(np.eye(3)) != digest(2 * np.eye(3))


def test_data_sets_must_have_what_an_experiment_asks_of_them():
    check = KINDS["scores"].check_data
    whole, without = (Machine(load=load).labeled("cora") for load in (load_planted, load_without))
    check(experiment_of("public", PUBLIC_SPLIT), *whole)
    with pytest.raises(InputError, match="no node attributes"):
        check(experiment_of("public", PUBLIC_SPLIT), *without)
    with pytest.raises(InputError, match="no public split"):
        check(experiment_of("public", PUBLIC_SPLIT | {"features": False}), *without)
    check(experiment_of("small", SMALL), *without)


def test_networks_of_all_splits_and_seeds_are_one_job_on_a_gpu(runner, monkeypatch):
    network = "gcn:epochs=5:dim=8:dropout=0"
    methods = [{"name": "gcn", "spec": network, "search": [f"{network}:weight_decay=0.1"]}]
    methods.append({"name": "with vectors", "spec": f"{network}:on=propagation:share=auto"})
    experiment = experiment_of("small", SMALL | {"methods": methods, "claims": []})
    one_at_a_time = replace(runner, machine=Machine(device="cpu", threads=1))
    alone = outcome_of(experiment, one_at_a_time).rows
    made = runner.run_jobs.made.copy()
    assert len(jobs_of(made, one_at_a_time.machine)) == len(made) == 2 * 4 + 2 * 4
    monkeypatch.setattr(side_by_side, "DEVICES", ("cpu",))
    many = replace(one_at_a_time, store=Store(runner.store.path.with_name("other.sqlite")))
    assert sorted(map(len, jobs_of(made, many.machine)))[-2:] == [4, 8]
    rows = outcome_of(experiment, many).rows
    again = replace(many, store=one_at_a_time.store, only_kept=True)
    assert outcome_of(experiment, again).rows == alone, "keys are the same"
    for one, other in zip(alone, rows, strict=True):
        assert one["accuracy"] == pytest.approx(other["accuracy"], abs=2e-3)
        assert (one["spec"], one["alone"], other["alone"]) == (other["spec"], 1, 0)


def test_results_of_a_job_come_batch_by_batch(monkeypatch):
    monkeypatch.setattr(side_by_side, "DEVICES", ("cpu",))
    monkeypatch.setattr(replicas, "MOST_FLOATS", {"cpu": 0})
    machine = Machine(device="cpu", threads=1)
    tasks = [Score("cora", "gcn:epochs=2:dim=4", repeat, Part(0.5, repeat)) for repeat in range(3)]
    fits, fit = [], replicas._fit

    def watched(method, data, some):
        fits.append(len(some))
        return fit(method, data, some)

    monkeypatch.setattr(replicas, "_fit", watched)
    results = Score.make(tasks, machine)
    next(results)
    assert fits == [1], "each result comes as soon as its batch is done"
    assert len(list(results)) == 2


def test_a_network_that_diverges_stops_no_other_of_its_job(runner, monkeypatch):
    monkeypatch.setattr(side_by_side, "DEVICES", ("cpu",))
    whole = replicas._fit

    def first_diverges(method, data, some):
        first, *others = whole(method, data, some)
        return [np.full_like(first, np.nan), *others]

    monkeypatch.setattr(replicas, "_fit", first_diverges)
    given = SMALL | {"methods": [{"name": "gcn", "spec": "gcn:epochs=2:dim=4:device=cpu"}], "claims": []}
    stopped, *others = outcome_of(experiment_of("small", given), runner).rows
    assert stopped["stopped"].startswith("error: training diverged")
    assert {row["stopped"] for row in others} == {""}
