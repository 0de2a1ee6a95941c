"""Planetoid-G learns vectors from contexts, by walks and by labels, and a softmax on them."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import torch
from torch.nn import functional

import pine
from pine import Graph, InputError
from pine.baselines import planetoid_network
from pine.baselines.planetoid import Planetoid
from pine.baselines.planetoid_contexts import batches, graph_contexts, label_contexts, within_window
from pine.baselines.planetoid_network import Network

QUICK = {"label_steps": 100, "graph_steps": 70, "steps": 2000, "dim": 16}


def groups(**options) -> tuple[Graph, np.ndarray]:
    """Two groups of twenty, an isolated node, and the label of every node."""
    label = np.repeat([0, 1], 20)
    chance = np.where(label[:, None] == label, 0.4, 0.02)
    edges = np.argwhere(np.triu(np.random.default_rng(3).random((40, 40)) < chance, 1))
    return Graph.from_edges(edges, nodes=range(41), **options), np.append(label, 0)


def half(label: np.ndarray) -> np.ndarray:
    return np.where(np.arange(len(label)) % 2, label, -1)


# ---- contexts ----


def test_a_window_holds_all_pairs_within_its_reach_and_the_node_itself():
    walk = np.array([[5, 6, 7, 8, 9]])
    wanted = {(a, b) for a in range(5, 10) for b in range(5, 10) if abs(a - b) <= 2}
    centers, contexts = within_window(walk, 2)
    assert len(centers) == len(wanted)
    assert set(zip(centers.tolist(), contexts.tolist(), strict=True)) == wanted
    assert len(within_window(walk, 100)[0]) == 25


def test_graph_contexts_stay_within_reach_of_the_walks():
    path = Graph.from_edges([(i, i + 1) for i in range(30)], nodes=range(33))
    for centers, contexts in islice(graph_contexts(path, 7, 10, 3, np.random.default_rng(0)), 10):
        assert abs(centers - contexts).max() == 3
        assert max(centers.max(), contexts.max()) <= 30


def test_label_contexts_have_the_label_of_their_center():
    nodes, values = np.array([4, 9, 2, 7, 30]), np.array([1, 0, 1, 0, 2])
    label = dict(zip(nodes.tolist(), values.tolist(), strict=True))
    centers, contexts = next(label_contexts(nodes, values, 1000, np.random.default_rng(0)))
    assert [label[c] for c in centers.tolist()] == [label[c] for c in contexts.tolist()]
    seen = set(zip(centers.tolist(), contexts.tolist(), strict=True))
    assert seen == {(a, b) for a in label for b in label if label[a] == label[b]}


def test_sources_without_pairs_give_none():
    rng = np.random.default_rng(0)
    assert list(label_contexts(np.arange(3), np.zeros(3, np.int64), 5, rng)) == []
    assert list(graph_contexts(Graph.from_edges([(0, 1)][:0], nodes=range(3)), 5, 10, 3, rng)) == []


def test_batches_go_over_all_items_again_and_again():
    parts = list(islice(batches(np.arange(7), 3, np.random.default_rng(0)), 6))
    assert [len(part) for part in parts] == [3, 3, 1] * 2
    assert sorted(np.concatenate(parts[:3])) == sorted(np.concatenate(parts[3:])) == list(range(7))


# ---- steps ----


@pytest.mark.parametrize("block", [2**24, 41 * 3])
def test_a_context_step_follows_torchs_own_gradient(block, monkeypatch):
    monkeypatch.setattr(planetoid_network, "BLOCK", block)
    network = Network(Planetoid(dim=5, context_rate=0.1, device="cpu"), groups()[0], 2, 0)
    rng = np.random.default_rng(1)
    pairs = rng.integers(0, 9, 60), rng.integers(0, 41, 60)
    free = [each.clone().requires_grad_() for each in (network.e, network.context_w, network.context_b)]
    e, w, b = free
    centers, contexts = (torch.tensor(each) for each in pairs)
    functional.cross_entropy(e[centers] @ w.T + b, contexts, reduction="sum").backward()
    network.context_step(pairs)
    for ours, theirs in zip((network.e, network.context_w, network.context_b), free, strict=True):
        torch.testing.assert_close(ours, theirs.detach() - 0.1 * theirs.grad)


def test_a_step_of_the_classifier_follows_torchs_own_gradient():
    network = Network(Planetoid(dim=5, learning_rate=0.1, device="cpu"), groups()[0], 3, 0)
    nodes, values = torch.tensor([3, 7, 40]), torch.tensor([2, 0, 0])
    free = [each.clone().requires_grad_() for each in (network.e, network.class_w, network.class_b)]
    e, w, b = free
    functional.cross_entropy(e[nodes] @ w.T + b, values).backward()
    network.class_step(nodes, values)
    for ours, theirs in zip((network.e, network.class_w, network.class_b), free, strict=True):
        torch.testing.assert_close(ours, theirs.detach() - 0.1 * theirs.grad)


@pytest.mark.parametrize(
    ("settings", "nodes", "steps"),
    [
        ({}, 41, 70),  # as in the authors' code
        ({}, 20_000, 500),  # five walks from every node
        ({"graph_batch": 100}, 20_001, 1001),
        ({"graph_steps": 3}, 20_000, 3),
    ],
)
def test_large_graphs_are_walked_as_often_from_every_node_as_small_ones(settings, nodes, steps, monkeypatch):
    graph = Graph.from_edges([(0, 1), (1, 2)], nodes=range(nodes))
    network = Network(Planetoid(dim=2, label_steps=0, **settings), graph, 2, 0)
    taken = []
    monkeypatch.setattr(network, "context_step", taken.append)
    network.learn_contexts(np.array([0, 1]), np.array([0, 1]))
    assert len(taken) == steps


# ---- the method ----


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


def test_held_out_labels_are_not_learned_before_the_choice(monkeypatch):
    graph, label = groups()
    seen = []
    learned = Network.learn_contexts
    monkeypatch.setattr(
        Network, "learn_contexts", lambda self, nodes, values: seen.append(nodes) or learned(self, nodes, values)
    )
    asked = []
    monkeypatch.setattr(Network, "best_steps", lambda self, n, v, held, truth: asked.append(held) or 10)
    Planetoid(**QUICK).fit(graph, half(label))
    assert [len(nodes) for nodes in seen] == [16, 20]
    assert set(asked[0]).isdisjoint(seen[0])
    assert set(asked[0]) | set(seen[0]) == set(range(1, 41, 2))


def test_the_choice_is_the_step_of_the_least_held_out_loss():
    network = Network(Planetoid(**QUICK | {"learning_rate": 1.0, "patience": 100}), groups()[0], 2, 0)
    wrong = np.arange(4)  # held-out labels that training speaks against: the loss is least at the first look
    assert network.best_steps(np.arange(8), np.zeros(8, np.int64), wrong, np.ones(4, np.int64)) == 10
    assert network.best_steps(np.arange(8), np.zeros(8, np.int64), wrong, np.zeros(4, np.int64)) == 2000


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
    ("settings", "said"),
    [
        ({"window": 0}, "window must be at least 1, got 0"),
        ({"graph_steps": -1}, "label_steps and graph_steps must be at least 0, got 2000 and -1"),
        ({"held_out": 1.0}, r"held_out must be a share of at least 0 and below 1, got 1\.0"),
        ({"learning_rate": 0.0}, r"learning_rate and context_rate must be positive, got 0\.0 and 0\.01"),
        ({"context_rate": float("inf"), "label_steps": 5}, "training diverged"),
    ],
)
def test_settings_that_cannot_be_are_explained(settings, said):
    graph, label = groups()
    with pytest.raises(InputError, match=said):
        Planetoid(**{"steps": 10} | settings).fit(graph, label)


@pytest.mark.slow
def test_the_public_split_of_cora_is_classified_as_the_authors_report(need_data):
    # 69.1 without attributes (Yang et al., 2016, Table 3).
    need_data("cora-planetoid.npz")
    data = pine.datasets.load("cora-planetoid")
    train, test = data.splits["train"], data.splits["test"]
    shown = np.full(len(data.labels), -1)
    shown[train] = data.labels[train]
    models = [Planetoid(seed=seed).fit(data.graph, shown) for seed in range(4)]
    right = np.mean([(model.predict() == data.labels)[test].mean() for model in models])
    assert abs(right - 0.691) <= 0.03, right
