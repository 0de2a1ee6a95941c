"""The objective is the formula: compared with a plain computation, term by term."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from pine import Graph
from pine.labels import read_labels
from pine.metrics import held_out_score
from pine.model.form import Form
from pine.model.neighborhoods import NeighborFunction, neighborhoods
from pine.model.objective import Objective, Targets
from pine.model.selection import CANDIDATES, Choice, best, folds, lambdas
from pine.nn import SetFunction, set_function_reference

GRAPH = Graph.from_relations({("a", "r", "b"): [(0, 0), (1, 0), (1, 1), (2, 1)], ("a", "s", "a"): [(0, 1), (1, 2)]})
FORM = Form(
    dim=4, hidden=5, projections=3, scales=2, activation="tanh", heads="shared", conditioned=False, scaling="mean",
    groups="type", functions="shared", attributes=False,
)  # fmt: skip


def objective(lambdas, seen, **changes):
    around = neighborhoods(FORM, GRAPH, GRAPH.groups(), torch.device("cpu"), None)
    f = NeighborFunction(FORM, around, torch.Generator().manual_seed(1), batch=len(lambdas))
    labels = read_labels(GRAPH, {"a": np.array([0, 1, 1])})
    targets = Targets.of(GRAPH, labels, np.array(seen), torch.device("cpu"))
    settings = {"weight_decay": 0.1, "entropy": 0.0, "on_f": True, "guard": 0.0} | changes
    start = torch.randn(5, 4, generator=torch.Generator().manual_seed(2))
    types = [GRAPH.nodes.slice(type) for type in GRAPH.node_types]
    made = Objective((5, 4), f, types, torch.tensor(lambdas), targets, **settings)
    w = torch.randn(made.w.shape, generator=torch.Generator().manual_seed(3))
    made.begin_at({"e": start, "w": w})
    return made


def test_every_term_is_that_of_the_paper():
    made = objective([[2.0, 5.0]], [[True, False, True]])
    parts = {name: float(part[0].detach()) for name, part in made.loss(torch.Generator()).items()}
    x, f = (vectors[0].detach() for vectors in made.vectors())
    agreement = (x - f).square().sum(1)
    assert np.isclose(parts["agreement"], float(agreement[:3].mean() / 2 + agreement[3:].mean() / 5), atol=1e-5)
    log_x = (x @ made.w[0].T).log_softmax(1)
    assert np.isclose(parts["labels"], float(-(log_x[0, 0] + log_x[2, 1]) / 2), atol=1e-5)
    log_f = (f @ made.w[0].T).log_softmax(1)
    assert np.isclose(parts["labels of f"], float(-(log_f[0, 0] + log_f[2, 1]) / 2), atol=1e-5)
    assert np.isclose(parts["l2"], float(0.1 * made.w.square().sum()), atol=1e-5)


def test_one_lambda_for_all_types_weighs_every_node_alike():
    made = objective([[2.0], [float("inf")]], [[True, False, True]] * 2)
    x, f = (vectors[0].detach() for vectors in made.vectors())
    expected = [float((x - f).square().sum(1).mean() / 2), 0.0]
    assert made.loss(torch.Generator())["agreement"].tolist() == pytest.approx(expected, rel=1e-5)


def test_f_sees_the_neighbors_of_every_type_and_agrees_with_the_reference():
    made = objective([[1.0]], [[True, True, True]])
    groups = GRAPH.groups()
    single = SetFunction([4, 4], 4, L=5, T=3, Q=2, scaling="mean")
    single.load_state_dict({name: tensor[0] for name, tensor in made.f.each[0].state_dict().items()})
    x, f = (vectors[0].detach() for vectors in made.vectors())
    expected = set_function_reference(single, [x, x], [group.matrix for group in groups])
    torch.testing.assert_close(f, expected)


def test_models_side_by_side_do_not_touch_each_other():
    both = objective([[1.0], [4.0]], [[True, False, True], [True, True, False]])
    sum(both.loss(torch.Generator()).values()).sum().backward()
    alone = objective([[1.0], [4.0]], [[True, False, True], [True, True, False]])
    sum(alone.loss(torch.Generator()).values())[0].backward()
    torch.testing.assert_close(both.e.grad[0], alone.e.grad[0])
    assert float(alone.e.grad[1].abs().max()) == 0


def test_labels_that_are_held_out_have_no_gradient():
    made = objective([[1e12]], [[True, False, True]], on_f=False, weight_decay=0.0)
    sum(made.loss(torch.Generator()).values()).sum().backward()
    assert float(made.e.grad[0, 1].abs().max()) < 1e-9
    assert float(made.e.grad[0, 0].abs().max()) > 1e-3


def test_entropy_counts_unlabelled_nodes_only():
    made = objective([[1.0]], [[True, True, True]], entropy=1.0)
    unlabelled = made.loss(torch.Generator())["entropy"][0]
    p = sum((vectors @ made.w.mT + made.b).softmax(-1) for vectors in made.vectors()) / 2
    unsure = -(p * p.log()).sum(-1)[0]
    assert np.isclose(float(unlabelled.detach()), float(unsure[3:].sum() / 5), atol=1e-5)


def test_with_few_labels_agreement_weighs_more_but_a_users_lambda_is_the_papers():
    assert [lam for (lam,) in lambdas(None, 0.1)] == pytest.approx([each / 10 for each in CANDIDATES])
    assert lambdas(None, 0.001) == lambdas(None, 0.01)
    assert lambdas(2, 0.1) == [(2.0,)]
    assert lambdas((1.0, 2.0)) == [(1.0, 2.0)]


def test_the_best_choice_is_that_of_the_best_smoothed_score():
    scores = {100: [[0.7], [0.6]], 200: [[0.8], [0.62]], 300: [[0.6], [0.9]]}
    assert best([(1.0,), (2.0,)], [0.0], scores) == Choice((2.0,), 300, pytest.approx(0.76))
    assert best([(1.0,)], [0.2], {epoch: line[:1] for epoch, line in scores.items()}) == Choice((1.0,), 100, 0.75, 0.2)


def test_the_share_of_labels_is_the_best_with_the_lambda_and_epochs_that_are_best_without():
    scores = {100: [[0.7, 0.95], [0.6, 0.6]], 200: [[0.6, 0.6], [0.9, 0.85]]}
    options, shares = [(1.0,), (2.0,)], [0.0, 0.5]
    assert best(options, shares, scores) == Choice((2.0,), 100, 0.75, 0.0)
    scores[200][1][1] = 0.95
    assert best(options, shares, scores) == Choice((2.0,), 100, pytest.approx(0.775), 0.5)
    scores[200][1][1] = 0.9  # level: the first
    assert best(options, shares, scores).label_share == 0.0


def test_folds_are_equal_and_scores_are_those_of_held_out_nodes():
    labels = read_labels(GRAPH, {"a": np.array([0, 1, 1])})
    assert sorted(folds(labels, 3, np.random.default_rng(0)).tolist()) == [0, 1, 2]
    predicted = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]], np.float32)
    assert held_out_score(labels, np.array([False, True, True]), predicted) == 0.5
