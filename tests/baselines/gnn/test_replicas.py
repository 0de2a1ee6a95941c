"""Fits side by side are single fits: the same start, and without dropout the same scores."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from support.graphs import random_graph

import pine
from pine import Graph, InputError
from pine.baselines.gnn import replicas as module
from pine.baselines.gnn.gat import GAT
from pine.baselines.gnn.gcn import GCN
from pine.baselines.gnn.replica_targets import ReplicaStopping
from pine.baselines.gnn.replicas import can_replicate, fit_replicas
from pine.baselines.gnn.rgcn import RGCN
from pine.baselines.gnn.sgc import SGC
from pine.baselines.replica import Replica
from pine.evaluation.protocol import hide, split
from pine.labels import Labels, read_labels
from pine.nn.training import EarlyStopping

CPU = torch.device("cpu")
QUICK: dict[str, Any] = {"dropout": 0.0, "threads": 1, "device": "cpu", "learning_rate": 0.02}
METHODS = [
    GCN(**QUICK, epochs=30, dim=8),
    GAT(**QUICK, epochs=30, patience=4, dim=8, heads=2, output_heads=2),
    RGCN(**QUICK, epochs=20, dim=8),
    RGCN(**QUICK, epochs=20, dim=8, bases=2),
]
NAMES = ["gcn", "gat", "rgcn", "rgcn-bases"]


@cache
def typed_graph() -> Graph:
    rng = np.random.default_rng(0)
    writes = np.stack([rng.integers(0, 40, 130), rng.integers(0, 25, 130)], axis=1)
    cites = rng.integers(0, 25, (40, 2))
    relations = {("author", "writes", "paper"): writes, ("paper", "cites", "paper"): cites}
    return Graph.from_relations(relations, nodes={"author": range(40), "paper": range(25)})


def some_labels(graph: Graph, task: str) -> Labels:
    """Of all nodes of the last type."""
    type = graph.node_types[-1]
    rng = np.random.default_rng(1)
    count = graph.count(type)
    values = rng.integers(0, 4, count) if task == "classes" else rng.integers(0, 2, (count, 3))
    return read_labels(graph, values if len(graph.node_types) == 1 else {type: values}, task)


def some_replicas(labels: Labels, validation: bool = False) -> list[Replica]:
    """Of different seeds and numbers of labels: too few to hold any out, one class missing, another one alone."""
    made = []
    for seed, count in enumerate((6, 11, 17, 22)):
        chosen = np.random.default_rng(seed).permutation(len(labels.known)) < count
        if seed == 2 and labels.task == "classes":
            chosen &= labels.values != 1
        held = np.flatnonzero(chosen)[-3:]
        learned = chosen.copy()
        learned[held] = False
        if validation:
            judged = labels.some(np.isin(np.arange(len(chosen)), held))
            made.append(Replica(labels.some(learned), seed, judged))
        else:
            made.append(Replica(labels.some(chosen), seed))
    return made


def alone(method, graph: Graph, labels: Labels, replica: Replica) -> np.ndarray:
    """The scores of a single fit, with columns for all classes."""
    known, held = replica.labels.known, None
    if replica.validation is not None:
        held = np.isin(np.arange(graph.count(labels.type)), replica.validation.known)
        known = np.union1d(known, replica.validation.known)
    shown = hide(labels, known, graph.count(labels.type))
    given = shown if len(graph.node_types) == 1 else {labels.type: shown}
    fitted = type(method)(**method.get_params()).set_params(seed=replica.seed)
    fitted.fit(graph, given, task=labels.task, validation=held)
    scores = np.zeros((len(shown), labels.num_outputs))
    scores[:, np.arange(labels.num_outputs) if shown.ndim == 2 else fitted.classes_] = fitted.predict_proba()
    return scores


def check_replicas(method, graph, labels, replicas, tolerance=1e-4):
    found = list(fit_replicas(method, graph, replicas))
    assert len(found) == len(replicas)
    for replica, fit in zip(replicas, found, strict=True):
        np.testing.assert_allclose(fit.scores, alone(method, graph, labels, replica), atol=tolerance)


@pytest.mark.parametrize("task", ["classes", "label-sets"])
@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_without_dropout_a_replica_is_the_single_fit_of_its_seed(method, task):
    graph = random_graph()
    labels = some_labels(graph, task)
    check_replicas(method, graph, labels, some_replicas(labels))


@pytest.mark.parametrize("task", ["classes", "label-sets"])
@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_labels_of_one_of_several_types_are_learned(method, task):
    graph = typed_graph()
    labels = some_labels(graph, task)
    check_replicas(method, graph, labels, some_replicas(labels))


@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_validation_labels_choose_the_epoch_of_each(method):
    graph = random_graph()
    labels = some_labels(graph, "classes")
    check_replicas(method, graph, labels, some_replicas(labels, validation=True))


@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_dense_features_serve_all_replicas(method):
    features = np.random.default_rng(5).standard_normal((30, 5)).astype(np.float32)
    graph = random_graph().with_features(features)
    labels = some_labels(graph, "classes")
    check_replicas(method, graph, labels, some_replicas(labels))
    half = typed_graph().with_features({"author": features[:1].repeat(40, 0)})
    labels = some_labels(half, "classes")
    check_replicas(method, half, labels, some_replicas(labels))


@pytest.mark.parametrize("method", METHODS[:2], ids=NAMES[:2])
def test_more_replicas_than_have_room_are_fitted_in_batches(method, monkeypatch):
    graph = random_graph()
    labels = some_labels(graph, "classes")
    replicas = some_replicas(labels)
    sizes, whole = [], module._fitted

    def watched(method, data, some):
        sizes.append(len(some))
        return whole(method, data, some)

    monkeypatch.setattr(module, "_fitted", watched)
    together = [fit.scores for fit in fit_replicas(method, graph, replicas)]
    monkeypatch.setattr(module, "MOST_FLOATS", {"cpu": 0})
    one_by_one = [fit.scores for fit in fit_replicas(method, graph, replicas)]
    assert sizes == [4, 1, 1, 1, 1]
    np.testing.assert_allclose(together, one_by_one, atol=1e-5)


def test_a_batch_for_which_memory_does_not_suffice_is_halved(monkeypatch):
    graph = random_graph()
    labels = some_labels(graph, "classes")
    replicas, sizes, whole = some_replicas(labels), [], module._fit

    def small_memory(method, data, some):
        sizes.append(len(some))
        if len(some) > 1:
            raise torch.cuda.OutOfMemoryError
        return whole(method, data, some)

    together = [fit.scores for fit in fit_replicas(METHODS[0], graph, replicas)]
    monkeypatch.setattr(module, "_fit", small_memory)
    halved = [fit.scores for fit in fit_replicas(METHODS[0], graph, replicas)]
    assert sizes == [4, 2, 1, 1, 2, 1, 1]
    np.testing.assert_allclose(together, halved, atol=1e-5)


def test_replicas_that_have_ended_are_dropped(monkeypatch):
    graph = random_graph()
    labels = some_labels(graph, "classes")
    left, keep = [], module._Batch.keep

    def watched(batch, going):
        left.append(int(going.sum()))
        return keep(batch, going)

    monkeypatch.setattr(module._Batch, "keep", watched)
    monkeypatch.setattr(module, "ENDED_EPOCHS", 1)
    check_replicas(METHODS[1], graph, labels, some_replicas(labels))
    assert left, "replicas end at different epochs"


def test_fits_side_by_side_leave_torchs_generator_alone():
    graph = random_graph()
    labels = some_labels(graph, "classes")
    before = torch.random.get_rng_state()
    list(fit_replicas(GCN(epochs=2, dim=4, device="cpu", threads=1), graph, some_replicas(labels)))
    assert torch.equal(torch.random.get_rng_state(), before)


def test_the_masks_of_replicas_differ():
    graph = random_graph()
    labels = some_labels(graph, "classes")
    twice = [some_replicas(labels)[3]] * 2
    for method in (GCN(epochs=10, dim=8, device="cpu", threads=1), GAT(epochs=10, device="cpu", threads=1)):
        one, other = fit_replicas(method, graph, twice)
        assert np.abs(one.scores - other.scores).max() > 1e-3
        again, _ = fit_replicas(method, graph, twice)
        np.testing.assert_array_equal(one.scores, again.scores)


def test_numbers_and_sparse_features_and_other_methods_are_for_single_fits():
    graph = random_graph()
    labels = some_labels(graph, "classes")
    numbers = read_labels(graph, np.arange(30.0), "numbers")
    sparse = graph.with_features(sp.csr_array(np.eye(30, dtype=np.float32)))
    assert can_replicate(GCN, graph, labels)
    assert not can_replicate(GCN, graph, numbers)
    assert not can_replicate(GCN, sparse, labels)
    assert not can_replicate(SGC, graph, labels)
    with pytest.raises(InputError, match="gcn has no fits side by side on this graph with these labels"):
        next(fit_replicas(GCN(device="cpu"), graph, [Replica(numbers, 0)]))
    assert list(fit_replicas(GCN(), graph, [])) == []


def test_a_training_that_diverges_says_so():
    graph = random_graph()
    replicas = some_replicas(some_labels(graph, "classes"))
    wild, tame = (GCN(epochs=20, learning_rate=rate, device="cpu", threads=1) for rate in (1e38, 0.01))
    assert all(fit.diverged for fit in fit_replicas(wild, graph, replicas))
    assert not any(fit.diverged for fit in fit_replicas(tame, graph, replicas))


@pytest.mark.parametrize("criterion", ["both", "score", "loss", "loss alone"])
def test_early_stopping_of_many_is_that_of_each(criterion):
    rng = np.random.default_rng(3)
    losses = rng.integers(0, 30, (80, 9)).astype(np.float32) / 8
    scores = rng.integers(0, 30, (80, 9)) / 8
    many = ReplicaStopping.like(EarlyStopping(5, criterion), 9, CPU)
    ones = [EarlyStopping(5, criterion) for _ in range(9)]
    ended = [False] * 9
    for epoch in range(1, 81):
        better = many.update(epoch, torch.tensor(losses[epoch - 1]), torch.tensor(scores[epoch - 1]))
        for i, one in enumerate(ones):
            before = ended[i]
            if not before:
                ended[i] = one.ends(epoch, float(losses[epoch - 1, i]), scores[epoch - 1, i])
            assert bool(better[i]) == (not before and one.best_epoch == epoch)
        assert many.ended.tolist() == ended
    assert all(ended)
    assert many.best_epoch.tolist() == [one.best_epoch for one in ones]


@pytest.mark.slow
@pytest.mark.parametrize("method", [GCN, GAT])
def test_with_dropout_replicas_are_as_good_as_single_fits(method):
    data = pine.datasets.load("cora")
    labels = read_labels(data.graph, data.labels)
    parts = [split("cora", labels.known, 0.3, repeat) for repeat in range(10)]
    replicas = [Replica(labels.some(np.isin(labels.known, part.train)), i) for i, part in enumerate(parts)]
    settings: dict[str, Any] = {"epochs": 60, "device": "cpu", "threads": 1}
    found = [fit.scores for fit in fit_replicas(method(**settings), data.graph, replicas)]
    ones = [alone(method(**settings), data.graph, labels, replica) for replica in replicas]
    differences = [
        (each[part.test].argmax(1) == data.labels[part.test]).mean()
        - (one[part.test].argmax(1) == data.labels[part.test]).mean()
        for each, one, part in zip(found, ones, parts, strict=True)
    ]
    assert abs(np.mean(differences)) < 0.012, "three standard errors: one difference has a deviation of .005 to .012"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_a_gpu_finds_what_a_cpu_finds(method):
    graph = typed_graph()
    replicas = some_replicas(some_labels(graph, "classes"))
    there = type(method)(**method.get_params()).set_params(device="cuda")
    for one, other in zip(fit_replicas(method, graph, replicas), fit_replicas(there, graph, replicas), strict=True):
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-3)
