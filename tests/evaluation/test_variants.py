"""Variants of a method: how a spec is read, what it changes in a run, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import pytest

import pine
from pine import METHODS, PINE, Graph, InputError
from pine.baselines import LabelPropagation
from pine.embedder import Embedder, Fitted
from pine.evaluation import Variant, evaluate, split
from pine.evaluation.run import untyped
from pine.evaluation.variants import parse, sharing_fits
from pine.labels import read_labels


def test_a_spec_is_a_name_with_settings_and_keeps_its_spelling():
    assert parse("pine") == Variant("pine", PINE)
    spec = "pine:lam=inf:epochs=50:scaling=sum:conditioned=false:threads=none:spread=0.5"
    variant = parse(spec)
    assert variant.name == spec
    assert variant.settings == {
        "lam": float("inf"), "epochs": 50, "scaling": "sum", "conditioned": False, "threads": None
    }  # fmt: skip
    assert variant.spread == 0.5
    model = variant.new(seed=4).get_params()
    assert (model["lam"], model["function__scaling"], model["seed"]) == (float("inf"), "sum", 4)
    assert parse("label-propagation:alpha=1e-3").settings == {"alpha": 0.001}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("magic:lam=1", "unknown method 'magic'"),
        ("pine:lma=1", "'pine:lma=1': pine has no setting 'lma'; did you mean 'lam'?"),
        ("pine:epochs=many", "epochs takes a whole number of at least 0 or none, got 'many'"),
        ("pine:epochs=1.5", "epochs takes a whole number of at least 0 or none, got '1.5'"),
        ("pine:epochs=true", "epochs takes a whole number of at least 0 or none, got 'true'"),
        ("pine:dropout=nan", "dropout takes a number of at least 0 and below 1, got 'nan'"),
        ("pine:lam=big", "lam takes a number above 0 or none, got 'big'"),
        ("pine:scaling=cube", "scaling takes 'sum' or 'sqrt', got 'cube'"),
        ("pine:conditioned=1", "conditioned takes true or false, got '1'"),
        *(
            (
                f"metapath2vec:metapaths={wrong}",
                "metapaths takes cycles of node types such as author-term-author (several joined by +) or none, "
                f"got {wrong!r}",
            )
            for wrong in ("author", "author-term", "author--author", "-", "a-a+", "a-b-a+b", "3", "true")
        ),
        ("pine:lam", "a spec is NAME:key=value"),
        ("pine:lam=", "a spec is NAME:key=value"),
        ("pine:lam=1:lam=2", "each key once"),
        ("pine:seed=3", "the seed is the number of the repeat"),
        ("pine:spread=2", "spread must be a number of at least 0 and below 1"),
        ("pine:spread=far", "spread must be a number of at least 0 and below 1"),
        ("pine:labels=no", "labels takes on or off, got 'no'"),
        ("label-propagation:labels=off", "label-propagation learns from labels and cannot do without them"),
        ("start:labels=off", "propagation never sees labels"),
        ("start:spread=0.5", "no predictions of its own to spread"),
        ("pine:labels=off:spread=0.5", "no predictions of its own to spread"),
    ],
)
def test_what_a_spec_cannot_say_is_refused_in_one_sentence(spec, message):
    with pytest.raises(InputError) as refused:
        parse(spec)
    assert message in str(refused.value)


def test_metapaths_are_node_types_joined_and_several_have_a_plus_between_them():
    assert parse("metapath2vec:metapaths=author-term-author").settings == {"metapaths": (("author", "term", "author"),)}
    two = parse("metapath2vec:metapaths=a-b-a+b-b:walks=2:dim=4")
    assert two.settings == {"metapaths": (("a", "b", "a"), ("b", "b")), "walks": 2, "dim": 4}
    assert parse("metapath2vec:metapaths=none").settings == {"metapaths": None}
    assert parse("metapath2vec:metapaths=1-1").settings == {"metapaths": (("1", "1"),)}


def test_metapaths_of_a_spec_are_walked():
    graph, groups = typed()
    data = replace(
        pine.datasets.load("cora"), name="typed", graph=graph, labels={"author": groups[graph.ids("author")]}
    )
    quick = "walks=4:length=20:dim=8:threads=1"
    specs = [f"metapath2vec:metapaths={each}:{quick}" for each in ("author-word-author", "none")]
    own, all_pairs = evaluate(data, specs, [0.5], 1)
    assert own.method == specs[0]
    assert own.scores == all_pairs.scores, "there is one pair of types that are linked"
    with pytest.raises(InputError, match="no relation links 'author' and 'author'"):
        list(evaluate(data, [f"metapath2vec:metapaths=author-author:{quick}"], [0.5], 1))


@dataclass
class Majority(Embedder):
    """The mean label for everyone, noise for vectors; counts its fits, with labels and without."""

    name: ClassVar[str] = "majority"
    supervised: ClassVar[bool] = True
    needs_labels: ClassVar[bool] = False
    fits: ClassVar[list[bool]] = []
    seed: int | None = None
    mode: Literal["a", "b"] = "a"

    def _fit(self, graph, labels, rng):
        Majority.fits.append(labels is not None)
        vectors = rng.standard_normal((graph.num_nodes, 2)).astype(np.float32)
        if labels is None:
            return Fitted(vectors)
        scores = np.tile(labels.targets().mean(axis=0), (graph.count(labels.type), 1))
        return Fitted(vectors, scores.astype(np.float32))


@pytest.fixture
def majority(monkeypatch):
    monkeypatch.setitem(METHODS, "majority", Majority)
    Majority.fits = []
    return Majority


def test_variants_that_differ_in_spread_share_a_fit_and_others_do_not(majority):
    specs = ["majority", "majority:mode=b", "majority:spread=0.5", "majority:spread=0.2"]
    assert [len(group) for group in sharing_fits([parse(spec) for spec in specs])] == [3, 1]
    results = list(evaluate(pine.datasets.load("cora"), specs, [0.1, 0.5], 2))
    assert majority.fits == [True] * 8
    assert {result.method for result in results} == set(specs)
    assert len(results) == 16


def test_spread_predictions_are_those_of_predict(majority):
    data = pine.datasets.load("cora")
    plain, spread = evaluate(data, ["majority", "majority:spread=0.5"], [0.5], 1)
    assert plain.scores["accuracy"] < 0.35
    parts = split("cora", np.arange(2708), 0.5, 0)
    seen = np.full(2708, -1)
    seen[parts.train] = data.labels[parts.train]
    predicted = majority(seed=0).fit(data.graph, seen).predict(graph=data.graph, spread=0.5)
    accuracy = (predicted == data.labels)[parts.test].mean()
    assert spread.scores["accuracy"] == accuracy
    assert accuracy > 0.7, "half of the labels are known, and neighbors say the rest"


def test_without_labels_vectors_are_made_once_a_repeat_and_scored_by_logistic_regression(majority):
    results = list(evaluate(pine.datasets.load("cora"), ["majority:labels=off"], [0.1, 0.5], 2))
    assert majority.fits == [False, False]
    assert len(results) == 4
    assert {result.method for result in results} == {"majority:labels=off"}


def typed() -> tuple[Graph, np.ndarray]:
    rng = np.random.default_rng(0)
    groups = np.arange(60) % 3
    uses = [(a, b) for a in range(60) for b in range(30) if rng.random() < (0.4 if groups[a] == b % 3 else 0.02)]
    return Graph.from_relations({("author", "uses", "word"): uses}, nodes={"word": range(30)}), groups


def test_a_graph_seen_as_one_type_has_the_same_neighbors_and_labels():
    graph, groups = typed()
    labels = read_labels(graph, {"author": groups[graph.ids("author")]})
    plain, moved = untyped(graph, labels)
    assert plain.node_types == ("node",)
    np.testing.assert_array_equal(plain.to_scipy().toarray(), graph.to_scipy().toarray())
    place = graph.nodes.slice("author")
    np.testing.assert_array_equal(moved.known, place.start + labels.known)
    np.testing.assert_array_equal(moved.values, labels.values)


def test_types_off_scores_the_same_nodes_and_label_propagation_does_not_notice():
    graph, groups = typed()
    labels = {"author": groups[graph.ids("author")]}
    data = replace(pine.datasets.load("cora"), name="typed", graph=graph, labels=labels)
    results = list(evaluate(data, ["label-propagation", "label-propagation:types=off"], [0.3], 2))
    own, one = results[:2], results[2:]
    assert [result.scores for result in own] == [result.scores for result in one]
    with pytest.raises(InputError, match="cora has one node type already"):
        evaluate(pine.datasets.load("cora"), ["pine:types=off"], [0.5], 1)


def test_classes_by_name_and_variants_are_taken_as_well_as_specs():
    data = pine.datasets.load("cora")
    (by_class,) = evaluate(data, {"lp": LabelPropagation}, [0.5], 1)
    (by_variant,) = evaluate(data, [Variant("lp", LabelPropagation)], [0.5], 1)
    assert by_class.scores == by_variant.scores
    assert by_class.method == by_variant.method == "lp"


def test_the_papers_own_settings_have_a_key_and_others_may_change_them():
    printed = parse("pine:paper=one-type").new(3)
    assert printed.get_params() == pine.PINE.paper(seed=3).get_params()
    assert parse("pine:paper=typed:epochs=7").new(0).get_params() == pine.PINE.paper(typed=True, epochs=7).get_params()
    with pytest.raises(InputError, match="paper takes 'one-type', 'typed', got 'on'"):
        parse("pine:paper=on")
    with pytest.raises(InputError, match="leave paper= out"):
        parse("label-propagation:paper=typed")
