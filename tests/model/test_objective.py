"""The objective is the formula: compared with a plain computation, term by term."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from pine import Graph
from pine.labels import read_labels
from pine.model.neighborhoods import NeighborFunction, Neighborhoods
from pine.model.node_terms import VisibleTargets
from pine.model.objective import Objective
from pine.model.settings import Form, FunctionSettings, TrainingSettings
from pine.nn import set_function_reference
from pine.nn.targets import Targets

GRAPH = Graph.from_relations({("a", "r", "b"): [(0, 0), (1, 0), (1, 1), (2, 1)], ("a", "s", "a"): [(0, 1), (1, 2)]})
SMALL = FunctionSettings(hidden=5, projections=3, scales=2, conditioned=False, scaling="sqrt")
FORM = Form(dim=4, groups="type", function=SMALL)


def objective(lambdas, seen, labels=(0, 1, 1), **changes):
    neighborhoods = [Neighborhoods.of(GRAPH, GRAPH.groups(), FORM.function.scaling, torch.device("cpu"), None)]
    f = NeighborFunction(FORM, neighborhoods, torch.Generator().manual_seed(1))
    labels = read_labels(GRAPH, {"a": np.array(labels)})
    visible = VisibleTargets(Targets.of(GRAPH, labels, torch.device("cpu")), torch.tensor(seen).float())
    settings = TrainingSettings(**{"weight_decay": 0.1, "entropy": 0.0} | changes)
    start = torch.randn(5, 4, generator=torch.Generator().manual_seed(2))
    types = [GRAPH.nodes.slice(type) for type in GRAPH.node_types]
    made = Objective(f, types, torch.tensor(lambdas), settings, visible)
    w = torch.randn(made.w.shape, generator=torch.Generator().manual_seed(3))
    made.begin_at({"x": start, "w": w})
    return made


def test_every_term_is_that_of_the_paper():
    made = objective([2.0, 5.0], [True, False, True])
    parts = {name: float(part.detach()) for name, part in made.loss(torch.Generator()).items()}
    x, f = (vectors.detach() for vectors in made.vectors())
    agreement = (x - f).square().sum(1)
    assert np.isclose(parts["agreement"], float(agreement[:3].mean() / 2 + agreement[3:].mean() / 5), atol=1e-5)
    log_x = (x @ made.w.T).log_softmax(1)
    assert np.isclose(parts["labels"], float(-(log_x[0, 0] + log_x[2, 1]).detach() / 2), atol=1e-5)
    log_f = (f @ made.w.T).log_softmax(1)
    assert np.isclose(parts["labels of f"], float(-(log_f[0, 0] + log_f[2, 1]).detach() / 2), atol=1e-5)
    assert np.isclose(parts["l2"], float(0.1 * made.w.square().sum().detach()), atol=1e-5)


def test_of_label_sets_the_decay_of_a_label_goes_by_how_many_of_the_seen_nodes_have_it():
    made = objective([2.0], [True, True, False], labels=[[0, 1, 0], [1, 1, 0], [1, 1, 1]])
    p = torch.tensor([(1 + 0.5) / 3, (2 + 0.5) / 3, (0 + 0.5) / 3])  # of two that are seen
    each = made.w.detach().square().sum(1)
    own = made.loss(torch.Generator())["l2"]
    assert float(own.detach()) == pytest.approx(0.1 * float((4 * p * (1 - p) * each).sum()), rel=1e-5)
    printed = objective([2.0], [True, True, False], labels=[[0, 1, 0], [1, 1, 0], [1, 1, 1]], balanced_decay=False)
    assert float(printed.loss(torch.Generator())["l2"].detach()) == pytest.approx(0.1 * float(each.sum()), rel=1e-5)


@pytest.mark.parametrize("lam", [2.0, float("inf")])
def test_one_lambda_for_all_types_weighs_every_node_alike(lam):
    made = objective([lam], [True, False, True])
    x, f = (vectors.detach() for vectors in made.vectors())
    expected = float((x - f).square().sum(1).mean() / lam)
    assert float(made.loss(torch.Generator())["agreement"].detach()) == pytest.approx(expected, rel=1e-5)


def test_f_sees_the_neighbors_of_every_type_and_agrees_with_the_reference():
    made = objective([1.0], [True, True, True])
    x, f = made.vectors()
    expected = set_function_reference(made.f.of_sets, [x, x], [group.matrix for group in GRAPH.groups()])
    torch.testing.assert_close(f, expected)


def test_labels_that_are_held_out_have_no_gradient():
    made = objective([1e12], [True, False, True], supervise_f=False, weight_decay=0.0)
    sum(made.loss(torch.Generator()).values()).backward()
    assert float(made.x.grad[1].abs().max()) < 1e-9
    assert float(made.x.grad[0].abs().max()) > 1e-3


def test_entropy_counts_unlabeled_nodes_only():
    made = objective([1.0], [True, True, True], entropy=1.0)
    unlabeled = made.loss(torch.Generator())["entropy"]
    p = sum((vectors @ made.w.mT + made.b).softmax(-1) for vectors in made.vectors()) / 2
    unsure = -(p * p.log()).sum(-1)
    assert np.isclose(float(unlabeled.detach()), float(unsure[3:].sum().detach() / 5), atol=1e-5)


@pytest.mark.parametrize(("labels", "counts"), [(2, 1.0), (4, 1.0), (5, 4 / 5), (8, 4 / 8)])
def test_the_entropy_of_a_label_set_counts_as_that_of_four_labels_at_most(labels, counts):
    sets = np.arange(3 * labels).reshape(3, labels) % 2
    made = objective([1.0], [True, True, True], labels=sets, entropy=1.0)
    unlabeled = made.loss(torch.Generator())["entropy"]
    p = sum((vectors @ made.w.mT + made.b).sigmoid() for vectors in made.vectors()) / 2
    unsure = -(p * p.log() + (1 - p) * (1 - p).log()).sum(-1)
    assert float(unlabeled.detach()) == pytest.approx(counts * float(unsure[3:].sum().detach() / 5), rel=1e-4)


def test_the_entropy_warms_up_and_nothing_else_does():
    made = objective([1.0], [True, True, False], entropy=1.0)
    half, full = (made.loss(torch.Generator(), warmup) for warmup in (0.5, 1.0))
    assert float(half["entropy"].detach()) == pytest.approx(float(full["entropy"].detach()) / 2)
    assert {name: float(term.detach()) for name, term in half.items() if name != "entropy"} == {
        name: float(term.detach()) for name, term in full.items() if name != "entropy"
    }
