"""The layers for PyTorch Geometric: the numbers of SetFunction, in every place where layers are put."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch_geometric import EdgeIndex
from torch_geometric.data import HeteroData
from torch_geometric.nn import HeteroConv, SAGEConv
from torch_geometric.utils import to_torch_csc_tensor, to_torch_csr_tensor

from pine import InputError
from pine.graph.csr import CSR
from pine.nn import PINEAggregation, PINEConv, SetFunction

SIZES = {"hidden_channels": 7, "projections": 3, "scales": 2}
N, E, M, D = 20, 60, 5, 4


def edges(seed=0, sources=N, targets=N, count=E):
    draw = torch.Generator().manual_seed(seed)
    ends = [torch.randint(size, (count,), generator=draw) for size in (sources, targets)]
    # Each pair once: a sparse matrix knows no other.
    return torch.stack(ends).unique(dim=1).contiguous()


def vectors(count=N, width=M, seed=1):
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def conv(**options):
    torch.manual_seed(0)
    return PINEConv(M, D, **SIZES | options).double()


def csr(ends, weight, targets=N, sources=N):
    order = torch.argsort(ends[1], stable=True)
    indptr = np.append(0, np.cumsum(np.bincount(ends[1].numpy(), minlength=targets)))
    weights = None if weight is None else weight[order].detach().numpy().astype(np.float32)
    return CSR(indptr, ends[0][order].numpy().astype(np.int32), weights, sources)


@pytest.mark.parametrize("scaling", ["sum", "sqrt", "mean"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("groups", [1, 3])
def test_a_convolution_has_the_numbers_of_the_set_function(scaling, weighted, groups):
    layer = conv(num_groups=groups, scaling=scaling, root_weight=False)
    ends, x = edges(), vectors()
    kind = torch.arange(ends.shape[1]) % groups
    # Weights that float32 holds exactly: CSR has no others.
    weight = (torch.arange(ends.shape[1]) % 4 + 1).double() / 4 if weighted else None
    f = SetFunction([M] * groups, D, L=7, T=3, Q=2, scaling=scaling, conditioned=True, centered=True).double()
    f.load_state_dict(layer.f.state_dict())
    own = [csr(ends[:, kind == k], None if weight is None else weight[kind == k]) for k in range(groups)]
    given = layer(x, ends, kind if groups > 1 else None, weight)
    torch.testing.assert_close(given, f([x] * groups, own))


@pytest.mark.parametrize("scaling", ["sum", "sqrt", "mean"])
def test_an_aggregation_has_the_numbers_of_the_convolution_by_index_and_by_ptr(scaling):
    layer = conv(root_weight=False, scaling=scaling)
    aggregation = PINEAggregation(M, D, **SIZES, scaling=scaling).double()
    aggregation.f.load_state_dict(layer.f.state_dict())
    ends, x = edges(), vectors()
    ends = ends[:, torch.argsort(ends[1], stable=True)]
    expected = layer(x, ends)
    torch.testing.assert_close(aggregation(x[ends[0]], ends[1], dim_size=N), expected)
    ptr = torch.cat([torch.zeros(1, dtype=torch.int64), torch.bincount(ends[1], minlength=N).cumsum(0)])
    torch.testing.assert_close(aggregation(x[ends[0]], ptr=ptr), expected)


def test_the_root_adds_a_linear_map_of_the_node_itself():
    layer = conv()
    x, ends = vectors(), edges()
    without = conv(root_weight=False)
    without.f.load_state_dict(layer.f.state_dict())
    torch.testing.assert_close(layer(x, ends) - without(x, ends), layer.root(x))


def test_gradients_are_right_in_double_precision():
    layer = conv(num_groups=2)
    ends = edges(count=20)
    kind = torch.arange(ends.shape[1]) % 2
    x = vectors().requires_grad_()
    weight = torch.rand(ends.shape[1], dtype=torch.float64).add(0.5).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, w: layer(x, ends, kind, w), (x, weight))
    aggregation = PINEAggregation(M, D, **SIZES, norm="layer").double()
    assert torch.autograd.gradcheck(lambda x: aggregation(x, torch.arange(N) // 3, dim_size=8), (x,))


def test_the_order_of_edges_does_not_matter_and_their_groups_do():
    layer, x, ends = conv(num_groups=2), vectors(), edges()
    kind = torch.arange(ends.shape[1]) % 2
    order = torch.randperm(ends.shape[1], generator=torch.Generator().manual_seed(2))
    given = layer(x, ends, kind)
    torch.testing.assert_close(layer(x, ends[:, order], kind[order]), given)
    assert not torch.allclose(layer(x, ends, 1 - kind), given)


def test_nodes_without_neighbors_get_the_function_of_nothing():
    layer = conv(root_weight=False)
    none = torch.zeros(2, 0, dtype=torch.int64)
    empty = layer(vectors(), none)
    torch.testing.assert_close(empty, empty[:1].expand(N, D))
    assert empty.isfinite().all()
    assert PINEAggregation(M, D, **SIZES).double()(vectors(0), torch.zeros(0, dtype=torch.int64), dim_size=3).shape == (
        3,
        D,
    )


@pytest.mark.parametrize("norm", ["layer", "graph", "instance", "batch"])
def test_norms_after_the_sum_work_and_learn(norm):
    layer, x, ends = conv(norm=norm), vectors(), edges()
    layer(x, ends).square().sum().backward()
    assert all(parameter.grad is not None for parameter in layer.parameters())
    assert all(parameter.grad.isfinite().all() for parameter in layer.parameters())
    aggregation = PINEAggregation(M, D, **SIZES, norm=norm).double()
    assert aggregation(x, torch.arange(N) // 3).isfinite().all()


def test_sources_and_targets_may_be_of_two_kinds():
    torch.manual_seed(0)
    layer = PINEConv((M, 3), D, **SIZES).double()
    ends = edges(sources=9, targets=6, count=15)
    out = layer((vectors(9), vectors(6, 3)), ends)
    assert out.shape == (6, D)
    assert layer((vectors(9), None), ends, size=(9, 6)).shape == (6, D)


def test_edges_come_as_tensors_edge_index_and_sparse_matrices():
    layer, x, ends = conv(), vectors(), edges()
    expected = layer(x, ends)
    torch.testing.assert_close(layer(x, EdgeIndex(ends, sparse_size=(N, N))), expected)
    for make in (to_torch_csr_tensor, to_torch_csc_tensor):
        adjacency = make(ends.flip([0]), size=(N, N)).double()
        torch.testing.assert_close(layer(x, adjacency), expected)
    with pytest.raises(InputError, match="carries its own weights"):
        layer(x, adjacency, edge_weight=torch.ones(ends.shape[1]))


def test_the_flow_may_be_turned_around():
    layer, turned = conv(), conv(flow="target_to_source")
    x, ends = vectors(), edges()
    torch.testing.assert_close(turned(x, ends.flip([0])), layer(x, ends))


def test_it_aggregates_for_other_layers_and_convolves_inside_hetero_conv():
    torch.manual_seed(0)
    x, ends = vectors().float(), edges()
    sage = SAGEConv(M, D, aggr=PINEAggregation(M, M, **SIZES))
    assert sage(x, ends).shape == (N, D)
    data = HeteroData()
    data["paper"].x, data["author"].x = torch.randn(8, 3), torch.randn(6, 5)
    data["author", "writes", "paper"].edge_index = edges(sources=6, targets=8, count=12)
    data["paper", "cites", "paper"].edge_index = edges(sources=8, targets=8, count=12)
    data["paper", "by", "author"].edge_index = data["author", "writes", "paper"].edge_index.flip([0])
    layer = HeteroConv(
        {
            ("author", "writes", "paper"): PINEConv((5, 3), D, **SIZES),
            ("paper", "cites", "paper"): PINEConv(3, D, **SIZES),
            ("paper", "by", "author"): PINEConv((3, 5), D, **SIZES),
        }
    )
    found = layer(data.x_dict, data.edge_index_dict)
    assert {type: tuple(x.shape) for type, x in found.items()} == {"paper": (8, D), "author": (6, D)}


def test_compiled_it_gives_the_same_numbers_and_gradients():
    layer, x, ends = conv(num_groups=2), vectors(), edges()
    kind = torch.arange(ends.shape[1]) % 2
    expected = layer(x, ends, kind)
    expected.sum().backward()
    gradient = layer.f.W.grad.clone()
    layer.zero_grad()
    compiled = torch.compile(layer, backend="aot_eager")
    given = compiled(x, ends, kind)
    given.sum().backward()
    torch.testing.assert_close(given, expected)
    torch.testing.assert_close(layer.f.W.grad, gradient)


@pytest.mark.parametrize("sizes", [-1, (-1, -1), (-1, 3), (5, -1)])
def test_sizes_that_are_not_given_are_those_of_the_first_input(sizes):
    layer = PINEConv(sizes, D, num_groups=2, **SIZES).double()
    layer.reset_parameters()
    ends = edges(sources=6, targets=8, count=12)
    both = (vectors(6, 5), vectors(8, 5 if sizes == -1 else 3))
    kind = torch.arange(ends.shape[1]) % 2
    given = layer(both, ends, kind)
    known = PINEConv((5, both[1].shape[1]), D, num_groups=2, **SIZES).double()
    known.load_state_dict(layer.state_dict())
    torch.testing.assert_close(known(both, ends, kind), given)
    given.sum().backward()
    assert all(parameter.grad.any() for parameter in layer.parameters())
    with pytest.raises(InputError, match=r"must have shape \(N, 5\)"):
        layer((vectors(6, 4), both[1]), ends, kind)


def test_sizes_that_are_not_given_are_those_of_a_saved_state():
    saved = conv()
    for layer in (PINEConv(-1, D, **SIZES), PINEConv(-1, D, **SIZES).double()):
        layer.load_state_dict(saved.state_dict())
        torch.testing.assert_close(layer.double()(vectors(), edges()), saved(vectors(), edges()), rtol=1e-5, atol=1e-5)
    aggregation, other = PINEAggregation(-1, D, **SIZES), PINEAggregation(M, D, **SIZES)
    aggregation.load_state_dict(other.state_dict())
    at = torch.arange(N) % 3
    torch.testing.assert_close(aggregation(vectors().float(), at), other(vectors().float(), at))
    assert PINEAggregation(-1, D)(vectors().float(), at).shape == (3, D)


def test_directions_drawn_late_are_as_large_as_those_drawn_at_once():
    late = PINEAggregation(-1, D, projections=500)
    late(torch.zeros(1, 40), torch.zeros(1, dtype=torch.int64))
    assert abs(late.f.a[0].std().item() * 40**0.5 - 1) < 0.02


def test_parameters_can_be_drawn_anew():
    layer, aggregation = conv(norm="layer", root_weight=True), PINEAggregation(M, D, **SIZES)
    for each in (layer, aggregation):
        before = {name: tensor.clone() for name, tensor in each.state_dict().items()}
        each.reset_parameters()
        after = each.state_dict()
        assert not any(torch.equal(before[name], after[name]) for name in after if name.startswith("root"))
        assert not torch.equal(before["f.W"], after["f.W"])
        assert not torch.equal(before["f.a.0"], after["f.a.0"])


def test_wrong_arguments_are_said_in_one_sentence():
    for wrong in (0, -2, (3, 0), (3,)):
        with pytest.raises(InputError, match="in_channels must be one size or"):
            PINEConv(wrong, D)
    with pytest.raises(InputError, match="scaling"):
        PINEConv(M, D, scaling="max")
    with pytest.raises(InputError, match="give the edge_type"):
        conv(num_groups=2)(vectors(), edges())
    with pytest.raises(InputError, match="messages must be"):
        PINEAggregation(M, D)(torch.zeros(2, 3, M), torch.zeros(3, dtype=torch.int64))
    assert repr(conv(num_groups=2)) == "PINEConv(5, 4, num_groups=2)"
    assert repr(PINEAggregation(M, D)) == "PINEAggregation(5, 4)"
