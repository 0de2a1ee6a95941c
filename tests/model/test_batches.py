"""Training in batches is training on the whole graph: the same gradients from less memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from support.models import pine_with

import pine
from pine import Graph, InputError
from pine.evaluation.protocol import hide, split
from pine.labels import read_labels
from pine.model.batches import batch_neighborhoods, sample_neighborhoods
from pine.model.neighborhoods import NeighborFunction, Neighborhoods
from pine.model.node_terms import VisibleTargets
from pine.model.objective import Objective
from pine.model.settings import Form, FunctionSettings, TrainingSettings
from pine.nn import neighbor_sum
from pine.nn.targets import Targets

CPU = torch.device("cpu")
rng = np.random.default_rng(0)
RELATIONS = {("a", "r", "b"): rng.integers(0, 40, (160, 2)), ("a", "s", "a"): rng.integers(0, 40, (90, 2))}
TYPED = Graph.from_relations(RELATIONS, nodes={"a": range(40), "b": range(40)})
LABELS = {"classes": rng.integers(0, 3, 40), "label-sets": rng.integers(0, 2, (40, 3)), "numbers": rng.random(40)}
FORM = Form(4, "type", FunctionSettings(hidden=5, projections=3, scales=2))


def all_neighborhoods(graph: Graph) -> Neighborhoods:
    return Neighborhoods.of(graph, list(FORM.neighbor_groups(graph).values()), FORM.function.scaling, CPU, None)


def objective(size: int | None, task: str | None = "classes", lambdas=(2.0, 5.0), **changes) -> Objective:
    """In double precision, all nodes at once or in batches; some of the labels are seen."""
    types = [TYPED.nodes.slice(type) for type in TYPED.node_types]
    whole = all_neighborhoods(TYPED)
    neighborhoods = [whole] if size is None else batch_neighborhoods(whole, types, size)
    f = NeighborFunction(FORM, neighborhoods, torch.Generator().manual_seed(1))
    visible = None
    if task is not None:
        labels = read_labels(TYPED, {"a": LABELS[task]}, task)
        seen = np.random.default_rng(1).random(40) < 0.3
        visible = VisibleTargets(Targets.of(TYPED, labels, CPU), torch.tensor(seen).double())
    settings = TrainingSettings(**{"weight_decay": 0.1} | changes)
    made = Objective(f, types, torch.tensor(lambdas).double(), settings, visible, batched=size is not None)
    start = torch.randn(80, 4, generator=torch.Generator().manual_seed(2))
    w = torch.randn(made.w.shape, generator=torch.Generator().manual_seed(3))
    made.begin_at({"x": start, "w": w})
    return made.double()


def summed(made: Objective) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """The parts of the loss and the gradients, summed over batches."""
    total = torch.zeros(())
    for batch in made.batches:
        loss = torch.stack(list(made.loss(torch.Generator(), 0.5, batch).values()))
        loss.sum().backward()
        total = total + loss.detach()
    return total, [
        parameter.grad for parameter in made.parameters() if parameter.grad is not None and parameter.numel()
    ]


@pytest.mark.parametrize("size", [7, 40, 1000])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"lambdas": (2.0,)},
        {"lambdas": (float("inf"),)},
        {"task": "label-sets"},
        {"task": "numbers"},
        {"task": None},
    ],
)
def test_losses_and_gradients_of_all_batches_are_those_of_the_whole_graph(size, settings):
    whole, batched = objective(None, **settings), objective(size, **settings)
    assert len(batched.batches) == 2 * -(-40 // size)
    (loss, gradients), (loss_too, gradients_too) = summed(whole), summed(batched)
    torch.testing.assert_close(loss, loss_too)
    assert len(gradients) == len(gradients_too) > 5
    for one, other in zip(gradients, gradients_too, strict=True):
        torch.testing.assert_close(one, other)
    for one, other in zip(whole.vectors(), batched.vectors(), strict=True):
        torch.testing.assert_close(one, other)


def saved_bytes(made: Objective) -> int:
    """The most that is kept for the way back at any time."""
    sizes = []
    for batch in made.batches:
        kept: dict[int, int] = {}

        def keep(tensor: torch.Tensor, kept: dict[int, int] = kept) -> torch.Tensor:
            kept[tensor.data_ptr()] = tensor.untyped_storage().nbytes()
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            made.loss(torch.Generator(), 1.0, batch)
        own = {parameter.data_ptr() for parameter in made.parameters()}
        sizes.append(sum(size for place, size in kept.items() if place not in own))
    return max(sizes)


def test_a_batch_keeps_the_activations_of_its_own_neighbors_alone():
    assert saved_bytes(objective(4)) < saved_bytes(objective(None)) / 3


def test_samples_are_neighbors_and_their_sums_are_right_on_average():
    graph = Graph.from_edges(np.random.default_rng(0).integers(0, 30, (200, 2)), nodes=range(30), duplicates="sum")
    whole = all_neighborhoods(graph)
    x = torch.randn(30, 4, generator=torch.Generator().manual_seed(0))
    generator, total = torch.Generator().manual_seed(1), torch.zeros(())
    for _ in range(1000):
        drawn = sample_neighborhoods(whole, 5, generator)
        assert drawn.neighbors[0].csr.degrees().max() <= 5
        total = total + neighbor_sum(x[drawn.columns[0]], replace(drawn.neighbors[0], scaling="sum"))
    everything = neighbor_sum(x, replace(whole.neighbors[0], scaling="sum"))
    assert float((total / 1000 - everything).abs().max()) < 0.6
    assert float(everything.abs().max()) > 5


def test_where_there_are_no_more_neighbors_than_asked_for_samples_change_nothing():
    whole = all_neighborhoods(TYPED)
    drawn = sample_neighborhoods(whole, 100, torch.Generator().manual_seed(0))
    f = NeighborFunction(FORM, [whole], torch.Generator().manual_seed(0))
    x = torch.randn(80, 4, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(f(x, None, [drawn]), f(x))


SMALL = {
    "dim": 8,
    "hidden": 16,
    "projections": 4,
    "scales": 4,
    "threads": 1,
    "epochs": 25,
    "lam": 10.0,
    "label_share": 0.0,
}


@pytest.mark.parametrize("settings", [{}, {"samples": 2}])
def test_a_fit_in_batches_learns_and_has_the_same_bits_for_a_seed(settings):
    kind = np.arange(90) % 3
    edges = [(v, (v + 3 * step) % 90) for v in range(90) for step in range(1, 6)]
    graph, seen = Graph.from_edges(edges, nodes=range(90)), np.where(np.arange(90) % 2, kind, -1)
    model = pine_with(**SMALL, batch_size=25, **settings).fit(graph, seen)
    assert (model.predict() == kind).mean() > 0.9
    np.testing.assert_array_equal(
        pine_with(**SMALL, batch_size=25, **settings).fit(graph, seen).embedding_, model.embedding_
    )
    assert np.isfinite(pine_with(**SMALL, batch_size=25, **settings).fit(graph).embedding_).all()


def test_an_epoch_is_one_step_over_all_batches_with_new_samples():
    graph = Graph.from_edges(np.random.default_rng(0).integers(0, 60, (300, 2)), nodes=range(60))
    settings = SMALL | {"epochs": 3, "dropout": 0.0}
    seen = np.arange(60) % 3
    whole = pine_with(**settings).fit(graph, seen)
    # After three steps of Adam, as with the whole graph; a step a batch would be nine.
    batched = pine_with(**settings, batch_size=25).fit(graph, seen)
    assert len(batched.learned_.history) == len(whole.learned_.history) == 3
    np.testing.assert_allclose(batched.embedding_, whole.embedding_, atol=1e-4)
    few = pine_with(**settings, batch_size=25, samples=2).fit(graph, seen).embedding_
    assert np.abs(few - whole.embedding_).max() > 1e-3


def test_features_are_learned_in_batches_too():
    kind = rng.integers(0, 3, 80)
    words = np.eye(3, dtype=np.float32)[kind] + rng.normal(0, 0.3, (80, 3)).astype(np.float32)
    graph = Graph.from_edges(rng.integers(0, 80, (160, 2)), nodes=range(80)).with_features(words)
    seen = np.where(np.arange(80) % 2, kind, -1)
    model = pine_with(**SMALL, features=True, batch_size=30).fit(graph, seen)
    assert (model.predict() == kind).mean() > 0.8


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch_size": 0}, "batch_size must be a whole number of at least 1 or none, got 0"),
        ({"batch_size": 10, "samples": 2.5}, "samples must be a whole number of at least 1 or none, got 2.5"),
        ({"samples": 5}, "samples are drawn for batches: set batch_size too"),
    ],
)
def test_settings_that_cannot_be_are_explained(settings, message):
    with pytest.raises(InputError, match=message):
        pine_with(**settings).fit(TYPED)


@pytest.mark.slow
def test_pubmed_in_batches_is_within_half_a_point_of_the_whole(need_data):
    need_data("pubmed.npz")
    data = pine.datasets.load("pubmed")
    labels = read_labels(data.graph, data.labels)
    part = split("pubmed", labels.known, 0.5, 0)
    seen = hide(labels, part.train, data.graph.num_nodes)
    settings = {"lam": 10.0, "epochs": 100, "seed": 0}
    scores = [
        (pine_with(**settings, **batches).fit(data.graph, seen).predict() == data.labels)[part.test].mean()
        for batches in ({}, {"batch_size": 4000}, {"batch_size": 4000, "samples": 10})
    ]
    assert max(scores) - min(scores) < 0.005, scores
