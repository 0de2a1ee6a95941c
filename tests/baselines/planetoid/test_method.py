"""Planetoid-G learns vectors from contexts, by walks and by labels, and a softmax on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import pine
from pine import Graph, InputError
from pine.baselines.planetoid.method import Planetoid, train

QUICK: dict[str, Any] = {"label_steps": 100, "graph_steps": 70, "steps": 2000, "dim": 16}


def groups(**options) -> tuple[Graph, np.ndarray]:
    """Two groups of twenty, an isolated node, and the label of every node."""
    label = np.repeat([0, 1], 20)
    chance = np.where(label[:, None] == label, 0.4, 0.02)
    edges = np.argwhere(np.triu(np.random.default_rng(3).random((40, 40)) < chance, 1))
    return Graph.from_edges(edges, nodes=range(41), **options), np.append(label, 0)


def half(label: np.ndarray) -> np.ndarray:
    return np.where(np.arange(len(label)) % 2, label, -1)


def test_nodes_without_a_label_get_that_of_their_group():
    graph, label = groups()
    model = Planetoid(**QUICK).fit(graph, half(label))
    assert model.embedding_.shape == (41, 16)
    assert (model.predict()[:40:2] == label[:40:2]).mean() > 0.9


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_learns_the_same_vectors_up_to_the_order_of_sums():
    graph, label = groups()
    settings = QUICK | {"graph_steps": 10, "steps": 10, "held_out": 0.0}
    cpu, gpu = (Planetoid(device=device, **settings).fit(graph, half(label)) for device in ("cpu", "cuda"))
    np.testing.assert_allclose(gpu.embedding_, cpu.embedding_, rtol=1e-3, atol=1e-4)


def test_walks_alone_and_labels_alone_shape_the_vectors():
    graph, label = groups()

    def apart(**settings):
        """How much more alike vectors of one group are, among nodes that have a label."""
        e = Planetoid(**QUICK | {"steps": 1} | settings).fit(graph, label).embedding_[:40]
        alike = np.corrcoef(e)
        same = label[:40, None] == label[:40]
        return alike[same].mean() - alike[~same].mean()

    assert apart(label_steps=0) > 0.2
    assert apart(graph_steps=0, label_steps=400) > 0.2
    assert abs(apart(label_steps=0, graph_steps=0)) < 0.1


def test_attributes_are_not_looked_at():
    graph, label = groups()
    bearing = graph.with_features({"node": np.eye(41, dtype=np.float32)})
    both = [Planetoid(**QUICK).fit(each, half(label)).embedding_ for each in (graph, bearing)]
    np.testing.assert_array_equal(*both)


class Watched:
    """Stands for a network: keeps what it is given, and chooses ten steps."""

    def __init__(self, nodes: np.ndarray, values: np.ndarray) -> None:
        self.contexts = (nodes, values)
        self.chosen_by: Any = None
        self.learned: Any = None

    def best_steps(self, nodes, values, held, truth, max_steps, patience) -> int:
        self.chosen_by = (nodes, values, held, truth, max_steps, patience)
        return 10

    def learn_classes(self, nodes, values, steps) -> None:
        self.learned = (nodes, values, steps)


def trained(nodes: np.ndarray, held_out: float) -> list[Watched]:
    """The networks that are started, in order; a node's label is its number less 100."""
    started: list[Watched] = []

    def start(nodes, values) -> Any:
        started.append(Watched(nodes, values))
        return started[-1]

    network: Any = train(start, nodes, nodes - 100, 500, held_out, 50, np.random.default_rng(0))
    assert network is started[-1]
    return started


def test_held_out_labels_are_not_learned_before_the_choice():
    known = np.arange(100, 120)
    first, second = trained(known, 0.2)
    nodes, values, held, truth, *limits = first.chosen_by
    assert limits == [500, 50]
    assert (len(nodes), len(held)) == (16, 4)
    assert set(nodes) | set(held) == set(known)
    for learned in (first.contexts, (nodes, values)):
        assert set(learned[0]).isdisjoint(held)
        np.testing.assert_array_equal(learned[1], learned[0] - 100)
    np.testing.assert_array_equal(truth, held - 100)
    assert first.learned is None
    np.testing.assert_array_equal(second.contexts, (known, known - 100))
    np.testing.assert_array_equal(second.learned[:2], (known, known - 100))
    assert second.learned[2] == 10, "the choice"


@pytest.mark.parametrize(("count", "held_out"), [(9, 0.2), (20, 0.0), (20, 0.04)])
def test_without_held_out_labels_all_steps_are_taken(count, held_out):
    (network,) = trained(np.arange(100, 100 + count), held_out)
    assert network.learned[2] == 500


@pytest.mark.parametrize("edges", [[], [(0, 1)]])
def test_graphs_of_almost_nothing_are_fitted(edges):
    graph = Graph.from_edges(np.array(edges, int).reshape(-1, 2), nodes=range(2))
    model = Planetoid(**QUICK).fit(graph, {0: "only"})
    assert np.isfinite(model.embedding_).all()
    assert model.predict().tolist() == ["only", "only"]


def test_seeds_change_vectors_and_torchs_threads_do_not():
    graph, label = groups()
    before, one = torch.get_num_threads(), Planetoid(**QUICK).fit(graph, half(label)).embedding_
    torch.set_num_threads(before + 1)
    try:
        np.testing.assert_array_equal(Planetoid(**QUICK).fit(graph, half(label)).embedding_, one)
        assert torch.get_num_threads() == before + 1
    finally:
        torch.set_num_threads(before)
    assert not np.array_equal(Planetoid(seed=1, **QUICK).fit(graph, half(label)).embedding_, one)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"window": 0}, "window must be a whole number of at least 1, got 0"),
        ({"label_steps": -1}, "label_steps must be a whole number of at least 0 or none, got -1"),
        ({"graph_steps": -1}, "graph_steps must be a whole number of at least 0 or none, got -1"),
        ({"held_out": 1.0}, r"held_out must be a number of at least 0 and below 1, got 1\.0"),
        ({"learning_rate": 0.0}, r"learning_rate must be a number above 0, got 0\.0"),
        ({"context_rate": 0.0}, r"context_rate must be a number above 0, got 0\.0"),
        ({"context_rate": float("inf"), "label_steps": 5}, "training diverged"),
    ],
)
def test_settings_that_cannot_be_are_explained(settings, message):
    graph, label = groups()
    with pytest.raises(InputError, match=message):
        Planetoid(**{"steps": 10} | settings).fit(graph, label)


@pytest.mark.slow
def test_the_public_split_of_cora_is_classified_as_the_authors_report(need_data):
    # 69.1 without attributes (Yang et al., 2016, Table 3).
    need_data("cora-planetoid.npz")
    data = pine.datasets.load("cora-planetoid")
    labels: Any = data.labels
    train, test = data.splits["train"], data.splits["test"]
    shown = np.full(len(labels), -1)
    shown[train] = labels[train]
    models = [Planetoid(seed=seed).fit(data.graph, shown) for seed in range(4)]
    right = np.mean([(model.predict() == labels)[test].mean() for model in models])
    assert abs(right - 0.691) <= 0.03, right
