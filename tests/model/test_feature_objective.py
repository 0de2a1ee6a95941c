"""What is minimized over maps of features: its terms by hand, and who learns from whom."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

from pine import Graph
from pine.labels import read_labels
from pine.model import feature_objective as module
from pine.model.feature_objective import FeatureObjective
from pine.model.features import FeatureVectors, feature_columns
from pine.model.node_terms import VisibleTargets
from pine.nn.functional import sharpened
from pine.nn.targets import Targets
from pine.propagation import FeaturePropagator

CPU = torch.device("cpu")
RNG = np.random.default_rng(0)
GRAPH = Graph.from_edges(RNG.integers(12, size=(20, 2)), nodes=range(12), features=RNG.normal(size=(12, 4)))
LABELS = {
    "classes": np.array([0, 1, 2, -1, 0, -1, -1, -1, 2, 1, -1, -1]),
    "label-sets": np.where(np.arange(12)[:, None] < 6, RNG.integers(2, size=(12, 3)), -1),
    "numbers": np.where(np.arange(12) < 6, RNG.normal(size=12), np.nan),
}


def objective(task: str, agreement: bool = True, hidden: int | None = None) -> FeatureObjective:
    labels = read_labels(GRAPH, LABELS[task], task)
    generator = torch.Generator().manual_seed(0)
    made = FeatureVectors(
        feature_columns(GRAPH, ["node"], CPU, None), FeaturePropagator(GRAPH, 2, CPU, None), 12, 6, generator
    )
    seen = (np.arange(len(labels.known)) != hidden).astype(np.float32)
    visible = VisibleTargets(Targets.of(GRAPH, labels, CPU), torch.tensor(seen))
    return FeatureObjective(made, slice(0, 12), visible, generator, agreement=agreement)


@pytest.fixture
def without_dropout(monkeypatch):
    monkeypatch.setattr("pine.model.features.NODE_DROPOUT", 0.0)


@pytest.mark.parametrize("task", LABELS)
def test_the_terms_are_the_formula(task, without_dropout):
    made = objective(task)
    terms = made.loss(torch.Generator(), 0.5)
    c, o = made.vectors()
    by_c, by_o = c @ made.w[:, :3].mT + made.b[0], o @ made.w[:, 3:].mT + made.b[1]
    targets = made.visible.targets
    torch.testing.assert_close(terms["labels"], targets.loss(by_c))
    torch.testing.assert_close(terms["own labels"], targets.loss(by_o))
    p, p_own = (
        each.softmax(-1) if task == "classes" else each.sigmoid() if task == "label-sets" else each
        for each in (by_c, by_o)
    )
    torch.testing.assert_close(
        terms["consistency"],
        0.5 * module.CONSISTENCY * made.guess**2 * (p - sharpened(task, p, module.SHARPNESS)).square().sum(-1).mean(),
    )
    # Nodes that have a label are told by it.
    apart = (p_own - p).square().sum(-1).index_fill(0, targets.positions, 0.0)
    torch.testing.assert_close(terms["agreement"], 0.5 * module.AGREEMENT * apart.mean())
    A, own_A = made.vectors.A[0].split(3, dim=1)
    decay = module.FEATURE_DECAY * A.square().sum() + module.OWN_DECAY * own_A.square().sum()
    torch.testing.assert_close(terms["l2"], decay / len(targets.values))
    torch.testing.assert_close(made.predictions(), (p.detach(), p_own.detach()))


@pytest.mark.parametrize("agreement", [False, True])
@pytest.mark.parametrize("task", LABELS)
def test_terms_and_gradients_by_hand_are_those_of_the_definition(task, agreement):
    made = objective(task, agreement, hidden=1)
    scores = made._scores(torch.Generator().manual_seed(1)).detach().requires_grad_()
    expected = made._terms(scores, 0.7)
    slopes = torch.autograd.grad(torch.stack(list(expected.values())).sum(), [scores, *made.vectors.A])
    with torch.no_grad():
        terms, by_hand = made._terms_and_gradients(scores, 0.7)
    assert list(terms) == list(expected)
    torch.testing.assert_close(terms, {name: each.detach() for name, each in expected.items()})
    torch.testing.assert_close(by_hand, list(slopes))


def test_probabilities_are_sharpened_and_stay_probabilities():
    p = torch.tensor([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0]])
    sharp = sharpened("classes", p, 2.0)
    torch.testing.assert_close(sharp.sum(-1), torch.ones(2))
    assert sharp[0, 0] > 0.5
    torch.testing.assert_close(
        sharpened("label-sets", torch.tensor([[0.5, 0.9]]), 2.0), torch.tensor([[0.5, 0.81 / 0.82]])
    )
    torch.testing.assert_close(sharpened("numbers", p, 2.0), p)


def test_own_features_learn_from_the_neighbors_only_as_far_as_they_are_told_to(without_dropout):
    for agreement in (False, True):
        made = objective("classes", agreement)
        terms = made.loss(torch.Generator(), 1.0)
        assert ("agreement" in terms) == agreement
        if agreement:
            term = made._terms(made._scores(torch.Generator()), 1.0)["agreement"]
            slope = torch.autograd.grad(term, [made.w, made.vectors.A[0]])
            # The neighbors' half learns nothing from it.
            assert not slope[0][:, :3].any()
            assert not slope[1][:, :3].any()
            assert slope[1][:, 3:].abs().max() > 0


def test_labels_that_are_not_seen_do_not_count(without_dropout):
    made = objective("classes")
    seen = torch.tensor([1.0, 1.0, 0.0, 1.0, 0.0, 1.0])
    hidden = FeatureObjective(
        made.vectors, made.place, VisibleTargets(made.visible.targets, seen), torch.Generator(), agreement=True
    )
    hidden.load_state_dict(made.state_dict())
    scores = made.vectors()[0] @ made.w[:, :3].mT + made.b[0]
    targets = made.visible.targets
    each = functional.cross_entropy(scores[targets.positions], targets.values, reduction="none")
    torch.testing.assert_close(hidden.loss(torch.Generator(), 1.0)["labels"], (each * seen).sum() / seen.sum())


def test_a_guess_among_classes_costs_the_logarithm_of_their_number():
    for classes in (2, 7):
        uniform = torch.nn.functional.cross_entropy(torch.zeros(1, classes), torch.zeros(1).long())
        assert module.loss_of_a_guess("classes", classes) == pytest.approx(float(uniform))
    assert module.loss_of_a_guess("classes", 1) > 0  # of one class there is nothing to guess, and nothing breaks
    assert module.loss_of_a_guess("label-sets", 50) == module.loss_of_a_guess("classes", 2)
