"""A share of propagated labels in the predictions of any method."""

from __future__ import annotations

import time

import numpy as np
import pytest

import pine
from pine.evaluation import evaluate
from pine.evaluation.label_share import predict_with_share
from pine.labels import read_labels
from pine.model.choice import LABEL_SHARES

DATA = pine.datasets.load("cora")
LABELS = read_labels(DATA.graph, np.where(np.arange(2708) % 3, -1, DATA.labels))


def test_a_method_that_knows_needs_no_share_and_one_that_guesses_takes_one():
    seen = []

    def knows(labels):
        seen.append(set(labels.known))
        return np.eye(7)[DATA.labels]

    scores, share = predict_with_share(DATA.graph, LABELS, knows, seed=0)
    assert share == 0
    assert (scores.argmax(axis=1) == DATA.labels).all()
    _, share = predict_with_share(DATA.graph, LABELS, lambda labels: np.full((2708, 7), 1 / 7), seed=0)
    assert share in LABEL_SHARES[1:]
    *parts, whole = seen
    assert whole == set(LABELS.known)
    assert [len(whole - part) for part in parts] == [181, 181], "a fifth is held out, then another"
    assert not (whole - parts[0]) & (whole - parts[1])


def test_too_few_labels_take_no_share():
    few = LABELS.some(np.arange(len(LABELS.known)) < 9)
    asked = []

    def ones(labels):
        asked.append(labels)
        return np.ones((2708, 7))

    scores, share = predict_with_share(DATA.graph, few, ones, seed=0)
    assert (share, asked) == (0, [few])
    np.testing.assert_array_equal(scores, 1)


def test_specs_give_a_share_to_predictions_and_to_regressions_on_vectors():
    quick = "propagation:dim=4:threads=1"
    plain, mixed = evaluate(DATA, [quick, f"{quick}:share=auto"], [0.5], 1)
    assert mixed.scores["accuracy"] > plain.scores["accuracy"] + 0.05, "four numbers say less than neighbors' labels"
    network = "gcn:epochs=3:dim=4:threads=1:device=cpu"
    plain, mixed = evaluate(DATA, [network, f"{network}:share=auto"], [0.5], 1)
    assert mixed.scores["accuracy"] > plain.scores["accuracy"] + 0.2, "three epochs teach little"


def test_vectors_of_another_method_are_features_of_a_network():
    network = "gcn:epochs=30:threads=1:device=cpu"
    own, other = evaluate(DATA, [network, f"{network}:on=propagation"], [0.1], 1)
    assert own.scores != other.scores
    assert other.scores["accuracy"] > 0.6


def test_the_seconds_of_a_network_hold_those_of_the_vectors_that_it_is_given(monkeypatch):
    moments = iter(range(0, 1000, 10))
    monkeypatch.setattr(time, "perf_counter", lambda: next(moments))  # ten seconds between two looks
    network = "gcn:epochs=1:threads=1:device=cpu"
    own, given = evaluate(DATA, [network, f"{network}:on=propagation"], [0.1], 1)
    assert given.seconds == own.seconds == 30, "inputs, fit, predictions"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gcn:share=0.5", "share takes auto, got '0.5'"),
        ("pine:share=auto", "pine has a share of its own; leave share= out"),
        ("gcn:share=auto:spread=0.5", "predictions are spread, or mixed with propagated labels; leave one out"),
        ("deepwalk:on=propagation", "deepwalk takes no vectors as features; leave on= out"),
        ("gcn:on=gat", "on takes a method that learns vectors without labels, got 'gat'"),
        ("gcn:on=magic", "unknown method 'magic'"),
    ],
)
def test_what_has_no_sense_is_refused(spec, message):
    with pytest.raises(pine.InputError) as refused:
        pine.evaluation.variants.parse(spec)
    assert message in str(refused.value)
