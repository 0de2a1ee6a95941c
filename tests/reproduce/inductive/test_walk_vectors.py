"""The experiment on Reddit, on small files of the published form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from support.reproduce import InProcess

from pine.baselines import DeepWalk
from pine.reproduce.catalog import find
from pine.reproduce.inductive.run import learn
from pine.reproduce.inductive.settings import WalkSettings, parse
from pine.reproduce.inductive.walk_vectors import with_walk_vectors
from pine.reproduce.kinds.inductive import Inductive
from pine.reproduce.reproduction import ReproduceOptions, reproduce
from pine.reproduce.rows import read_rows
from pine.reproduce.runner import jobs_of
from pine.reproduce.tasks import Machine

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

    class Counted(DeepWalk):
        def fit(self, *given: Any, **options: Any) -> Any:
            fits.append(1)
            return super().fit(*given, **options)

    monkeypatch.setattr("pine.reproduce.inductive.walk_vectors.DeepWalk", Counted)
    claims = []
    options = ReproduceOptions(["reddit"], tmp_path / "out", quick=True, machine=Machine(folder, "cpu", 1))
    reproduce(options, on_verdict=lambda _, verdict: claims.append(verdict.claim.text), run_jobs=InProcess())
    rows = read_rows(tmp_path / "out" / "reddit.csv")
    assert [row["method"] for row in rows] == [method.name for method in find("reddit").methods]
    assert all(0 < row["micro_f1"] <= 1 for row in rows)
    assert len(fits) == 1  # for both tables of vectors, and both rates
    assert "41 classes" in (tmp_path / "out" / "reddit.md").read_text(encoding="utf-8")
    assert claims[0].startswith("PINE (.951) is above GraphSAGE-pool (.949)")


def test_vectors_of_walks_are_made_together_and_networks_alone():
    tasks = [Inductive("reddit", spec, seed) for spec in ("deepwalk", "deepwalk:features=true") for seed in (0, 1)]
    assert [len(job) for job in jobs_of(tasks, Machine())] == [2, 2]
    assert len(jobs_of([Inductive("reddit", "sampled", 0), Inductive("reddit", "sampled:width=8", 0)], Machine())) == 2
    assert (
        len(jobs_of([Inductive("reddit", "deepwalk", 0), Inductive("reddit", "deepwalk:walks=8", 0)], Machine())) == 2
    )


def test_vectors_of_walks_find_the_groups_and_attributes_stand_beside_them(folder):
    data, labels = Machine(folder).labeled("reddit")
    setting = parse("deepwalk:dim=8:walks=20:epochs=60:batch=16")
    assert learn(setting, data, labels, 0, "cpu", 1).test > 0.9
    setting = parse("deepwalk:dim=8:walks=20:features=true")
    assert isinstance(setting, WalkSettings)
    both = with_walk_vectors(setting, data, 0, 1).features
    assert both.shape == (GROUPS * EACH, 8 + GROUPS)
    np.testing.assert_array_equal(both[:, 8:], data.features)
