"""Labels that are held out, or given for validation, say how long a network is trained; it does not learn from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from support.graphs import two_groups
from support.training import steps_of
from torch import nn
from torch.nn import functional

from pine import Graph
from pine.baselines import APPNP, GAT, GCN, GCNII, GRAND, MLP, SGC, GraphSAGE, LogisticRegression
from pine.baselines.gnn.gcn import GCNNetwork
from pine.baselines.gnn.training import HeldOut, LabeledGraph, best_epoch, labeled_scores
from pine.labels import read_labels
from pine.nn.targets import Targets
from pine.nn.training import EarlyStopping

GROUPS, LABEL = two_groups()
COUNTS = np.random.default_rng(0).poisson(0.7 + LABEL[:, None] * np.arange(6) / 6).astype(np.float32)
GRAPH = GROUPS.with_features({"node": COUNTS})
VALIDATION = np.arange(40) % 4 == 1


def labeled(graph: Graph, labels: Any) -> LabeledGraph:
    return LabeledGraph.of(graph, read_labels(graph, labels), GCNNetwork, torch.device("cpu"), None)


class Scripted:
    """Stands for a trainer: right about the labels that it was not shown after a number of steps, and never else."""

    def __init__(self, data: LabeledGraph, targets: Targets, right_after: int) -> None:
        self.shown, self.right_after, self.taken = targets.positions.numpy(), right_after, 0
        self.network = nn.Linear(1, 1)
        self.label = torch.tensor(data.labels.values)

    def step(self) -> None:
        self.taken += 1

    def outputs(self) -> torch.Tensor:
        right = torch.full((40,), self.taken == self.right_after)
        right[self.shown] = True
        given = torch.where(right, self.label, 1 - self.label)
        return functional.one_hot(given, 2).float() * (1 + self.taken)


@pytest.mark.parametrize("right_after", [1, 4])
def test_the_first_training_sees_four_fifths_of_the_labels_and_is_judged_by_the_others(right_after):
    graph, label = two_groups()
    data = labeled(graph, label)
    made = []

    def start(targets):
        made.append(Scripted(data, targets, right_after))
        return made[-1]

    assert best_epoch(data, start, 60, EarlyStopping(5), np.random.default_rng(0)) == right_after
    (trainer,) = made
    assert len(set(trainer.shown)) == 32
    assert trainer.taken == right_after + 5


def test_some_of_the_numbers_keep_the_units_of_all():
    graph, label = two_groups()
    data = labeled(graph, 1000.0 + 10 * label)
    some = data.targets.some(np.arange(40) < 10)
    assert some.values.tolist() == [-1] * 10
    assert some.positions.tolist() == list(range(10))
    outputs = torch.tensor([[-1.0], [0.0], [2.0]]).repeat(40, 1)[:40]
    assert labeled_scores(graph, data.labels, outputs)[:3, 0].tolist() == [1000, 1005, 1015]


def test_validation_labels_of_numbers_have_the_units_of_the_learned_ones():
    numbers = 1000.0 + 10 * LABEL
    data, others = labeled(GROUPS, numbers), read_labels(GROUPS, {0: 1000.0, 39: 1030.0})
    held = HeldOut.of(data, others)
    assert held.targets.values.tolist() == [-1, 5]
    loss, score = held.judge(torch.full((40, 1), 1.0))
    assert loss == pytest.approx((2**2 + 4**2) / 2)
    assert score == pytest.approx(-(10**2 + 20**2) / 2)


# ---- every network ----

NETWORKS = (GCN, GAT, GraphSAGE, LogisticRegression, MLP, SGC, APPNP, GCNII, GRAND)


@pytest.fixture(params=NETWORKS, ids=lambda network: network.name)
def network(request):
    return request.param


def quick(network, **settings):
    fewer = {"layers": 4} if network is GCNII else {}
    return network(**({"epochs": 12, "threads": 1} | fewer | settings))


def test_validation_labels_are_not_learned_from(network):
    wrong = np.where(VALIDATION, 1 - LABEL, LABEL)
    one, other = (
        quick(network, epochs=1).fit(GRAPH, each, validation=VALIDATION).predict_proba() for each in (LABEL, wrong)
    )
    np.testing.assert_array_equal(one, other)
    learned = quick(network, epochs=1).fit(GRAPH, wrong)
    assert not np.array_equal(one, learned.predict_proba())


def test_the_network_is_that_of_the_best_epoch(network):
    """A training of as many epochs as the best one, judged by the same labels, ends with the same weights."""
    noise = np.random.default_rng(1).integers(0, 2, 40)  # so that the best is not the last
    given = np.where(VALIDATION, noise, LABEL)
    chosen = quick(network, learning_rate=0.1).fit(GRAPH, given, validation=VALIDATION)
    ends = [quick(network, learning_rate=0.1, epochs=n).fit(GRAPH, given, validation=VALIDATION) for n in range(1, 13)]
    score = [(each.predict() == given)[VALIDATION].mean() for each in ends]
    assert any(np.array_equal(each.embedding_, chosen.embedding_) for each in ends)
    if network.criterion == "score":
        assert (chosen.predict() == given)[VALIDATION].mean() == max(score)


def test_one_training_serves_where_there_are_validation_labels(network):
    steps = steps_of(lambda: quick(network).fit(GRAPH, LABEL, validation=VALIDATION))
    assert len(steps) == 1
    assert steps[0] <= 12
    if not hasattr(network, "patience"):
        assert steps == [12]


@pytest.mark.parametrize("network", [GAT, APPNP, GCNII, GRAND], ids=lambda network: network.name)
def test_patience_ends_a_training_by_validation_labels(network):
    noise = np.where(VALIDATION, 1 - LABEL, LABEL)  # the better the network, the worse its score
    (steps,) = steps_of(
        lambda: quick(network, epochs=400, patience=3, learning_rate=0.05).fit(GRAPH, noise, validation=VALIDATION)
    )
    assert steps < 400


def test_numbers_and_label_sets_are_validated_too(network):
    sets = np.eye(2, dtype=int)[LABEL]
    for labels in (1000.0 + 10 * LABEL, sets):
        model = quick(network, learning_rate=0.05).fit(GRAPH, labels, validation=np.flatnonzero(VALIDATION))
        assert np.isfinite(model.predict()).all()
