"""The experiment on Reddit, on small files of the published form."""

from __future__ import annotations

import io

import numpy as np
import pytest
import scipy.sparse as sp
from rich.console import Console

import pine.reproduce.run as run
from pine.baselines.deepwalk import DeepWalk
from pine.reproduce.command import Asked, reproduce
from pine.reproduce.experiment import read
from pine.reproduce.inductive import walked
from pine.reproduce.inductive.run import learn
from pine.reproduce.inductive.settings import parse
from pine.reproduce.rows import read_rows
from pine.reproduce.run import jobs_of
from pine.reproduce.tasks import Inductive, Machine, labelled
from pine.reproduce.workers import Limits

GROUPS, EACH = 3, 40


@pytest.fixture
def folder(tmp_path):
    """Three groups that are joined within, an attribute that tells them apart with noise, and a split."""
    rng = np.random.default_rng(0)
    label = np.repeat(np.arange(GROUPS), EACH)
    joined = sp.triu(rng.random((len(label), len(label))) < np.where(label[:, None] == label, 0.2, 0.01), 1)
    where = tmp_path / "data" / "reddit"
    where.mkdir(parents=True)
    feature = np.eye(GROUPS)[label] + rng.standard_normal((len(label), GROUPS))
    kinds = rng.permutation(np.arange(len(label)) % 5).clip(1, 3)
    np.savez(where / "reddit_data.npz", feature=feature, label=label, node_types=kinds)
    sp.save_npz(where / "reddit_graph.npz", sp.coo_matrix((joined + joined.T).astype(np.int8)))
    return tmp_path / "data"


def test_it_runs_for_whoever_has_the_files(folder, tmp_path, monkeypatch):
    fits = []
    fit = DeepWalk.fit
    monkeypatch.setattr(DeepWalk, "fit", lambda self, graph: fits.append(1) or fit(self, graph))
    monkeypatch.setattr(
        run, "run_jobs", lambda work, jobs, *_: (made for job in jobs for made in zip(job, work(job), strict=True))
    )
    console = Console(record=True, file=io.StringIO(), width=300)
    machine = Machine(folder, "cpu", 1)
    reproduce(Asked(["reddit"], tmp_path / "out", True, machine, 1, Limits()), console)
    rows = read_rows(tmp_path / "out" / "reddit.csv")
    assert [row["method"] for row in rows] == [method.name for method in read("reddit").methods]
    assert all(0 < row["micro_f1"] <= 1 for row in rows)
    assert len(fits) == 1  # for both tables of vectors, and both rates
    assert "41 classes" in (tmp_path / "out" / "reddit.md").read_text(encoding="utf-8")
    assert "PINE (.951) is above GraphSAGE-pool (.949)" in console.export_text()


def test_vectors_of_walks_are_made_together_and_networks_alone():
    units = [Inductive("reddit", spec, seed) for spec in ("deepwalk", "deepwalk:features=true") for seed in (0, 1)]
    assert [len(job) for job in jobs_of(units)] == [2, 2]
    assert len(jobs_of([Inductive("reddit", "sampled", 0), Inductive("reddit", "sampled:width=8", 0)])) == 2
    assert len(jobs_of([Inductive("reddit", "deepwalk", 0), Inductive("reddit", "deepwalk:walks=8", 0)])) == 2


def test_vectors_of_walks_find_the_groups_and_attributes_stand_beside_them(folder):
    data, labels = labelled("reddit", folder)
    setting = parse("deepwalk:dim=8:walks=20:epochs=60:batch=16")
    assert learn(setting, data, labels, 0, "cpu", 1).test > 0.9
    both = walked.walked(parse("deepwalk:dim=8:walks=20:features=true"), data, 0, 1).features
    assert both.shape == (GROUPS * EACH, 8 + GROUPS)
    np.testing.assert_array_equal(both[:, 8:], data.features)
