"""Every experiment file can be run as it stands, and a wrong one is refused when it is read."""

from __future__ import annotations

import pytest

from pine import InputError
from pine.reproduce.claims import CHECKS
from pine.reproduce.experiment import Experiment, names, read

SMALL = {"title": "t", "place": "p", "kind": "scores", "datasets": ["cora"], "ratios": [0.5], "metrics": ["accuracy"]}
METHOD = {"name": "A", "spec": "gcn"}


@pytest.mark.parametrize("name", names())
def test_a_file_names_what_there_is(name):
    experiment = read(name)
    methods = {method.name for method in experiment.methods}
    for claim in experiment.claims:
        assert claim.check in CHECKS
        named = [claim.needs[key] for key in ("method", "second_to") if key in claim.needs]
        assert {*named, *claim.needs.get("over", ()), *claim.needs.get("methods", ())} <= methods
    assert all(0 < ratio < 1 for ratio in experiment.ratios)
    if experiment.kind == "scores":
        assert experiment.metrics
        assert len({(m.name, m.panel) for m in experiment.methods}) == len(experiment.methods)


@pytest.mark.parametrize("name", names())
def test_a_quick_slice_is_a_part_of_the_whole(name):
    whole, slice_ = read(name), read(name).quicker()
    assert set(slice_.datasets) <= set(whole.datasets)
    assert set(slice_.ratios) <= set(whole.ratios)
    assert set(slice_.sizes) <= set(whole.sizes)
    assert slice_.repeats <= whole.repeats
    assert slice_.methods or not whole.methods
    assert all(set(m.values) <= set(next(w for w in whole.methods if (w.name, w.panel) == (m.name, m.panel)).values)
               for m in slice_.methods)  # fmt: skip


def test_the_papers_experiments_are_all_there():
    assert {"homogeneous", "tsne", "dimension", "heterogeneous", "parameters", "ablation", "theory"} <= set(names())
    homogeneous = read("homogeneous")
    assert len(homogeneous.datasets) * len(homogeneous.ratios) == 45
    assert len(homogeneous.methods) == 11
    assert homogeneous.repeats == 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"methds": []}, "'methds', which is unknown"),
        ({"quick": {"metrics": []}}, "'metrics', which is unknown"),
        ({"quick": {"methods": ["B"]}}, "'B', which is unknown"),
        ({"kind": "score"}, "kind"),
        ({"datasets": ["corra"]}, "'corra', which is unknown"),
        ({"methods": [METHOD | {"spec": "gcnn"}]}, "unknown method 'gcnn'"),
        ({"methods": [METHOD | {"spec": "gcn:dim={}"}]}, "values stand for {}"),
        ({"methods": [METHOD | {"values": [1]}]}, "values stand for {}"),
        ({"methods": [METHOD | {"search": ["gcn"] * 8}]}, "at most 7"),
        ({"methods": [{"name": "A"}]}, "spec"),
        ({"methods": [METHOD | {"serch": []}]}, "'serch', which is unknown"),
        ({"claims": [{"text": "t"}]}, "'place' is missing"),
    ],
)
def test_a_wrong_file_is_refused_in_a_sentence(change, message):
    with pytest.raises(InputError, match=message):
        Experiment.of("wrong", SMALL | {"methods": [METHOD]} | change)


def test_an_unknown_experiment_is_refused_with_those_there_are():
    with pytest.raises(InputError, match=r"'homogenous'; there are .*'homogeneous'"):
        read("homogenous")
