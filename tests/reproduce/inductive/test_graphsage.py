"""Aggregators: the numbers of their formulas, by samples and by edges."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from support.inductive import normal, ring

from pine.graph.csr import CSR
from pine.nn import SetFunction
from pine.reproduce.inductive.graphsage import SAGELayer
from pine.reproduce.inductive.settings import SampledSettings

SMALL = {"width": 8, "pool": 16, "hidden": 24, "projections": 4, "scales": 2}
AGGREGATORS = ("pool", "mean", "pine")


def layer(aggregator, inputs=5):
    torch.manual_seed(0)
    return SAGELayer(inputs, 8, SampledSettings(aggregator=aggregator, **SMALL))


def test_the_aggregator_pine_is_the_set_function():
    own, (samples, _), x = layer("pine"), ring(20), normal(20, 5)
    f = SetFunction([5], 4, L=24, T=4, Q=2, scaling="sqrt", conditioned=True, centered=True)
    f.load_state_dict(own.aggregator.f.state_dict())
    csr = CSR(np.arange(21) * 6, samples.flatten().numpy().astype(np.int32), None, 20)
    given = own.over_samples(x, x, samples, torch.full((20,), 6))
    torch.testing.assert_close(given, torch.cat([own.R(x), f([x], [csr])], dim=1))


@pytest.mark.parametrize("aggregator", AGGREGATORS)
def test_samples_that_are_all_neighbors_give_what_all_edges_give(aggregator):
    own, (samples, edges), x = layer(aggregator), ring(20), normal(20, 5)
    degree = torch.full((20,), 6)
    whole = own.over_edges(x, edges)
    torch.testing.assert_close(own.over_samples(x, x, samples, degree), whole)
    # So do all of them twice over.
    torch.testing.assert_close(own.over_samples(x, x, samples.repeat(1, 2), degree), whole)
    # Fewer samples than nodes: messages are computed for the samples alone.
    torch.testing.assert_close(own.over_samples(x[:2], x, samples[:2], degree[:2]), whole[:2])


@pytest.mark.parametrize("aggregator", AGGREGATORS)
def test_who_has_no_neighbors_aggregates_nothing_by_samples_and_by_edges(aggregator):
    own, x = layer(aggregator), normal(3, 5)
    none = torch.zeros(3, dtype=torch.int64)
    by_samples = own.over_samples(x, x, torch.arange(3)[:, None].expand(3, 4), none)
    torch.testing.assert_close(by_samples, own.over_edges(x, torch.empty(2, 0, dtype=torch.int64)))
    assert by_samples[:, 4:].unique(dim=0).shape[0] == 1  # the same for all, whatever they are themselves
    if aggregator != "pine":
        assert not by_samples[:, 4:].any()
