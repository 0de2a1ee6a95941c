"""GAT is attention over a node and its neighbors, trained for as long as held-out labels say."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from support.graphs import random_graph, two_groups
from torch.nn import functional
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch_geometric.nn import GATConv

from pine import Graph
from pine.baselines.gnn.gat import GAT, GATLayer, GATNetwork, best_epoch, edges_with_loops
from pine.baselines.gnn.inputs import columns_of, features_of
from pine.baselines.gnn.training import LabeledGraph, labeled_scores
from pine.labels import read_labels
from pine.nn.targets import Targets

CPU = torch.device("cpu")


def quick(**settings) -> GAT:
    return GAT(**({"epochs": 60, "threads": 1} | settings))


def network_of(graph: Graph, *settings) -> tuple[GATNetwork, tuple]:
    """A network that is not trained, and what it sees of the graph."""
    columns = columns_of(graph)
    return GATNetwork(columns, *settings), (features_of(graph, columns, CPU), GATNetwork.adjacency(graph, CPU, None))


def labeled(graph: Graph, labels) -> LabeledGraph:
    known = read_labels(graph, labels)
    assert known is not None
    return LabeledGraph.of(graph, known, GATNetwork, CPU, None)


def attention_reference(w: np.ndarray, near: np.ndarray, a_own: np.ndarray, a_other: np.ndarray) -> np.ndarray:
    """One head, node by node: softmax over v and its neighbors u of leaky_relu(a . [W x_v, W x_u]), times W x_u."""
    rows = []
    for v in range(len(w)):
        among = np.flatnonzero(near[v])
        logit = w[v] @ a_own + w[among] @ a_other
        share = np.exp(np.where(logit > 0, logit, 0.2 * logit))
        rows.append(share @ w[among] / share.sum())
    return np.array(rows)


@pytest.mark.parametrize("options", [{}, {"self_loops": "keep"}, {"directed": True}])
def test_the_hidden_layer_is_attention_over_a_node_and_its_neighbors(options):
    graph = random_graph(**options)
    network, seen = network_of(graph, 6, 2, 3, 0.6)
    hidden, outputs = (each.detach().numpy() for each in network(*seen))
    near = (graph.links().to_scipy().toarray() > 0) | np.eye(30, dtype=bool)
    x = network.inputs.weights[0].detach().numpy()
    vectors = [layer.detach().numpy()[0] for layer in (network.hidden.att_dst, network.hidden.att_src)]
    heads = [attention_reference(x[:, 3 * h : 3 * h + 3], near, vectors[0][h], vectors[1][h]) for h in range(2)]
    before = np.concatenate(heads, axis=1)
    np.testing.assert_allclose(hidden, np.where(before > 0, before, np.expm1(before)), atol=1e-6)
    last = network.output
    w = hidden @ last.lin.weight.detach().numpy().T
    out = attention_reference(w, near, last.att_dst.detach().numpy()[0, 0], last.att_src.detach().numpy()[0, 0])
    np.testing.assert_allclose(outputs, out, atol=1e-6)


def test_a_layer_without_dropout_is_pygs_own():
    edges = edges_with_loops(random_graph())
    ours, theirs = GATLayer(5, 4, 2, 0.6), GATConv(5, 4, 2)
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(30, 5, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(ours(x, edges, None), theirs(x, edges))


def test_attention_is_dropped_by_our_generator_and_keeps_its_mean():
    graph = random_graph()
    layer, edges = GATLayer(5, 4, 2, 0.6), edges_with_loops(graph)
    x = torch.randn(30, 5, generator=torch.Generator().manual_seed(0))
    before = torch.get_rng_state()
    with torch.no_grad():
        many = torch.stack([layer(x, edges, torch.Generator().manual_seed(seed)) for seed in range(1000)])
    assert torch.equal(torch.get_rng_state(), before)
    error = many.std(0) / len(many) ** 0.5
    assert ((many.mean(0) - layer(x, edges, None)).abs() < 5 * error + 1e-4).all()
    alone = graph.links().degrees() == 0
    kept = (many[:, alone].abs().sum(-1) > 0).float().mean()
    assert kept == pytest.approx(1 - 0.6**2, abs=0.02), "a node alone hears itself unless both of its heads are dropped"


def test_training_drops_rows_of_the_identity_and_entries_of_the_hidden_layer():
    graph = random_graph(300)
    (network, seen), zeros = network_of(graph, 16, 2, 3, 0.6), []
    network.hidden.dropout = 0.0  # attention has a test of its own
    for layer in (network.hidden, network.output):
        layer.register_forward_pre_hook(lambda layer, given: zeros.append((given[0] == 0).float()))
    network(*seen)
    network(*seen, torch.Generator().manual_seed(0))
    assert zeros[0].mean() == zeros[1].mean() == 0
    assert zeros[2].all(1).float().mean() == pytest.approx(0.6, abs=0.1)
    assert zeros[2].mean() == zeros[2].all(1).float().mean()
    heard = ~zeros[3].all(1)  # whoever has no row left in the neighborhood is zero anyway
    assert heard.float().mean() > 0.5
    assert zeros[3][heard].mean() == pytest.approx(0.6, abs=0.05)


def test_every_node_attends_to_itself_and_to_each_neighbor_once():
    graph = Graph.from_edges([(0, 0), (0, 1), (1, 0), (2, 1)], nodes=range(4), self_loops="keep", directed=True)
    pairs = sorted(zip(*edges_with_loops(graph).tolist(), strict=True))
    assert pairs == [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 1), (2, 2), (3, 3)]


def steps_of(fit) -> list[int]:
    """How many steps each optimizer takes in a fit."""
    taken: dict[int, int] = {}
    alive = []  # so that no two optimizers have the same id

    def count(optimizer, args, kwargs):
        alive.append(optimizer)
        taken[id(optimizer)] = taken.get(id(optimizer), 0) + 1

    hook = register_optimizer_step_post_hook(count)
    try:
        fit()
    finally:
        hook.remove()
    return list(taken.values())


def test_a_second_training_takes_the_number_of_epochs_that_the_first_found():
    graph, _ = two_groups()
    label = np.random.default_rng(0).integers(0, 2, 40)  # nothing to learn: the held-out loss soon grows
    first, second = steps_of(lambda: quick(patience=5, learning_rate=0.05).fit(graph, label))
    assert second + 5 <= first < 60, "the first waits"
    few = np.where(np.arange(40) % 5 == 0, label, -1)
    assert steps_of(lambda: quick().fit(graph, few)) == [60], "eight labels cannot spare any"
    assert steps_of(lambda: quick(epochs=250, dim=8).fit(graph, few)) == [200], "as GCN's authors have"


def test_the_second_training_sees_all_labels():
    graph, label = two_groups()
    model = quick(epochs=1, dropout=0.0, dim=8)  # of one epoch, the first is the best whatever is held out
    whole = model.fit(graph, label).embedding_
    for node in range(40):
        changed = model.fit(graph, np.where(np.arange(40) == node, 1 - label, label)).embedding_
        assert not np.array_equal(changed, whole), node


class Scripted:
    """Stands for a trainer: right about the labels that it was not shown after a number of steps, and never else."""

    def __init__(self, data: LabeledGraph, targets: Targets, right_after: int) -> None:
        self.shown, self.right_after, self.taken = targets.positions.numpy(), right_after, 0
        self.label = torch.tensor(data.labels.values)

    def step(self) -> None:
        self.taken += 1

    def evaluate(self) -> tuple[None, torch.Tensor]:
        right = torch.full((40,), self.taken == self.right_after)
        right[self.shown] = True
        given = torch.where(right, self.label, 1 - self.label)
        return None, functional.one_hot(given, 2).float() * (1 + self.taken)


@pytest.mark.parametrize("right_after", [1, 4])
def test_the_first_training_sees_four_fifths_of_the_labels_and_is_judged_by_the_others(right_after):
    graph, label = two_groups()
    data = labeled(graph, label)
    made = []

    def start(targets):
        made.append(Scripted(data, targets, right_after))
        return made[-1]

    assert best_epoch(data, start, 60, 5, np.random.default_rng(0)) == right_after
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


def test_the_embedding_is_the_hidden_layer_and_tells_groups_apart():
    graph, label = two_groups()
    model = quick(dim=16).fit(graph, np.where(np.arange(40) % 2, label, -1))
    assert model.embedding_.shape == (40, 16)
    assert (model.embedding_ > -1).all(), "elu is above -1"
    assert (model.predict()[::2] == label[::2]).mean() > 0.8


def test_numbers_and_label_sets_are_predicted():
    graph, label = two_groups()
    known = {int(node): 1000.0 + 10 * label[node] for node in range(1, 40, 2)}
    predicted = quick(learning_rate=0.05).fit(graph, known).predict()
    assert np.corrcoef(predicted[::2], label[::2])[0, 1] > 0.8
    assert ((predicted > 995) & (predicted < 1015)).all()
    rows = np.where(np.arange(40)[:, None] % 2, np.eye(2, dtype=int)[label], -1)
    assert (quick(learning_rate=0.05).fit(graph, rows).predict()[::2] == np.eye(2)[label[::2]]).mean() > 0.8


def test_weight_decay_shrinks_vectors():
    graph, label = two_groups()
    free, held = (quick(weight_decay=decay, learning_rate=0.05).fit(graph, label).embedding_ for decay in (0.0, 0.1))
    assert np.abs(held).mean() < 0.3 * np.abs(free).mean()
