"""Fast messages on a GPU: y = W g(x), g(x) = sigma(u_tq a_t^T x + v_q) - o_tq, where g never leaves the multiprocessor.

A program has p = a x of a block of nodes in its registers and goes through q: it makes the T values of g that belong to
q, and their product with W's columns. The backward pass does so again; each program adds what its blocks have to say
about W, u, v and a to a place of its own, and these are summed at the end: a fixed order, so the same bits every
time. Dropout of x is a hash of key and place, made where x is read (pine.nn.triton_dropout).
"""

from __future__ import annotations

from typing import Any, cast

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable

from pine.nn.neighbor_dropout import BlockDropout
from pine.nn.triton_device import kernel, kernel_for_any, multiprocessors, on_device_of
from pine.nn.triton_dropout import drop_options, factor_of

# Products of float32 by the matrix units: each factor as a sum of two bfloat16, three of their four products. Gradients
# are within 1e-5 of exact ones (200K nodes, H200); with "tf32x3" within 1e-6, the forward pass taking 1.4 (L = 16) to
# 3.2 times (L = 128) as long; with "tf32" only within 1.5e-3, for 10 % less time in the backward pass.
PRECISION = "bf16x3"
MOST = {"M": 128, "T": 64, "L": 256}  # sizes up to which a block's arrays fit the registers


def fits(x: Tensor, a: Tensor, W: Tensor) -> bool:
    """Whether the kernels are made for these sizes; copies must lie along one dimension, or be one."""
    sizes = {"M": a.shape[-1], "T": a.shape[-2], "L": W.shape[-2]}
    return a.ndim in (2, 3) and x.ndim <= a.ndim and all(sizes[name] <= MOST[name] for name in sizes)


def triton_messages(
    x: Tensor,
    a: Tensor,
    u: Tensor,
    v: Tensor,
    W: Tensor,
    sigma: str,
    precision: str = PRECISION,
    *,
    offset: Tensor | None = None,
    drop: BlockDropout | None = None,
    value: bool = True,
) -> Tensor:
    """As pine.nn.messages.messages, in float32: x (..., N, M), a (..., T, M), u (..., 1 or T, Q), v (..., 1, Q).

    Copies drop alike.
    """
    single = a.ndim == 2
    x = x.expand(*a.shape[:-2], *x.shape[-2:])
    given = [None if each is None else each[None] if single else each for each in (x, a, u, v, W, offset)]
    y = cast(Tensor, _TritonMessages.apply(*given, sigma, precision, drop, value))  # type: ignore[no-untyped-call]
    return y[0] if single else y


class _TritonMessages(torch.autograd.Function):
    """With a first dimension of B copies throughout."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        a: Tensor,
        u: Tensor,
        v: Tensor,
        W: Tensor,
        offset: Tensor | None,
        sigma: str,
        precision: str,
        drop: BlockDropout | None,
        value: bool,
    ) -> Tensor:
        x, a, u, v = _in_rows(x), a.contiguous(), u.contiguous(), v.contiguous()
        (B, N, _), T, Q = x.shape, a.shape[-2], u.shape[-1]
        # W (B, Q, T, L): what belongs to one q lies together.
        w = W.reshape(B, -1, T, Q).permute(0, 3, 2, 1).contiguous()
        o = None if offset is None else offset.view(B, T, Q).mT.contiguous()
        ctx.save_for_backward(x, a, u, v, w, o)
        ctx.options = {"TANH": sigma == "tanh", "PRECISION": precision, **drop_options(drop)}
        ctx.place = (0, 0) if drop is None else (drop.key, drop.first)
        y = x.new_empty(B, N, W.shape[-2])
        if value and y.numel():
            tile = forward_tile(x, w)
            grid = (triton.cdiv(N, tile["NODES"]), B)
            with on_device_of(x):
                _forward[grid](x, a, u, v, w, o, y, *_sizes(x, u, w), *ctx.place, **ctx.options, **tile)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor | None, ...]:
        x, a, u, v, w, o = ctx.saved_tensors
        (B, N, M), (_, Q, T, L) = x.shape, w.shape
        dy = _in_rows(dy)
        dx = x.new_empty(B, N, M) if ctx.needs_input_grad[0] else None
        tile = backward_tile(x, w)
        blocks = triton.cdiv(N, tile["NODES"])
        programs = min(blocks, max(1, 4 * multiprocessors(x.device) // B))
        sizes = [Q * T * L, Q * T, Q * T, T * M]
        own = x.new_empty(B, programs, sum(sizes))
        if own.numel():
            given = (x, a, u, v, w, o, dy, dx, own, *_sizes(x, u, w), dy.stride(0), dy.stride(1), blocks, *ctx.place)
            with on_device_of(x):
                _backward[(programs, B)](*given, **ctx.options, **tile)
        dW, du, dv, da = own.sum(1).split(sizes, dim=-1)
        do = None if o is None else -(w @ dy.sum(1)[:, None, :, None]).squeeze(-1)
        du = du.view(B, Q, T).mT
        return (
            dx,
            da.view(B, T, M),
            du if u.shape[-2] == T else du.sum(-2, keepdim=True),
            dv.view(B, Q, T).sum(-1)[:, None],
            dW.view(B, Q, T, L).permute(0, 3, 2, 1).flatten(-2),
            None if do is None else do.mT.flatten(-2),
            None,
            None,
            None,
            None,
        )


def _in_rows(x: Tensor) -> Tensor:
    """Each row in one piece, wherever rows and copies lie."""
    return x if x.stride(-1) == 1 else x.contiguous()


def _sizes(x: Tensor, u: Tensor, w: Tensor) -> tuple[int, ...]:
    (_, N, M), (_, Q, T, L) = x.shape, w.shape
    return N, M, Q, T, L, x.stride(0), x.stride(1), u.shape[-2] * Q, 0 if u.shape[-2] < T else Q


# Of the few tiles tried on an H200, none was clearly faster than 64 nodes by 4 warps. The backward pass fills the
# registers, and is faster without loads ahead of their use.


def forward_tile(x: Tensor, w: Tensor) -> dict[str, int]:
    return {"NODES": 64, "num_warps": 4, "num_stages": 2, **_rounded(x, w)}


def backward_tile(x: Tensor, w: Tensor) -> dict[str, int]:
    return {"NODES": 64, "num_warps": 4, "num_stages": 1, **_rounded(x, w)}


def _rounded(x: Tensor, w: Tensor) -> dict[str, int]:
    M, T, L = (max(16, triton.next_power_of_2(size)) for size in (x.shape[-1], *w.shape[-2:]))
    return {"BM": M, "BT": T, "BL": L}


@kernel
def _sigma(s, TANH: tl.constexpr):  # type: ignore[no-untyped-def]
    return 2 * tl.sigmoid(2 * s) - 1 if TANH else tl.sigmoid(s)


@kernel_for_any("key", "first")
def _forward(  # type: ignore[no-untyped-def]
    x,
    a,
    u,
    v,
    w,
    o,
    y,
    N,
    M: tl.constexpr,
    Q: tl.constexpr,
    T: tl.constexpr,
    L: tl.constexpr,
    x_copy,
    x_row,
    u_copy,
    u_row,
    key: tl.int64,
    first: tl.int64,
    NODES: tl.constexpr,
    BM: tl.constexpr,
    BT: tl.constexpr,
    BL: tl.constexpr,
    TANH: tl.constexpr,
    PRECISION: tl.constexpr,
    DROP: tl.constexpr,
    LIMIT: tl.constexpr,
    GROW: tl.constexpr,
):
    copy = tl.program_id(1).to(tl.int64)
    n = (tl.program_id(0) * NODES + tl.arange(0, NODES)[:, None]).to(tl.int64)
    m, t, k = tl.arange(0, BM), tl.arange(0, BT), tl.arange(0, BL)[None, :]
    block = tl.load(x + copy * x_copy + n * x_row + m[None, :], mask=(n < N) & (m < M)[None, :], other=0.0)
    if DROP:
        block *= factor_of(key, first + n, m[None, :], LIMIT, GROW)
    at = tl.load(a + copy * T * M + t[None, :] * M + m[:, None], mask=(t < T)[None, :] & (m < M)[:, None], other=0.0)
    p = tl.dot(block, at, input_precision=PRECISION)
    total = tl.zeros((NODES, BL), tl.float32)
    for q in range(Q):
        uq = tl.load(u + copy * u_copy + t * u_row + q, mask=t < T, other=0.0)
        z = _sigma(p * uq[None, :] + tl.load(v + copy * Q + q), TANH)
        if o is not None:
            z -= tl.load(o + (copy * Q + q) * T + t, mask=t < T, other=0.0)[None, :]
        wq = tl.load(w + (copy * Q + q) * T * L + t[:, None] * L + k, mask=(t < T)[:, None] & (k < L), other=0.0)
        total = tl.dot(z, wq, total, input_precision=PRECISION)
    tl.store(y + (copy * N + n) * L + k, total, mask=(n < N) & (k < L))


@kernel_for_any("key", "first")
def _backward(  # type: ignore[no-untyped-def]
    x,
    a,
    u,
    v,
    w,
    o,
    dy,
    dx,
    own,
    N,
    M: tl.constexpr,
    Q: tl.constexpr,
    T: tl.constexpr,
    L: tl.constexpr,
    x_copy,
    x_row,
    u_copy,
    u_row,
    dy_copy,
    dy_row,
    blocks,
    key: tl.int64,
    first: tl.int64,
    NODES: tl.constexpr,
    BM: tl.constexpr,
    BT: tl.constexpr,
    BL: tl.constexpr,
    TANH: tl.constexpr,
    PRECISION: tl.constexpr,
    DROP: tl.constexpr,
    LIMIT: tl.constexpr,
    GROW: tl.constexpr,
):
    copy, program, programs = tl.program_id(1).to(tl.int64), tl.program_id(0), tl.num_programs(0)
    m, t, k = tl.arange(0, BM), tl.arange(0, BT), tl.arange(0, BL)[None, :]
    inside_a, inside_w = (t < T)[:, None] & (m < M)[None, :], (t < T)[:, None] & (k < L)
    as_rows = tl.load(a + copy * T * M + t[:, None] * M + m[None, :], mask=inside_a, other=0.0)
    # This program's sums: dW (Q, T, L), du (Q, T), dv (Q, T), da (T, M).
    dw = own + (copy * programs + program) * (Q * T * (L + 2) + T * M)
    du = dw + Q * T * L
    dv = du + Q * T
    da = tl.zeros((BT, BM), tl.float32)
    for at in range(program, blocks, programs):
        n = (at * NODES + tl.arange(0, NODES)[:, None]).to(tl.int64)
        inside_x = (n < N) & (m < M)[None, :]
        block = tl.load(x + copy * x_copy + n * x_row + m[None, :], mask=inside_x, other=0.0)
        if DROP:
            factor = factor_of(key, first + n, m[None, :], LIMIT, GROW)
            block *= factor
        d_block = tl.load(dy + copy * dy_copy + n * dy_row + k, mask=(n < N) & (k < L), other=0.0)
        p = tl.dot(block, tl.trans(as_rows), input_precision=PRECISION)
        dp = tl.zeros((NODES, BT), tl.float32)
        later = at > program  # the first block finds nothing to add to
        for q in range(Q):
            uq = tl.load(u + copy * u_copy + t * u_row + q, mask=t < T, other=0.0)
            z = _sigma(p * uq[None, :] + tl.load(v + copy * Q + q), TANH)
            wq = tl.load(w + (copy * Q + q) * T * L + t[:, None] * L + k, mask=inside_w, other=0.0)
            d = tl.dot(d_block, tl.trans(wq), input_precision=PRECISION) * (1 - z * z if TANH else z * (1 - z))
            dp += d * uq[None, :]
            if o is not None:
                z -= tl.load(o + (copy * Q + q) * T + t, mask=t < T, other=0.0)[None, :]
            dwq = dw + q * T * L + t[:, None] * L + k
            known = tl.load(dwq, mask=inside_w & later, other=0.0)
            tl.store(dwq, tl.dot(tl.trans(z), d_block, known, input_precision=PRECISION), mask=inside_w)
            known = tl.load(du + q * T + t, mask=(t < T) & later, other=0.0)
            tl.store(du + q * T + t, known + tl.sum(d * p, axis=0), mask=t < T)
            known = tl.load(dv + q * T + t, mask=(t < T) & later, other=0.0)
            tl.store(dv + q * T + t, known + tl.sum(d, axis=0), mask=t < T)
        da = tl.dot(tl.trans(dp), block, da, input_precision=PRECISION)
        if dx is not None:
            d_x = tl.dot(dp, as_rows, input_precision=PRECISION)
            if DROP:
                d_x *= factor
            tl.store(dx + (copy * N + n) * M + m[None, :], d_x, mask=inside_x)
        tl.debug_barrier()  # the next block reads what other threads of this program wrote
    tl.store(dv + Q * T + t[:, None] * M + m[None, :], da, mask=inside_a)
