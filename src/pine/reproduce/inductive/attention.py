"""GAT's layer without a message for every edge: sums weighted by attention are products with a sparse matrix.

    z_v = sum over u of a_vu y_u        dy_u = sum over v of a_vu dz_v        da_vu = dz_v . y_u

The heads are blocks on the diagonal of one matrix, so that each of these is one call. On PPI a step of GAT has 1.4 GB
of messages in its three layers, which PyG's layer writes and reads several times.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional
from torch_geometric.nn import GATConv
from torch_geometric.utils import softmax

from pine.nn.functional import sparse_matrix


class SparseGATConv(GATConv):  # type: ignore[misc]
    """PyG's GATConv on nodes of one type: the same parameters, the same numbers."""

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        """Nodes (n, in_channels) and edges (2, num_edges) that lead from u to v: (n, outputs)."""
        u, v = edges[:, edges[1].argsort()]
        y = self.lin(x).view(-1, self.heads, self.out_channels)
        logits = (y * self.att_src).sum(-1).index_select(0, u) + (y * self.att_dst).sum(-1).index_select(0, v)
        weights = softmax(functional.leaky_relu(logits, self.negative_slope), v, num_nodes=len(x))
        z: Tensor = WeightedSum.apply(weights, y, u, v)  # type: ignore[no-untyped-call]
        z = z.flatten(1) if self.concat else z.mean(1)
        return z if self.bias is None else z + self.bias


class WeightedSum(torch.autograd.Function):
    """weights (num_edges, heads) and y (n, heads, width): z (n, heads, width). v is ascending."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, y: Tensor, u: Tensor, v: Tensor) -> Tensor:
        ctx.save_for_backward(weights, y, u, v)
        return _heads_apart(_blocks(weights, v, u, len(y)) @ _stacked(y), y)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dz: Tensor) -> tuple[Tensor, Tensor, None, None]:
        weights, y, u, v = ctx.saved_tensors
        by_u = u.argsort()
        dy = _heads_apart(_blocks(weights[by_u], u[by_u], v[by_u], len(y)) @ _stacked(dz), y)
        where = _blocks(torch.zeros_like(weights), v, u, len(y))
        dots = torch.sparse.sampled_addmm(where, _stacked(dz), _stacked(y).T, beta=0.0)
        return dots.values().view(weights.shape[1], -1).T, dy, None, None


def _blocks(weights: Tensor, rows: Tensor, columns: Tensor, n: int) -> Tensor:
    """Sparse (heads n, heads n): a block for each head, with its weights. Rows are ascending."""
    count, heads = weights.shape
    head = torch.arange(heads, device=rows.device)[:, None]
    ends = torch.bincount(rows, minlength=n).cumsum(0)
    indptr = functional.pad((ends + count * head).flatten(), (1, 0))
    indices, size = (columns + n * head).flatten(), (heads * n, heads * n)
    return sparse_matrix(indptr, indices, weights.T.flatten(), size)


def _stacked(y: Tensor) -> Tensor:
    """(n, heads, width) as (heads n, width)."""
    return y.transpose(0, 1).flatten(0, 1)


def _heads_apart(z: Tensor, like: Tensor) -> Tensor:
    """(heads n, width) as (n, heads, width)."""
    n, heads, width = like.shape
    return z.view(heads, n, width).transpose(0, 1)
