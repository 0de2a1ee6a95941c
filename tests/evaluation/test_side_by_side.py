"""Scores of fits side by side are those of fits one at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pine
from pine import Graph, InputError
from pine.baselines.gnn import replicas
from pine.datasets import Dataset
from pine.evaluation import side_by_side
from pine.evaluation.protocol import Part
from pine.evaluation.run import scored
from pine.evaluation.side_by_side import runs_side_by_side, scored_side_by_side
from pine.evaluation.variants import parse
from pine.labels import read_labels

QUICK = "dropout=0:epochs=12:dim=8:device=cpu:threads=1"
# With these rates, so few steps already leave the predictions of the most frequent class.
PLANETOID = (
    "planetoid:label_steps=20:graph_steps=40:graph_batch=20:context_rate=0.03:steps=40:learning_rate=2:held_out=0:dim=8"
    ":device=cpu"
)
HELD_OUT = (False, True)
PARTS = [(Part(ratio, repeat, held), repeat) for ratio in (0.01, 0.3) for repeat in (0, 1) for held in HELD_OUT]


def cora() -> Dataset:
    data = pine.datasets.load("cora")
    order = np.random.default_rng(0).permutation(2708)
    return replace(data, splits={"train": order[:140], "val": order[140:400], "test": order[400:]})


def typed() -> Dataset:
    """Authors with label sets, and terms."""
    rng = np.random.default_rng(0)
    edges = np.stack([rng.integers(0, 60, 300), rng.integers(0, 20, 300)], axis=1)
    nodes = {"term": range(20), "author": range(60)}
    graph = Graph.from_relations({("author", "uses", "term"): edges}, nodes=nodes)
    return replace(
        pine.datasets.load("cora"), name="typed", graph=graph, labels={"author": np.eye(3)[edges[:60, 1] % 3]}
    )


def check(data: Dataset, spec: str, wanted: list[tuple[Part, int]]) -> None:
    labels, variant = read_labels(data.graph, data.labels), parse(spec)
    found = list(scored_side_by_side(data, labels, variant, wanted))
    assert len(found) == len(wanted)
    for (part, seed), (scores, seconds) in zip(wanted, found, strict=True):
        ((_, _, expected, _),) = scored(data, labels, {part: [variant]}, seed)
        assert scores == pytest.approx(expected, abs=2e-3)
        assert seconds > 0


@pytest.mark.parametrize("more", ["", ":spread=0.5", ":share=auto"])
def test_parts_and_seeds_at_once_score_what_each_scores_alone(more):
    check(cora(), f"gcn:{QUICK}{more}", PARTS)


@pytest.mark.parametrize("more", ["", ":share=auto"])
def test_on_the_public_split_validation_nodes_choose_the_epoch(more):
    wanted = [(Part("public", repeat, held), repeat) for repeat in (0, 1) for held in HELD_OUT]
    check(cora(), f"gcn:{QUICK}{more}", wanted)


@pytest.mark.parametrize("more", ["", ":spread=0.5", ":share=auto"])
def test_planetoid_scores_on_all_parts_at_once_what_it_scores_on_each_alone(more):
    check(cora(), PLANETOID + more, PARTS)


def test_planetoid_does_not_learn_the_validation_labels_of_the_public_split():
    check(cora(), PLANETOID, [(Part("public", repeat, held), repeat) for repeat in (0, 1) for held in HELD_OUT])


@pytest.mark.parametrize("more", ["", ":types=off", ":share=auto"])
def test_planetoid_learns_classes_of_one_of_several_types(more):
    data = typed()
    labels = {"author": data.labels["author"].argmax(1)}
    check(replace(data, labels=labels), PLANETOID + more, [(Part(0.5, repeat), repeat) for repeat in (0, 1)])


def test_a_planetoid_that_diverges_has_no_scores():
    data = cora()
    variant = parse(PLANETOID.replace("context_rate=0.03", "context_rate=inf"))
    found = list(scored_side_by_side(data, read_labels(data.graph, data.labels), variant, PARTS[:2]))
    assert [scores for scores, _ in found] == [None, None]


def test_vectors_of_another_method_are_features_of_all_parts_of_one_seed():
    spec = f"gcn:{QUICK}:on=propagation:share=auto"
    check(cora(), spec, [each for each in PARTS if each[1] == 1])
    with pytest.raises(InputError, match="its features are made for one seed, got parts with several"):
        check(cora(), spec, PARTS)


@pytest.mark.parametrize("more", ["", ":types=off"])
@pytest.mark.parametrize("method", ["gcn", "rgcn", "gat"])
def test_label_sets_of_a_typed_graph_are_learned_with_its_types_and_without(method, more):
    wanted = [(Part(0.5, repeat), repeat) for repeat in (0, 1)]
    check(typed(), f"{method}:{QUICK}{more}", wanted)


def test_numbers_are_fitted_one_at_a_time(monkeypatch):
    monkeypatch.setattr(replicas, "_fit", None)
    degrees = pine.datasets.load("cora").graph.links().degrees()
    check(replace(cora(), labels=degrees.astype(float)), "gcn:epochs=3:dim=4:device=cpu:threads=1", [(Part(0.5, 0), 0)])


def test_labels_that_planetoid_does_not_learn_are_refused_as_by_a_single_fit():
    data = typed()
    labels, wanted = read_labels(data.graph, data.labels), [(Part(0.5, 0), 0)]
    with pytest.raises(InputError, match="planetoid learns 'classes', these labels are 'label-sets'"):
        list(scored_side_by_side(data, labels, parse("planetoid:device=cpu"), wanted))


def test_only_methods_that_have_replicas_run_side_by_side_and_on_a_gpu_alone(monkeypatch):
    specs = ["gcn:device=cpu", "gat:device=cpu", PLANETOID, "sgc:device=cpu", "pine:device=cpu", "deepwalk"]
    assert not any(runs_side_by_side(parse(spec)) for spec in specs)
    monkeypatch.setattr(side_by_side, "DEVICES", ("cuda", "cpu"))
    assert [runs_side_by_side(parse(spec)) for spec in specs] == [True, True, True, False, False, False]
