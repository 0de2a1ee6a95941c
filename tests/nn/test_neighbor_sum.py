"""neighbor_sum: equal to its definition in value and gradient, in every scaling, for any number of threads."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tensors import normal

import pine.nn.row_sums as row_sums_module
from pine.errors import InputError
from pine.graph.csr import CSR, build_csr
from pine.nn import Neighbors, neighbor_sum, neighbor_sum_reference
from pine.nn.row_sums import LEAST_WORK, TorchRows, row_sums

# Sizes around the tiles of 64, 16, 8 and 4 columns, and sizes that divide none.
WIDTHS = (1, 2, 3, 4, 5, 7, 8, 11, 15, 16, 17, 21, 63, 64, 65, 85, 131)


def value_and_gradient(total, x, upstream):
    x = x.clone().requires_grad_()
    out = total(x)
    return out.detach(), torch.autograd.grad(out, x, upstream)[0]


@pytest.mark.parametrize("scaling", ["sum", "sqrt", "mean"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_value_and_gradient_equal_the_definition(draw_csr, scaling, weighted, width):
    csr = draw_csr(37, 23, weighted=weighted)
    x, upstream = normal(23, width), normal(37, width, seed=1)
    ours = value_and_gradient(lambda x: neighbor_sum(x, csr, scaling), x, upstream)
    definition = value_and_gradient(lambda x: neighbor_sum_reference(x, csr, scaling), x, upstream)
    torch.testing.assert_close(ours, definition, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("scaling", ["sum", "sqrt", "mean"])
@pytest.mark.parametrize("weighted", [False, True])
def test_single_precision_stays_single_and_is_as_exact_as_it_can_be(draw_csr, scaling, weighted):
    csr = draw_csr(211, 101, degree=9, weighted=weighted)
    x, upstream = normal(101, 37), normal(211, 37, seed=1)
    value, gradient = value_and_gradient(lambda x: neighbor_sum(x, csr, scaling), x.float(), upstream.float())
    assert value.dtype == gradient.dtype == torch.float32
    exact = value_and_gradient(lambda x: neighbor_sum_reference(x, csr, scaling), x, upstream)
    torch.testing.assert_close((value.double(), gradient.double()), exact, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_range_of_rows_is_written_and_nothing_beside_it(draw_csr, width):
    """Another thread may be at work there."""
    csr, x, out = draw_csr(9, 23), normal(23, width).numpy(), np.full((9, width), np.nan)
    row_sums_module._sum_rows(3, 6, csr.indptr, csr.indices, csr.weights, None, None, x, out)
    assert np.isnan(out).all(axis=1).tolist() == [True] * 3 + [False] * 3 + [True] * 3
    assert np.isfinite(out[3:6]).all()


@pytest.mark.parametrize("scaling", ["sum", "sqrt", "mean"])
def test_first_and_second_gradients_are_those_of_the_formula(draw_csr, scaling):
    csr = draw_csr(6, 5, weighted=True)
    x = normal(5, 3).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: neighbor_sum(x, csr, scaling), x)
    assert torch.autograd.gradgradcheck(lambda x: neighbor_sum(x, csr, scaling), x)


@pytest.mark.parametrize("scaling", ["sum", "sqrt", "mean"])
@pytest.mark.parametrize("weighted", [False, True])
def test_other_devices_compute_the_same_in_torch_alone(draw_csr, scaling, weighted):
    csr = draw_csr(37, 23, weighted=weighted)
    scale = Neighbors.of(csr, scaling).scale
    x, upstream = normal(23, 5), normal(37, 5, seed=1)
    want = value_and_gradient(lambda x: neighbor_sum_reference(x, csr, scaling), x, upstream)
    for gathered in (1, 40, 1 << 20):
        value = TorchRows(csr, scale, None, torch.device("cpu"), gathered).total(x)
        gradient = TorchRows(csr.transposed, None, scale, torch.device("cpu"), gathered).total(upstream)
        torch.testing.assert_close((value, gradient), want, rtol=1e-13, atol=1e-13)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("scaling", ["sum", "sqrt", "mean"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_cuda_device_gives_the_definition_too(draw_csr, scaling, weighted):
    csr = draw_csr(370, 230, weighted=weighted)
    neighbors = Neighbors.of(csr, scaling, "cuda")
    x, upstream = normal(230, 21).cuda(), normal(370, 21, seed=1).cuda()
    ours = value_and_gradient(lambda x: neighbor_sum(x, neighbors), x, upstream)
    definition = value_and_gradient(lambda x: neighbor_sum_reference(x, csr, scaling), x, upstream)
    torch.testing.assert_close(ours, definition, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_any_number_of_threads_gives_the_same_bits(draw_csr, dtype):
    csr = draw_csr(4001, 503, degree=11, weighted=True)  # times 64 columns: enough for threads to be started
    x, upstream = normal(503, 64, dtype=dtype), normal(4001, 64, dtype=dtype, seed=1)
    assert csr.nnz * 64 > LEAST_WORK
    one, *others = (
        value_and_gradient(lambda x, t=t: neighbor_sum(x, csr, "sqrt", threads=t), x, upstream)
        for t in (1, 2, 3, 8, 64)
    )
    for other in others:
        assert torch.equal(one[0], other[0])
        assert torch.equal(one[1], other[1])


def test_more_threads_than_rows_and_rows_without_entries_at_the_ends_are_all_filled():
    for rows in (1, 2, 5):
        csr = build_csr(np.array([rows // 2]), np.array([0]), None, (rows, 1))
        out = row_sums(csr, np.ones((1, 3)), 16, least_work=0)
        assert out.sum(1).tolist() == [3.0 if row == rows // 2 else 0.0 for row in range(rows)]
    empty = CSR(np.zeros(6, np.int64), np.empty(0, np.int32), None, 4)
    np.testing.assert_array_equal(row_sums(empty, np.ones((4, 2)), 4, least_work=0), np.zeros((5, 2)))


@settings(max_examples=40, deadline=None)
@given(
    edges=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4)), max_size=30),
    scaling=st.sampled_from(["sum", "sqrt", "mean"]),
    width=st.integers(0, 20),
    weighted=st.booleans(),
)
def test_any_graph_gives_the_sum_by_hand(edges, scaling, width, weighted):
    source, target = np.array(edges, np.int64).reshape(-1, 2).T
    weights = np.linspace(0.5, 2, len(edges)).astype(np.float32) if weighted else None
    csr = build_csr(source, target, weights, (7, 5), duplicates="keep")
    x = normal(5, width)
    by_hand = torch.zeros(7, width, dtype=torch.float64)
    degree = [0.0] * 7
    for e, (row, column) in enumerate(edges):
        w = 1.0 if weights is None else float(weights[e])
        by_hand[row] += w * x[column]
        degree[row] += w
    for row in range(7):
        by_hand[row] /= max(degree[row], 1e-9) ** {"sum": 0, "sqrt": 0.5, "mean": 1}[scaling]
    torch.testing.assert_close(neighbor_sum(x, csr, scaling), by_hand, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("scaling", ["sum", "sqrt", "mean"])
def test_a_node_without_neighbors_gets_zeros_and_one_that_is_nobodys_neighbor_no_gradient(scaling):
    csr = build_csr(np.array([1, 1]), np.array([0, 2]), None, (3, 4))
    value, gradient = value_and_gradient(lambda x: neighbor_sum(x, csr, scaling), normal(4, 2), torch.ones(3, 2))
    assert not value[[0, 2]].any()
    assert not gradient[[1, 3]].any()


def test_rows_of_any_memory_layout_are_read_right(draw_csr):
    csr = draw_csr(9, 8)
    x = normal(20, 16)
    for view in (x.T[:8, :].clone().T.contiguous().T[:, :5], x[:16:2, 1:6], x[:1, :5].expand(8, 5), x.T[:8, 3:9]):
        torch.testing.assert_close(neighbor_sum(view, csr), neighbor_sum_reference(view, csr))


def test_wide_indices_of_very_large_graphs_are_read_right(draw_csr):
    csr = draw_csr(9, 8, weighted=True)
    wide = CSR(csr.indptr, csr.indices.astype(np.int64), csr.weights, csr.num_columns)
    assert torch.equal(neighbor_sum(normal(8, 5), wide), neighbor_sum(normal(8, 5), csr))


def test_prepared_neighbors_say_the_same_as_the_rows_they_came_from(draw_csr):
    csr = draw_csr(12, 7, weighted=True)
    neighbors = Neighbors.of(csr, "mean", threads=1)
    assert (neighbors.num_rows, neighbors.num_columns, neighbors.scaling) == (12, 7, "mean")
    x = normal(7, 4)
    assert torch.equal(neighbor_sum(x, neighbors), neighbor_sum(x, csr, "mean"))
    assert torch.equal(neighbor_sum(x, neighbors, "mean"), neighbor_sum(x, csr, "mean"))


def test_what_does_not_fit_is_explained(draw_csr):
    csr = draw_csr(5, 4)
    with pytest.raises(InputError, match=r"shape \(4, width\), got \(5, 2\)"):
        neighbor_sum(torch.ones(5, 2), csr)
    with pytest.raises(InputError, match=r"got \(4,\)"):
        neighbor_sum(torch.ones(4), csr)
    with pytest.raises(InputError, match=r"float32 or float64 on a CPU, got torch.int64; use x.float\(\)"):
        neighbor_sum(torch.ones(4, 2, dtype=torch.int64), csr)
    with pytest.raises(InputError, match="scaling must be one of 'sum', 'sqrt', 'mean', got 'max'"):
        neighbor_sum(torch.ones(4, 2), csr, "max")
    with pytest.raises(InputError, match="made with scaling 'sum', got 'mean'"):
        neighbor_sum(torch.ones(4, 2), Neighbors.of(csr), "mean")
    with pytest.raises(InputError, match="threads must be at least 1"):
        Neighbors.of(csr, threads=0)
    with pytest.raises(InputError, match=r"x is on meta and the neighbors are on cpu; use Neighbors.of"):
        neighbor_sum(torch.ones(4, 2, device="meta"), Neighbors.of(csr))


def test_negative_weights_add_up_but_are_no_degree():
    csr = build_csr(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([-2, 1, 3], np.float32), (2, 2))
    assert neighbor_sum(torch.tensor([[1.0], [10.0]]), csr).tolist() == [[8.0], [3.0]]
    with pytest.raises(InputError, match="must not be negative, got -1 in row 0; use scaling 'sum'"):
        neighbor_sum(torch.ones(2, 1), csr, "mean")


def test_importing_pine_does_not_import_torch():
    code = "import sys, pine; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
