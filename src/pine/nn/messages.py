"""What each node says to its neighbors: y = W g(x), with g(x) = sigma(u_q a_t^T x + v_q) over all t and q.

g has T Q values a node (512 in the paper) and W brings them to L. So g is made for a few nodes at a time and made again
in the backward pass, with no memory beyond x and y: on a CPU by pine.nn.hidden_layer, on a GPU by
pine.nn.triton_messages, elsewhere by torch's operations.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from pine.nn.hidden_layer import hidden_layer, layer_is_fast
from pine.nn.neighbor_dropout import BlockDropout
from pine.nn.triton_device import runs_triton

SIGMA = {"tanh": torch.tanh, "sigmoid": torch.sigmoid}
_SIGMA_ = {"tanh": torch.tanh_, "sigmoid": torch.sigmoid_}
# sigma' in terms of sigma, times the incoming gradient.
_SIGMA_BACKWARD = {
    "tanh": torch.ops.aten.tanh_backward.grad_input,
    "sigmoid": torch.ops.aten.sigmoid_backward.grad_input,
}

DEVICE_FLOATS = 1 << 27  # of g made at a time: enough to fill a device


def g(x: Tensor, a: Tensor, u: Tensor, v: Tensor, sigma: str) -> Tensor:
    """sigma(u_tq a_t^T x + v_q): x (..., N, M), a (..., T, M), u (..., 1 or T, Q), v (..., 1, Q) to (..., N, T, Q)."""
    p = x @ a.mT
    return SIGMA[sigma](p[..., None] * u[..., None, :, :] + v[..., None, :, :])


def messages(
    x: Tensor,
    a: Tensor,
    u: Tensor,
    v: Tensor,
    W: Tensor,
    sigma: str,
    floats: int | None = None,
    offset: Tensor | None = None,
    *,
    drop: BlockDropout | None = None,
    value: bool = True,
) -> Tensor:
    """W g(x): as for g, with W (..., L, T Q), to (..., N, L). Leading dimensions are independent copies.

    floats: of g made at a time; None: as many as suit the device. offset: (..., T Q), taken off g(x). drop: of x, which
    are some nodes of many. value: False where only gradients are wanted, which make g anew; what is returned is then no
    number.
    """
    if layer_is_fast(x):
        x = x if drop is None else drop.of(x)
        T, Q = a.shape[-2], v.shape[-1]
        u, v = (w.mT.expand(*W.shape[:-2], Q, T) for w in (u, v))
        o = torch.zeros_like(v) if offset is None else offset.reshape(*offset.shape[:-1], T, Q).mT
        W = W.reshape(*W.shape[:-1], T, Q).mT.flatten(-2)
        return hidden_layer(x, a, u, v, o, W, sigma, floats, value=value)
    if x.dtype == torch.float32 and runs_triton(x.device):
        from pine.nn import triton_messages  # only where Triton is installed

        if triton_messages.fits(x, a, W):
            return triton_messages.triton_messages(x, a, u, v, W, sigma, offset=offset, drop=drop, value=value)
    x = x if drop is None else drop.of(x)
    nodes = max(1, (DEVICE_FLOATS if floats is None else floats) // W[..., 0, :].numel())
    y = cast(Tensor, _Messages.apply(x, a, u, v, W, sigma, nodes))  # type: ignore[no-untyped-call]
    return y if offset is None else y - (W @ offset[..., None]).mT


def layer(s: Tensor, b: Tensor, W: Tensor, sigma: str) -> Tensor:
    """W sigma(s + b): s (..., N, L), b (..., L), W (..., d, L) to (..., N, d)."""
    if layer_is_fast(s):
        v = b[..., None, :]
        return hidden_layer(s, None, torch.ones_like(v), v, torch.zeros_like(v), W, sigma)
    return _SIGMA_[sigma](s + b[..., None, :]) @ W.mT


class _Messages(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, a: Tensor, u: Tensor, v: Tensor, W: Tensor, sigma: str, nodes: int) -> Tensor:
        ctx.save_for_backward(x, a, u, v, W)
        ctx.sigma, ctx.nodes = sigma, nodes
        blocks = torch.split(x, nodes, dim=-2)
        return torch.cat([_g(block @ a.mT, u, v, sigma).flatten(-2) @ W.mT for block in blocks], dim=-2)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor | None, ...]:
        x, a, u, v, W = ctx.saved_tensors
        dx = torch.empty_like(x) if ctx.needs_input_grad[0] else None
        da, du, dv, dW = (torch.zeros_like(z) for z in (a, u, v, W))
        at = 0
        for block, dy_block in zip(*(torch.split(each, ctx.nodes, dim=-2) for each in (x, dy)), strict=True):
            p = block @ a.mT
            z = _g(p, u, v, ctx.sigma)
            dW += dy_block.mT @ z.flatten(-2)
            dz = (dy_block @ W).view_as(z)
            dp = _into(_SIGMA_BACKWARD[ctx.sigma](dz, z, grad_input=dz), p, u, du, dv)
            da += dp.mT @ block
            if dx is not None:
                dx[..., at : at + block.shape[-2], :] = (dp @ a).sum_to_size(block.shape)
            at += block.shape[-2]
        return dx, da, du, dv, dW, None, None


def _g(p: Tensor, u: Tensor, v: Tensor, sigma: str) -> Tensor:
    return _SIGMA_[sigma](torch.addcmul(v[..., None, :, :], p[..., None], u[..., None, :, :]))


def _into(d: Tensor, p: Tensor, u: Tensor, du: Tensor, dv: Tensor) -> Tensor:
    """Hand the gradient d (..., n, T, Q) of p u + v on to p (returned), u and v (added to)."""
    if u.shape[-2] == 1:
        # One u for all t: matrix-vector products, without a temporary the size of d.
        flat = d.flatten(-3, -2)
        du += (flat.mT @ p.flatten(-2)[..., None]).mT
        dv += flat.sum(-2, keepdim=True)
        return (flat @ u.mT).view_as(p)
    du += (d * p[..., None]).sum(-3)
    dv += d.sum((-3, -2)).unsqueeze(-2)
    return (d * u[..., None, :, :]).sum(-1)
