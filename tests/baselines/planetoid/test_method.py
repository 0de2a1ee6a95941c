"""Planetoid-G learns vectors from contexts, by walks and by labels, and a softmax on them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import pytest
import torch

import pine
from pine import Graph, InputError
from pine.baselines.planetoid.contexts import Labeled
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


def test_labels_of_one_of_several_types_are_learned():
    rng, label = np.random.default_rng(3), np.repeat([0, 1], 20)
    chance = np.where(label[::-1, None] == label, 0.4, 0.02)  # the groups of one type lie the other way round
    edges = np.argwhere(rng.random((40, 40)) < chance)
    graph = Graph.from_relations({("a", "to", "b"): edges}, nodes={"a": range(40), "b": range(40)})
    model = Planetoid(**QUICK).fit(graph, {"b": half(label)})
    assert model.embedding_["a"].shape == (40, 16)
    assert (model.predict()[::2] == label[::2]).mean() > 0.9


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


@pytest.mark.parametrize("count", [8, 16])  # with fewer than ten labels, and with some held out
def test_labels_that_are_all_alike_give_no_contexts(count):
    graph, _ = groups()
    alike = np.where(np.arange(41) < count, 3, -1)
    settings = QUICK | {"graph_steps": 3, "steps": 20}
    with_steps, without = (Planetoid(**settings | {"label_steps": steps}).fit(graph, alike) for steps in (100, 0))
    np.testing.assert_array_equal(with_steps.embedding_, without.embedding_)


class Watched:
    """Stands for a network of several fits: keeps what it is given, and chooses as many steps as a fit has labels."""

    def __init__(self, which: np.ndarray, labeled: Sequence[Labeled]) -> None:
        self.which, self.contexts = which, labeled
        self.chosen_by: Any = None
        self.learned: Any = None

    def best_steps(self, labeled, held, max_steps, patience) -> np.ndarray:
        self.chosen_by = (labeled, held, max_steps, patience)
        return np.array([len(some.nodes) for some in labeled])

    def learn_classes(self, labeled, steps) -> None:
        self.learned = (labeled, steps)


def trained(
    counts: Sequence[int], held_out: float, group: Callable[[Labeled], Hashable] = lambda labeled: 0
) -> tuple[list[Labeled], list[Watched]]:
    """Labels of so many nodes, whose label is their number less 100, and the networks that are started, in order."""
    started: list[Watched] = []

    def start(which, labeled) -> Any:
        started.append(Watched(which, labeled))
        return started[-1]

    labeled = [Labeled(np.arange(100, 100 + count), np.arange(count)) for count in counts]
    rngs = [np.random.default_rng(i) for i in range(len(counts))]
    found: list[Any] = list(train(start, group, labeled, 500, held_out, 50, rngs))
    last = [network for network in started if network.learned]
    assert [network for _, network in found] == last
    for (which, _), network in zip(found, last, strict=True):
        np.testing.assert_array_equal(which, network.which)
    assert sorted(np.concatenate([network.which for network in last])) == list(range(len(counts))), "each fit once"
    return labeled, started


@pytest.mark.parametrize("counts", [[20], [20, 30, 10]])
def test_held_out_labels_are_not_learned_before_the_choice(counts):
    labeled, (first, second) = trained(counts, 0.2)
    seen, judges, *limits = first.chosen_by
    assert limits == [500, 50]
    assert first.learned is second.chosen_by is None
    for known, contexts, some, held in zip(labeled, first.contexts, seen, judges, strict=True):
        assert 4 * len(held.nodes) == len(some.nodes)
        assert set(some.nodes) | set(held.nodes) == set(known.nodes)
        assert set(some.nodes).isdisjoint(held.nodes)
        np.testing.assert_array_equal(contexts, some)
        for nodes, values in (some, held):
            np.testing.assert_array_equal(values, nodes - 100)
    np.testing.assert_equal([second.contexts, second.learned[0]], [labeled, labeled])
    assert second.learned[1].tolist() == [count * 4 // 5 for count in counts], "the choice of each"


@pytest.mark.parametrize(("count", "held_out"), [(9, 0.2), (20, 0.0), (20, 0.04)])
def test_without_held_out_labels_all_steps_are_taken(count, held_out):
    _, (network,) = trained([count, count], held_out)
    assert network.learned[1].tolist() == [500, 500]


def test_fits_of_one_network_are_of_one_group_and_each_takes_the_steps_of_its_own_choice():
    def group(labeled: Labeled) -> str:
        return "many" if len(labeled.nodes) > 20 else "few"

    labeled, started = trained([30, 8, 20, 25, 10, 50], 0.2, group)
    assert [network.which.tolist() for network in started] == [[0, 5], [2, 3, 4], [0, 3, 5], [1, 2, 4]]
    for network in started:
        assert len(set(map(group, network.contexts))) == 1
    steps = {i: own for network in started[2:] for i, own in zip(network.which, network.learned[1], strict=True)}
    assert [steps[i] for i in range(6)] == [24, 500, 16, 20, 8, 40]
    for network in started[2:]:
        np.testing.assert_equal(network.learned[0], [labeled[i] for i in network.which])


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
