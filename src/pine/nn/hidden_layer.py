"""A hidden layer of Q times T units on a CPU: y = W z with z_qt = tanh(u_qt p_t + v_qt) - o_qt and p = a x.

Both of f's layers are such: g with W, and h, where p is x itself. z, Q times as wide as p, is made for as many nodes as
fit a core's cache, and made again in the backward pass. Products are BLAS's; all that lies between two is one loop.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from numba import types
from numba.extending import overload
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from pine._internal.parallel import vectorized
from pine.nn.threads import empty, over_nodes

CACHE_FLOATS = 1 << 18  # of z made at a time, 1 MiB: with smaller blocks calls cost more than caches save
MOST_PARTS = 16  # of the nodes, each with sums of its own for the gradients of parameters


def hidden_layer_reference(x: Tensor, a: Tensor | None, u: Tensor, v: Tensor, o: Tensor, W: Tensor) -> Tensor:
    """The definition: x (..., N, M), a (..., T, M), u, v and o (..., Q, T), W (..., L, Q T) to (..., N, L)."""
    p = x if a is None else x @ a.mT
    z = torch.tanh(u[..., None, :, :] * p[..., None, :] + v[..., None, :, :]) - o[..., None, :, :]
    return z.flatten(-2) @ W.mT


def layer_is_fast(x: Tensor) -> bool:
    """Whether hidden_layer is for such a tensor; torch's compiler does not see through it."""
    return x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64) and not torch.compiler.is_compiling()


def hidden_layer(
    x: Tensor,
    a: Tensor | None,
    u: Tensor,
    v: Tensor,
    o: Tensor,
    W: Tensor,
    sigma: str = "tanh",
    floats: int | None = None,
    *,
    value: bool = True,
) -> Tensor:
    """The same with floats of z made at a time. Leading dimensions, of which x may lack some, are independent copies.

    value: False where only gradients are wanted; what is returned is then no number.

    In the memory of y the copies of a node lie side by side, as sums over neighbors want them.
    """
    if sigma == "sigmoid":  # (1 + tanh(x / 2)) / 2
        u, v, o, W = u / 2, v / 2, 2 * o - 1, W / 2
    if a is None:
        x = x.expand(*W.shape[:-2], *x.shape[-2:])
    nodes = max(1, (CACHE_FLOATS if floats is None else floats) // W.shape[-1])
    return cast(Tensor, _HiddenLayer.apply(x, a, u, v, o, W, nodes, value))  # type: ignore[no-untyped-call]


class _HiddenLayer(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, a: Tensor | None, u: Tensor, v: Tensor, o: Tensor, W: Tensor, nodes: int, value: bool
    ) -> Tensor:
        ctx.save_for_backward(x, a, u, v, o, W)
        ctx.nodes, ctx.copies = nodes, _copies(x, a, u, v, o, W)
        copies: list[_Copy] = ctx.copies
        y = empty(x.shape[-2], len(copies), W.shape[-2], like=x)

        def fill(first: int, last: int) -> None:
            (z,) = _scratch.tensors(1, min(nodes, last - first), *u.shape[-2:], dtype=x.dtype)
            for lo in range(first, last, nodes):
                block = slice(lo, min(lo + nodes, last))
                for k, copy in enumerate(copies):
                    p = copy.p(block)
                    z_k = z[: len(p)]
                    _forward(p.numpy(), *copy.inner, z_k.numpy())
                    torch.mm(z_k.flatten(1), copy.W.mT, out=y[block, k])

        if value:
            over_nodes(fill, len(y), _part(len(y), nodes))
        return y.view(len(y), *W.shape[:-1]).movedim(0, -2)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor | None, ...]:
        x, a, u, v, o, W = ctx.saved_tensors
        nodes, N, dy = ctx.nodes, x.shape[-2], _flat(dy)
        copies: list[_Copy] = ctx.copies
        size = _part(N, nodes)
        dx = _empty_gradient(_flat(x), side_by_side=a is None)
        # A sum for each part of the nodes, so that the order of additions does not depend on threads.
        shapes = [(0, 0) if a is None else a.shape[-2:], u.shape[-2:], v.shape[-2:], W.shape[-2:], (W.shape[-2], 1)]
        da, du, dv, dW, total = (x.new_zeros(-(-N // size), len(copies), *shape) for shape in shapes)

        def add(first: int, last: int) -> None:
            part = first // size
            z, dz = _scratch.tensors(2, min(nodes, last - first), *u.shape[-2:], dtype=x.dtype)
            for lo in range(first, last, nodes):
                block = slice(lo, min(lo + nodes, last))
                for k, copy in enumerate(copies):
                    p, dy_k = copy.p(block), dy[k, block]
                    z_k, dz_k, dp = z[: len(p)], dz[: len(p)], torch.empty_like(p)
                    torch.mm(dy_k, copy.W, out=dz_k.flatten(1))
                    own = du[part, k].numpy(), dv[part, k].numpy()
                    _backward(p.numpy(), *copy.inner, dz_k.numpy(), z_k.numpy(), dp.numpy(), *own)
                    dW[part, k].addmm_(dy_k.mT, z_k.flatten(1))
                    if o.requires_grad:
                        total[part, k] += dy_k.sum(0)[:, None]
                    if copy.a is None:
                        dx[k, block] = dp
                    else:
                        da[part, k].addmm_(dp.mT, copy.x[block])
                        # Copies that share x add up what each makes of it.
                        dx[copy.number_of_x, block].addmm_(dp, copy.a, beta=int(copy.shares_x))

        over_nodes(add, N, size)
        do = -(total.sum(0).mT @ _flat(W.detach()))
        each = zip((a, u, v, o, W), (da.sum(0), du.sum(0), dv.sum(0), do, dW.sum(0)), strict=True)
        return dx.view(x.shape), *(None if w is None else dw.view(w.shape) for w, dw in each), None, None


@dataclass(frozen=True)
class _Copy:
    """One copy of a layer: a is None where p is x."""

    x: Tensor
    a: Tensor | None
    inner: tuple[NDArray[Any], NDArray[Any], NDArray[Any]]  # u, v, o
    W: Tensor
    number_of_x: int
    shares_x: bool  # with a copy before it

    def p(self, block: slice) -> Tensor:
        return self.x[block].contiguous() if self.a is None else self.x[block] @ self.a.mT


def _copies(x: Tensor, a: Tensor | None, u: Tensor, v: Tensor, o: Tensor, W: Tensor) -> list[_Copy]:
    xs, Ws = _flat(x.detach()), _flat(W.detach())
    numbers = torch.arange(len(xs)).view(x.shape[:-2]).expand(W.shape[:-2]).flatten().tolist()
    projections = [None] * len(numbers) if a is None else _flat(a.detach())
    us, vs, os = (_flat(w.detach()).contiguous().numpy() for w in (u, v, o))
    return [
        _Copy(xs[number], projections[k], (us[k], vs[k], os[k]), Ws[k], number, number in numbers[:k])
        for k, number in enumerate(numbers)
    ]


def _flat(w: Tensor) -> Tensor:
    """One leading dimension."""
    return w.flatten(0, -3) if w.ndim > 2 else w[None]


def _part(N: int, nodes: int) -> int:
    """How many nodes a part has, with sums of its own: about a block, and an even number of parts to share."""
    blocks = min(MOST_PARTS, -(-N // nodes))
    return max(1, -(-N // (blocks + blocks % 2)) if blocks > 1 else N)


class _Scratch(threading.local):
    """Memory that each thread keeps for its next block: touching fresh memory takes longer than the work on it."""

    kept = torch.empty(0)

    def tensors(self, *shape: int, dtype: torch.dtype) -> Tensor:
        size = math.prod(shape)
        if self.kept.dtype != dtype or self.kept.numel() < size:
            self.kept = torch.empty(size, dtype=dtype)
        return self.kept[:size].view(shape)


_scratch = _Scratch()


def _empty_gradient(x: Tensor, side_by_side: bool) -> Tensor:
    """Like x (copies, N, M), in memory perhaps with the copies of a node side by side, as y has them."""
    copies, N, M = x.shape
    return empty(N, copies, M, like=x).movedim(1, 0) if side_by_side else empty(copies, N, M, like=x)


@vectorized
def _forward(p: NDArray[Any], u: NDArray[Any], v: NDArray[Any], o: NDArray[Any], z: NDArray[Any]) -> None:
    for i in range(p.shape[0]):
        for q in range(u.shape[0]):
            for t in range(p.shape[1]):
                z[i, q, t] = _tanh(p[i, t] * u[q, t] + v[q, t]) - o[q, t]


@vectorized
def _backward(
    p: NDArray[Any],
    u: NDArray[Any],
    v: NDArray[Any],
    o: NDArray[Any],
    dz: NDArray[Any],
    z: NDArray[Any],
    dp: NDArray[Any],
    du: NDArray[Any],
    dv: NDArray[Any],
) -> None:
    one = p.dtype.type(1)
    for i in range(p.shape[0]):
        dp[i] = 0
        for q in range(u.shape[0]):
            for t in range(p.shape[1]):
                tanh = _tanh(p[i, t] * u[q, t] + v[q, t])
                z[i, q, t] = tanh - o[q, t]
                d = dz[i, q, t] * (one - tanh * tanh)
                dp[i, t] += d * u[q, t]
                du[q, t] += d * p[i, t]
                dv[q, t] += d


def _tanh(x: float) -> float:
    """In compiled code; of float32 by a quotient of polynomials (Eigen's), within 3e-7, for which LLVM has vectors."""
    return math.tanh(x)


@overload(_tanh)  # type: ignore[untyped-decorator]
def _compiled_tanh(x: Any) -> Any:

    def exact(x: Any) -> Any:
        return math.tanh(x)

    limit = np.float32(7.90531110763549805)  # beyond it tanh is 1 but for rounding
    a0, a1, a2, a3, a4, a5, a6 = (
        np.float32(a)
        for a in (4.89352455891786e-03, 6.37261928875436e-04, 1.48572235717979e-05, 5.12229709037114e-08,
                  -8.60467152213735e-11, 2.00018790482477e-13, -2.76076847742355e-16)
    )  # fmt: skip
    b0, b1, b2, b3 = (
        np.float32(b) for b in (4.89352518554385e-03, 2.26843463243900e-03, 1.18534705686654e-04, 1.19825839466702e-06)
    )

    def quotient(x: Any) -> Any:
        x = limit if x > limit else x  # NaN stays what it is
        x = -limit if x < -limit else x
        s = x * x
        a = a0 + s * (a1 + s * (a2 + s * (a3 + s * (a4 + s * (a5 + s * a6)))))
        return x * a / (b0 + s * (b1 + s * (b2 + s * b3)))

    return exact if x == types.float64 else quotient
