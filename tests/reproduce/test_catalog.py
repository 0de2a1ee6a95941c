"""Every experiment file can be run as it stands, and a wrong one is refused when it is read."""

from __future__ import annotations

import pytest

from pine import InputError
from pine.datasets.catalog import CATALOG
from pine.reproduce.catalog import experiment_of, experiments, find
from pine.reproduce.kinds import KINDS

SMALL = {"title": "t", "place": "p", "kind": "scores", "datasets": ["cora"], "ratios": [0.5], "metrics": ["accuracy"]}
METHOD = {"name": "A", "spec": "gcn"}


@pytest.mark.parametrize("name", experiments())
def test_a_file_names_what_there_is(name):
    experiment = find(name)
    methods = {method.name for method in experiment.methods}
    for claim in experiment.claims:
        assert claim.check in KINDS[experiment.kind].checks
        named = [claim.needs[key] for key in ("method", "second_to") if key in claim.needs]
        assert {*named, *claim.needs.get("over", ()), *claim.needs.get("methods", ())} <= methods
    assert all(ratio == "public" or 0 < ratio < 1 for ratio in experiment.ratios)
    if experiment.kind == "scores":
        assert experiment.metrics
        assert len({(m.name, m.panel) for m in experiment.methods}) == len(experiment.methods)


@pytest.mark.parametrize("name", experiments())
def test_a_quick_slice_is_a_part_of_the_whole(name):
    whole, slice_ = find(name), find(name).quicker()
    assert set(slice_.datasets) <= set(whole.datasets)
    assert set(slice_.ratios) <= set(whole.ratios)
    assert set(slice_.sizes) <= set(whole.sizes)
    assert slice_.repeats <= whole.repeats
    assert slice_.methods or not whole.methods
    assert not slice_.slow
    assert all(set(m.values) <= set(next(w for w in whole.methods if (w.name, w.panel) == (m.name, m.panel)).values)
               for m in slice_.methods)  # fmt: skip


def test_the_papers_experiments_are_all_there():
    assert {"homogeneous", "tsne", "dimension", "heterogeneous", "parameters", "ablation", "theory"} <= set(
        experiments()
    )
    homogeneous = find("homogeneous")
    assert len(homogeneous.datasets) * len(homogeneous.ratios) == 45
    assert len(homogeneous.methods) == 16
    assert homogeneous.repeats == 20


def test_experiments_that_say_so_name_data_sets_used_for_no_choice_alone_and_have_no_search():
    found = [each for name, each in experiments().items() if name.startswith("untouched")]
    datasets = {dataset for experiment in found for dataset in experiment.datasets}
    assert datasets == {name for name, entry in CATALOG.items() if entry.untouched and not name.startswith("airports")}
    assert not any(method.search for experiment in found for method in experiment.methods)
    others = {dataset for name, each in experiments().items() if each not in found for dataset in each.datasets}
    assert not datasets & others


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
        ({"methods": [METHOD | {"spec": "gcn:dim=8:dim=9"}]}, "each key once"),
        ({"quick": {"also": ["epoch=3"]}}, "gcn has no setting 'epoch'"),
        ({"claims": [{"text": "t"}]}, "'place' is missing"),
        ({"ratios": [0.5, "publc"]}, "ratios are between 0 and 1, or 'public', got 'publc'"),
        ({"ratios": [1.5]}, "ratios are between 0 and 1"),
        ({"quick": {"ratios": [2]}}, "ratios are between 0 and 1"),
        ({"kind": "maps", "features": True}, "features = true is for kinds that mute them, not for 'maps'"),
        (
            {"claims": [{"text": "t", "place": "p", "check": "clusters"}]},
            "check must be one of 'first', 'level', 'above', 'rises'",
        ),
    ],
)
def test_a_wrong_file_is_refused_in_a_sentence(change, message):
    with pytest.raises(InputError, match=message):
        experiment_of("wrong", SMALL | {"methods": [METHOD]} | change)


def test_an_unknown_experiment_is_refused_with_those_there_are():
    with pytest.raises(InputError, match=r"'homogenous'; there are .*'homogeneous'"):
        find("homogenous")


def test_quick_settings_replace_those_of_a_spec():
    quick = find("ppi").quicker()
    pine = next(method for method in quick.methods if method.name == "PINE")
    assert pine.spec.startswith("sampled:aggregator=pine:hidden=48:projections=16:scales=4:graphs=2")
