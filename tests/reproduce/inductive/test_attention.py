"""GAT's layer by sparse products: PyG's numbers and gradients."""

from __future__ import annotations

import pytest
import torch
from support.inductive import normal, ring
from torch_geometric.nn import GATConv

from pine.reproduce.inductive.attention import SparseGATConv, WeightedSum


@pytest.mark.parametrize("concat", [True, False])
def test_attention_has_the_numbers_and_the_gradients_of_pygs_layer(concat):
    torch.manual_seed(0)
    theirs = GATConv(5, 4, 3, concat=concat, add_self_loops=False).double()
    ours = SparseGATConv(5, 4, 3, concat=concat, add_self_loops=False).double()
    ours.load_state_dict(theirs.state_dict())
    pairs = torch.randint(20, (2, 90))  # some twice, some loops; the last node has no neighbors
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
