"""Networks of layers: their sizes, their formulas, and that every parameter learns."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.inductive import labels_of, normal, planted, ring
from torch_geometric.nn import GATConv

from pine.reproduce.inductive.graphs import collate, graphs_of
from pine.reproduce.inductive.run import network_of
from pine.reproduce.inductive.settings import SampledSettings, WholeSettings, parse
from pine.reproduce.inductive.whole_networks import PINEAttention

CPU = torch.device("cpu")
SMALL: dict[str, Any] = {"width": 8, "pool": 16, "hidden": 24, "projections": 4, "scales": 2}
AGGREGATORS: tuple[Any, ...] = ("pool", "mean", "pine")
LAYERS: tuple[Any, ...] = ("gat", "graphsage", "pine", "pine-attention", "gat+pine")
NETWORKS: list[Any] = [SampledSettings(**SMALL, aggregator=name) for name in AGGREGATORS]
NETWORKS += [WholeSettings(**SMALL, layer=name) for name in LAYERS]


def named(setting):
    return setting.aggregator if isinstance(setting, SampledSettings) else setting.layer


def test_attention_in_pines_sum_is_that_of_gat_with_a_share_of_the_columns_for_each_head():
    torch.manual_seed(0)
    own = PINEAttention(5, 7, 3, False, 24, 4, 2)
    edges, x = ring(20)[1], normal(20, 5)
    (messages,) = own.f.messages([x])
    heads = messages.view(20, 3, 8)
    logit = [(heads * side).sum(-1) for side in (own.attention.att_src, own.attention.att_dst)]
    weight = torch.nn.functional.leaky_relu(logit[0][edges[0]] + logit[1][edges[1]], 0.2).exp()
    total = torch.zeros(20, 3).index_add(0, edges[1], weight)
    sums = torch.zeros(20, 3, 8).index_add(0, edges[1], (weight / total[edges[1]])[..., None] * heads[edges[0]])
    torch.testing.assert_close(own(x, edges), own.f.finished(sums.flatten(1)))


def test_gat_has_the_sizes_of_its_paper():
    network = network_of(WholeSettings(), 50, 121)
    convs = [each for each in network.modules() if isinstance(each, GATConv)]
    assert [(c.in_channels, c.heads, c.out_channels, c.concat) for c in convs] == [
        (50, 4, 256, True), (1024, 4, 256, True), (1024, 6, 121, False)]  # fmt: skip
    sage: Any = network_of(parse("whole:layer=graphsage"), 50, 121)
    assert [2 * each.R.out_features for each in (sage.first, sage.second, sage.third)] == [512, 512, 726]


@pytest.mark.parametrize("setting", NETWORKS, ids=named)
def test_every_network_scores_every_target_once_and_every_parameter_learns(setting):
    data = planted()
    splits = graphs_of(data, labels_of(data), CPU)
    torch.manual_seed(0)
    network = network_of(setting, 4, 4)
    batches = list(network.outputs(splits["train"], torch.Generator().manual_seed(0), shuffled=True))
    assert sum(len(labels) for _, labels in batches) == 6 * 50
    assert all(scores.shape == labels.shape for scores, labels in batches)
    torch.stack([(scores * scores).sum() for scores, _ in batches]).sum().backward()
    assert [name for name, each in network.named_parameters() if each.grad is None or not each.grad.any()] == []


@pytest.mark.parametrize("setting", [each for each in NETWORKS if isinstance(each, WholeSettings)], ids=named)
def test_graphs_in_one_batch_do_not_touch_each_other(setting):
    data = planted()
    graphs = graphs_of(data, labels_of(data), CPU)["train"].separate
    torch.manual_seed(0)
    network = network_of(setting, 4, 4)
    both, one = collate(graphs[:2]), graphs[1]
    torch.testing.assert_close(network(both.x, both.edges)[50:], network(one.x, one.edges))
