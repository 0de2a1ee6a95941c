"""The sum over neighbors in Triton: equal to its definition, for rows of any length, with the same bits every time.

Runs on a CUDA device, or in Triton's interpreter on a CPU (TRITON_INTERPRET=1).
"""

from __future__ import annotations

import os
from importlib.util import find_spec

import numpy as np
import pytest
import torch
from support.tensors import normal

from pine.graph.csr import CSR, build_csr
from pine.nn import Neighbors, neighbor_sum, neighbor_sum_reference

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
on_cuda = pytest.mark.skipif(DEVICE.type == "cpu", reason="needs a CUDA device")
if find_spec("triton") is not None and (DEVICE.type == "cuda" or os.environ.get("TRITON_INTERPRET") == "1"):
    from pine.nn.triton_sums import TritonRows, cut_rows
else:
    pytest.skip("needs a CUDA device with Triton", allow_module_level=True)


def same_as_the_definition(csr, scaling, width, longest=256):
    scale = Neighbors.of(csr, scaling).scale
    x = normal(csr.num_columns, width).to(DEVICE).requires_grad_()
    upstream = normal(csr.num_rows, width, seed=1).to(DEVICE)
    wanted = neighbor_sum_reference(x, csr, scaling)
    (wanted_gradient,) = torch.autograd.grad(wanted, x, upstream)
    value = TritonRows(csr, scale, None, DEVICE, longest).total(x.detach().float())
    gradient = TritonRows(csr.transposed, None, scale, DEVICE, longest).total(upstream.float())
    assert value.dtype == gradient.dtype == torch.float32
    torch.testing.assert_close(value.double(), wanted.detach(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(gradient.double(), wanted_gradient, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("scaling", ["sum", "sqrt", "mean"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("width", [1, 3, 16, 21, 64, 131])
def test_value_and_gradient_equal_the_definition(draw_csr, scaling, weighted, width):
    same_as_the_definition(draw_csr(37, 23, weighted=weighted), scaling, width)


@pytest.mark.parametrize("longest", [2, 3, 8, 256])
@pytest.mark.parametrize("weighted", [False, True])
def test_long_rows_may_be_cut_into_any_pieces(draw_csr, longest, weighted):
    same_as_the_definition(draw_csr(11, 90, degree=30, weighted=weighted), "sqrt", 5, longest)


def test_a_node_with_all_others_as_neighbors_is_summed_in_several_rounds():
    leaves = np.arange(1, 1100)
    star = build_csr(leaves, np.zeros_like(leaves), None, (1100, 1100), mirror=True)
    same_as_the_definition(star, "mean", 3, longest=8)
    rounds = cut_rows(torch.tensor(star.indptr), 8)
    assert len(rounds) == 4  # 1,099 entries, 138 pieces, 18, 3
    assert all(cut.diff().max() <= 8 for cut, _ in rounds)


def test_rows_without_entries_get_zeros_wherever_they_are():
    for rows in (1, 5, 40):
        empty = CSR(np.zeros(rows + 1, np.int64), np.empty(0, np.int32), None, 4)
        assert TritonRows(empty, None, None, DEVICE).total(torch.ones(4, 2, device=DEVICE)).tolist() == [[0, 0]] * rows
    none = CSR(np.zeros(1, np.int64), np.empty(0, np.int32), None, 4)
    assert TritonRows(none, None, None, DEVICE).total(torch.ones(4, 2, device=DEVICE)).shape == (0, 2)


def test_wide_indices_and_rows_of_any_memory_layout_are_read_right(draw_csr):
    csr = draw_csr(9, 8, weighted=True)
    wide = CSR(csr.indptr, csr.indices.astype(np.int64), csr.weights, csr.num_columns)
    x = normal(20, 16, dtype=torch.float32).to(DEVICE)
    for view in (x[:16:2, 1:6], x[:1, :5].expand(8, 5), x.T[:8, 3:9]):
        for each in (csr, wide):
            torch.testing.assert_close(
                TritonRows(each, None, None, DEVICE).total(view), neighbor_sum_reference(view, csr)
            )


def test_the_same_input_gives_the_same_bits(draw_csr):
    csr = draw_csr(300, 200, degree=40, weighted=True)
    x = normal(200, 24, dtype=torch.float32).to(DEVICE)
    rows = TritonRows(csr, None, None, DEVICE, longest=8)
    assert all(torch.equal(rows.total(x), rows.total(x)) for _ in range(5))


@on_cuda
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_neighbor_sum_takes_the_kernel_for_single_precision_and_torch_for_others(draw_csr, dtype):
    csr = draw_csr(370, 230, weighted=True)
    neighbors = Neighbors.of(csr, "sqrt", "cuda")
    x = normal(230, 21, dtype=dtype).cuda().requires_grad_()
    (gradient,) = torch.autograd.grad(neighbor_sum(x, neighbors).square().sum(), x)
    (wanted,) = torch.autograd.grad(neighbor_sum_reference(x, csr, "sqrt").square().sum(), x)
    torch.testing.assert_close(gradient, wanted, rtol=1e-5, atol=1e-5)
    assert ("_triton_rows" in neighbors.__dict__) == (dtype == torch.float32)


@on_cuda
def test_a_sum_can_be_captured_in_a_graph_and_replayed(draw_csr):
    neighbors = Neighbors.of(draw_csr(370, 230), "sqrt", "cuda")
    x = normal(230, 16, dtype=torch.float32).cuda()
    neighbor_sum(x, neighbors)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = neighbor_sum(x, neighbors)
    x.copy_(normal(230, 16, dtype=torch.float32, seed=1))
    graph.replay()
    assert torch.equal(out, neighbor_sum(x, neighbors))
