"""What each node says to its neighbors: y = W g(x), with g(x) = sigma(u_q a_t^T x + v_q) over all t and q.

g has T Q values a node (512 in the paper) and W brings them to L. So g is made for a few nodes at a time, while it fits
the cache, and made again in the backward pass: several times as fast on a CPU as torch's own operations one after the
other, with no memory beyond x and y.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

SIGMA = {"tanh": torch.tanh, "sigmoid": torch.sigmoid}
_SIGMA_ = {"tanh": torch.tanh_, "sigmoid": torch.sigmoid_}
# sigma' in terms of sigma, times the incoming gradient.
_SIGMA_BACKWARD = {
    "tanh": torch.ops.aten.tanh_backward.grad_input,
    "sigmoid": torch.ops.aten.sigmoid_backward.grad_input,
}

# Floats of g made at a time: about a core's cache on a CPU, enough to fill the device elsewhere.
CHUNK = {"cpu": 1 << 19}
CHUNK_ELSEWHERE = 1 << 27


def g(x: Tensor, a: Tensor, u: Tensor, v: Tensor, sigma: str) -> Tensor:
    """sigma(u_tq a_t^T x + v_q): x (..., N, M), a (..., T, M), u (..., 1 or T, Q), v (..., 1, Q) to (..., N, T, Q)."""
    p = x @ a.mT
    return SIGMA[sigma](p[..., None] * u[..., None, :, :] + v[..., None, :, :])


def messages(x: Tensor, a: Tensor, u: Tensor, v: Tensor, W: Tensor, sigma: str) -> Tensor:
    """W g(x): as for g, with W (..., L, T Q), to (..., N, L). Leading dimensions are independent copies."""
    return cast(Tensor, _Messages.apply(x, a, u, v, W, sigma))  # type: ignore[no-untyped-call]


class _Messages(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, a: Tensor, u: Tensor, v: Tensor, W: Tensor, sigma: str) -> Tensor:
        ctx.save_for_backward(x, a, u, v, W)
        ctx.sigma = sigma
        return torch.cat([_g(part @ a.mT, u, v, sigma).flatten(-2) @ W.mT for part in _parts(W, x)], dim=-2)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor | None, ...]:
        x, a, u, v, W = ctx.saved_tensors
        dx = torch.empty_like(x) if ctx.needs_input_grad[0] else None
        da, du, dv, dW = (torch.zeros_like(z) for z in (a, u, v, W))
        at = 0
        for part, dy_part in zip(_parts(W, x), _parts(W, dy), strict=True):
            p = part @ a.mT
            z = _g(p, u, v, ctx.sigma)
            dW += dy_part.mT @ z.flatten(-2)
            dz = (dy_part @ W).view_as(z)
            dp = _into(_SIGMA_BACKWARD[ctx.sigma](dz, z, grad_input=dz), p, u, du, dv)
            da += dp.mT @ part
            if dx is not None:
                dx[..., at : at + part.shape[-2], :] = (dp @ a).sum_to_size(part.shape)
            at += part.shape[-2]
        return dx, da, du, dv, dW, None


def _parts(W: Tensor, x: Tensor) -> tuple[Tensor, ...]:
    """x (..., N, any), a few nodes at a time."""
    floats_per_node = W[..., 0, :].numel()
    return torch.split(x, max(1, CHUNK.get(x.device.type, CHUNK_ELSEWHERE) // floats_per_node), dim=-2)


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
