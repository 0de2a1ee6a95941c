"""Aggregators and layers: the numbers of their formulas, by samples and by edges."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from support.inductive import labels_of, planted
from torch_geometric.nn import GATConv

from pine import InputError
from pine.graph.csr import CSR
from pine.nn import SetFunction
from pine.reproduce.inductive.aggregators import Layer
from pine.reproduce.inductive.attention import Attention, WeightedSum
from pine.reproduce.inductive.graphs import graphs_of, joined
from pine.reproduce.inductive.run import network_of
from pine.reproduce.inductive.settings import SETTINGS, Sampled, Whole, parse
from pine.reproduce.inductive.whole_networks import PINEAttention

CPU = torch.device("cpu")
SMALL = {"width": 8, "pool": 16, "hidden": 24, "projections": 4, "scales": 2}
AGGREGATORS = ("pool", "mean", "pine")
NETWORKS = [Sampled(aggregator=name, **SMALL) for name in AGGREGATORS]
NETWORKS += [Whole(layer=name, **SMALL) for name in ("gat", "graphsage", "pine", "pine-attention", "gat+pine")]


def named(setting):
    return setting.aggregator if isinstance(setting, Sampled) else setting.layer


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def layer(aggregator, inputs=5):
    torch.manual_seed(0)
    return Layer(inputs, 8, Sampled(aggregator=aggregator, **SMALL))


def ring(count, reach=3):
    """Every node has 2 reach neighbors: samples (count, 2 reach), and the same as edges."""
    steps = torch.tensor([step for step in range(-reach, reach + 1) if step])
    samples = (torch.arange(count)[:, None] + steps) % count
    edges = torch.stack([samples.flatten(), torch.arange(count).repeat_interleave(2 * reach)])
    return samples, edges


def test_the_aggregator_pine_is_the_set_function():
    own, (samples, _), x = layer("pine"), ring(20), normal(20, 5)
    f = SetFunction([5], 4, L=24, T=4, Q=2, scaling="sqrt", conditioned=True, centered=True)
    f.load_state_dict(own.others.f.state_dict())
    csr = CSR(np.arange(21) * 6, samples.flatten().numpy().astype(np.int32), None, 20)
    given = own.over_samples(x, x, samples, torch.full((20,), 6))
    torch.testing.assert_close(given, torch.cat([own.R(x), f([x], [csr])], dim=1))


@pytest.mark.parametrize("aggregator", AGGREGATORS)
def test_samples_that_are_all_neighbors_say_what_all_edges_say(aggregator):
    own, (samples, edges), x = layer(aggregator), ring(20), normal(20, 5)
    degree = torch.full((20,), 6)
    whole = own.over_edges(x, edges)
    torch.testing.assert_close(own.over_samples(x, x, samples, degree), whole)
    # All of them twice over say the same.
    torch.testing.assert_close(own.over_samples(x, x, samples.repeat(1, 2), degree), whole)
    # Fewer samples than nodes: nodes speak one by one instead of all at once.
    torch.testing.assert_close(own.over_samples(x[:2], x, samples[:2], degree[:2]), whole[:2])


@pytest.mark.parametrize("aggregator", AGGREGATORS)
def test_who_has_no_neighbors_hears_nothing_by_samples_and_by_edges(aggregator):
    own, x = layer(aggregator), normal(3, 5)
    none = torch.zeros(3, dtype=torch.int64)
    by_samples = own.over_samples(x, x, torch.arange(3)[:, None].expand(3, 4), none)
    torch.testing.assert_close(by_samples, own.over_edges(x, torch.empty(2, 0, dtype=torch.int64)))
    assert by_samples[:, 4:].unique(dim=0).shape[0] == 1  # the same for all, whatever they are themselves
    if aggregator != "pine":
        assert not by_samples[:, 4:].any()


def test_attention_in_pines_sum_is_that_of_gat_with_a_share_of_the_columns_for_each_head():
    torch.manual_seed(0)
    own = PINEAttention(5, 7, 3, False, 24, 4, 2)
    edges, x = ring(20)[1], normal(20, 5)
    (said,) = own.f.messages([x])
    heads = said.view(20, 3, 8)
    logit = [(heads * side).sum(-1) for side in (own.attention.att_src, own.attention.att_dst)]
    weight = torch.nn.functional.leaky_relu(logit[0][edges[0]] + logit[1][edges[1]], 0.2).exp()
    total = torch.zeros(20, 3).index_add(0, edges[1], weight)
    sums = torch.zeros(20, 3, 8).index_add(0, edges[1], (weight / total[edges[1]])[..., None] * heads[edges[0]])
    torch.testing.assert_close(own(x, edges), own.f.finished(sums.flatten(1)))


@pytest.mark.parametrize("concat", [True, False])
def test_attention_has_the_numbers_and_the_gradients_of_pygs_layer(concat):
    torch.manual_seed(0)
    theirs = GATConv(5, 4, 3, concat=concat, add_self_loops=False).double()
    ours = Attention(5, 4, 3, concat=concat, add_self_loops=False).double()
    ours.load_state_dict(theirs.state_dict())
    pairs = torch.randint(20, (2, 90))  # some twice, some loops; the last node hears nobody
    edges = pairs[:, (pairs[1] < 19)]
    seen = []
    for each in (ours, theirs):
        x = normal(20, 5).double().requires_grad_()
        out = each(x, edges)
        (out * normal(*out.shape, seed=1)).sum().backward()
        seen.append([out, x.grad, *(parameter.grad for parameter in each.parameters())])
    torch.testing.assert_close(*seen)


def test_the_gradient_of_a_weighted_sum_is_its_limit_in_double_precision():
    u, v = ring(7, 2)[1]
    weights, y = (normal(*shape).double().requires_grad_() for shape in ((28, 2), (7, 2, 3)))
    assert torch.autograd.gradcheck(lambda a, b: WeightedSum.apply(a, b, u, v), (weights, y))


def test_gat_has_the_sizes_of_its_paper():
    network = network_of(Whole(), 50, 121)
    convs = [each for each in network.modules() if isinstance(each, GATConv)]
    assert [(c.in_channels, c.heads, c.out_channels, c.concat) for c in convs] == [
        (50, 4, 256, True), (1024, 4, 256, True), (1024, 6, 121, False)]  # fmt: skip
    sage = network_of(parse("whole:layer=graphsage"), 50, 121)
    assert [2 * each.R.out_features for each in (sage.first, sage.second, sage.third)] == [512, 512, 726]


@pytest.mark.parametrize("setting", NETWORKS, ids=named)
def test_every_network_scores_every_target_once_and_every_parameter_learns(setting):
    data = planted()
    sides = graphs_of(data, labels_of(data), CPU)
    torch.manual_seed(0)
    network = network_of(setting, 4, 4)
    batches = list(network.outputs(sides["train"], torch.Generator().manual_seed(0), shuffled=True))
    assert sum(len(labels) for _, labels in batches) == 6 * 50
    assert all(scores.shape == labels.shape for scores, labels in batches)
    sum((scores * scores).sum() for scores, _ in batches).backward()
    assert [name for name, each in network.named_parameters() if each.grad is None or not each.grad.any()] == []


@pytest.mark.parametrize("setting", [each for each in NETWORKS if isinstance(each, Whole)], ids=named)
def test_graphs_in_one_batch_do_not_hear_each_other(setting):
    data = planted()
    graphs = graphs_of(data, labels_of(data), CPU)["train"].apart
    torch.manual_seed(0)
    network = network_of(setting, 4, 4)
    both, one = joined(graphs[:2]), graphs[1]
    torch.testing.assert_close(network(both.x, both.edges)[50:], network(one.x, one.edges))


def test_a_part_is_its_graphs_with_their_edges_and_nothing_else():
    data = planted()
    labels = labels_of(data)
    sides = graphs_of(data, labels, CPU)
    matrix = data.graph.adjacency().to_scipy().toarray()
    for name, side in sides.items():
        nodes = data.splits[name]
        assert side.starts == tuple(range(0, len(nodes) + 1, 50))
        assert np.array_equal(side.labels.numpy(), data.labels[nodes])
        whole = joined(side.apart)
        seen = np.zeros((len(nodes), len(nodes)))
        seen[whole.edges[1], whole.edges[0]] = 1
        assert np.array_equal(seen, matrix[np.ix_(nodes, nodes)])
    torch.testing.assert_close(sides["train"].x.mean(0), torch.zeros(4), atol=1e-6, rtol=0)
    torch.testing.assert_close(sides["train"].x.std(0, correction=0), torch.ones(4))
    assert len(graphs_of(data, labels, CPU, count=2)["train"].x) == 100


def test_of_a_single_graph_training_sees_its_nodes_alone_and_is_judged_in_the_whole():
    data = planted(single=True)
    sides = graphs_of(data, labels_of(data), CPU)
    assert [len(sides[name].x) for name in ("train", "val", "test")] == [300, 400, 400]
    assert sides["test"].targets.tolist() == list(range(350, 400))
    assert len(sides["train"].neighbors.indices) < len(sides["val"].neighbors.indices)


def test_specs_are_understood_and_wrong_ones_refused():
    assert parse("sampled") == SETTINGS["sampled"]
    assert parse("whole:layer=gat+pine:width=8:width=16:learning_rate=0.1:root=false") == Whole(
        layer="gat+pine", width=16, learning_rate=0.1, root=False
    )
    for spec, message in [
        ("gat", "unknown setting 'gat'"),
        ("whole:samples_1=2", "there is no 'samples_1'"),
        ("whole:layer=gcn", "layer takes 'gat'"),
        ("whole:root=1", "root takes 'true', 'false'"),
        ("sampled:width=2.5", "a whole number"),
        ("sampled:epochs=0", "epochs must be at least 1"),
        ("whole:layer=pine-attention:hidden=10", "multiple of both"),
    ]:
        with pytest.raises(InputError, match=message):
            parse(spec)
