"""Fits side by side are single fits, up to the order of sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from support.graphs import random_graph

from pine import Graph, InputError
from pine.baselines.planetoid import Planetoid
from pine.baselines.planetoid import replicas as module
from pine.baselines.planetoid.replicas import fit_replicas
from pine.baselines.replica import Replica
from pine.labels import Labels, read_labels

FEW: dict[str, Any] = {"dim": 8, "steps": 40, "device": "cpu"}  # steps: rounding errors stay small
SETTINGS: list[dict[str, Any]] = [
    FEW | {"label_steps": 20, "graph_steps": 5},  # more pairs than labels
    FEW | {"label_steps": 20, "graph_steps": 5, "label_batch": 4, "batch": 5, "graph_batch": 7},
    FEW | {"label_batch": 4, "label_pairs": 1000, "graph_steps": 0, "context_rate": 0.001},  # the default label steps
    FEW | {"label_steps": 0, "graph_steps": 0, "steps": 500, "patience": 50, "learning_rate": 0.05},
]
NAMES = ["each once", "small batches", "as many steps as labels take", "classifier alone"]


def typed_graph() -> Graph:
    rng = np.random.default_rng(0)
    writes = np.stack([rng.integers(0, 40, 130), rng.integers(0, 25, 130)], axis=1)
    return Graph.from_relations(
        {("author", "writes", "paper"): writes}, nodes={"author": range(40), "paper": range(25)}
    )


def some_labels(graph: Graph) -> Labels:
    """Of all nodes of the last type, in four classes."""
    type = graph.node_types[-1]
    values = np.random.default_rng(1).integers(0, 4, graph.count(type))
    return read_labels(graph, values if len(graph.node_types) == 1 else {type: values}, "classes")


def some_replicas(labels: Labels) -> list[Replica]:
    """Of different seeds and numbers of labels: too few to hold any out, twice the same, one class missing or alone."""
    made = []
    for seed, count in enumerate((6, 11, 17, 22, 11, 24)):
        chosen = np.random.default_rng(seed).permutation(len(labels.known)) < count
        if seed == 2:
            chosen &= labels.values != 1
        if seed == 5:
            chosen &= labels.values == 2
        made.append(Replica(labels.some(chosen), seed))
    return made


def alone(method: Planetoid, graph: Graph, labels: Labels, replica: Replica) -> np.ndarray:
    """The scores of a single fit, with columns for all classes."""
    shown = np.full(graph.count(labels.type), -1)
    shown[replica.labels.known] = replica.labels.values
    given = shown if len(graph.node_types) == 1 else {labels.type: shown}
    fitted = Planetoid(**method.get_params()).set_params(seed=replica.seed).fit(graph, given, task="classes")
    scores = np.zeros((len(shown), labels.num_outputs))
    scores[:, fitted.classes_] = fitted.predict_proba()
    return scores


@pytest.mark.parametrize("graph", [random_graph(), typed_graph()], ids=["one type", "two types"])
@pytest.mark.parametrize("settings", SETTINGS, ids=NAMES)
def test_a_replica_is_the_single_fit_of_its_seed(settings, graph):
    method, labels = Planetoid(**settings), some_labels(graph)
    replicas = some_replicas(labels)
    assert len(np.unique(replicas[5].labels.values)) == 1
    found = list(fit_replicas(method, graph, replicas))
    assert len(found) == len(replicas)
    for replica, fit in zip(replicas, found, strict=True):
        np.testing.assert_allclose(fit.scores, alone(method, graph, labels, replica), atol=1e-5)
        unseen = np.setdiff1d(np.arange(labels.num_outputs), replica.labels.values)
        assert (fit.scores[:, unseen] == 0).all()
        assert fit.seconds > 0


def test_labels_to_choose_by_are_not_learned_but_their_classes_are_known():
    graph = random_graph()
    labels = some_labels(graph)
    method, learned, held = Planetoid(**SETTINGS[0]), labels.some(labels.values < 2), labels.some(labels.values == 3)
    ((scores, _),) = fit_replicas(method, graph, [Replica(learned, 0, held)])
    shown = np.where(labels.values == 2, -1, labels.values)
    expected = Planetoid(**SETTINGS[0]).fit(graph, shown, validation=held.known).predict_proba()
    np.testing.assert_allclose(scores[:, [0, 1, 3]], expected, atol=1e-5)
    assert (scores[:, 2] == 0).all()


@pytest.fixture
def sizes(monkeypatch) -> list[int]:
    """Of the batches that are fitted."""
    found, whole = [], Planetoid._fit_several

    def watched(self, graph, labels, outputs, rngs, device):
        found.append(len(labels))
        return whole(self, graph, labels, outputs, rngs, device)

    monkeypatch.setattr(Planetoid, "_fit_several", watched)
    return found


def test_more_replicas_than_have_room_are_fitted_in_batches(monkeypatch, sizes):
    graph = random_graph()
    method, replicas = Planetoid(**SETTINGS[0]), some_replicas(some_labels(graph))
    together = [fit.scores for fit in fit_replicas(method, graph, replicas)]
    for most in (0, 4 * 30 * 8 + 1):
        monkeypatch.setattr(module, "MOST_VECTOR_FLOATS", most)
        found = [fit.scores for fit in fit_replicas(method, graph, replicas)]
        np.testing.assert_allclose(found, together, atol=1e-5)
    assert sizes == [6, *[1] * 6, 4, 2]
    assert list(fit_replicas(method, graph, [])) == []


def test_fits_come_as_soon_as_their_batch_is_done(monkeypatch, sizes):
    graph = random_graph()
    monkeypatch.setattr(module, "MOST_VECTOR_FLOATS", 0)
    next(fit_replicas(Planetoid(**SETTINGS[0]), graph, some_replicas(some_labels(graph))))
    assert sizes == [1]


def test_fits_side_by_side_leave_torch_alone_and_do_not_depend_on_it():
    graph = random_graph()
    method, replicas = Planetoid(**SETTINGS[0]), some_replicas(some_labels(graph))
    before, threads = torch.random.get_rng_state(), torch.get_num_threads()
    expected = [fit.scores for fit in fit_replicas(method, graph, replicas)]
    assert torch.equal(torch.random.get_rng_state(), before)
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(threads + 1)
    torch.manual_seed(5)
    try:
        with torch.inference_mode():
            found = [fit.scores for fit in fit_replicas(method, graph, replicas)]
        assert (torch.get_default_dtype(), torch.get_num_threads()) == (torch.float64, threads + 1)
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_num_threads(threads)
    np.testing.assert_array_equal(found, expected)


def test_attributes_are_not_looked_at():
    graph = random_graph()
    bearing = graph.with_features(np.eye(30, dtype=np.float32))
    method, replicas = Planetoid(**SETTINGS[0]), some_replicas(some_labels(graph))
    for one, other in zip(*(fit_replicas(method, each, replicas) for each in (graph, bearing)), strict=True):
        np.testing.assert_array_equal(one.scores, other.scores)


def test_a_training_that_diverges_says_so():
    graph = random_graph()
    replicas = some_replicas(some_labels(graph))
    wild, tame = (Planetoid(**SETTINGS[0] | {"context_rate": rate}) for rate in (float("inf"), 0.01))
    assert all(fit.diverged for fit in fit_replicas(wild, graph, replicas))
    assert not any(fit.diverged for fit in fit_replicas(tame, graph, replicas))


def test_settings_that_cannot_be_are_explained():
    graph = random_graph()
    with pytest.raises(InputError, match="window must be a whole number of at least 1, got 0"):
        next(fit_replicas(Planetoid(window=0), graph, some_replicas(some_labels(graph))))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("settings", SETTINGS[:3], ids=NAMES[:3])
def test_a_gpu_finds_what_a_cpu_finds(settings):
    graph = typed_graph()
    replicas = some_replicas(some_labels(graph))
    cpu, gpu = (fit_replicas(Planetoid(**settings | {"device": device}), graph, replicas) for device in ("cpu", "cuda"))
    for one, other in zip(cpu, gpu, strict=True):
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-3)
