"""PINE's aggregator (eq. nn-main): f(N_1, ..., N_K) = h(sum of g_1 over N_1, ..., sum of g_K over N_K), where

    g_k(x) = sigma(u_q a_t^T x + v_q)   for all t = 1..T_k, q = 1..Q_k
    h(z)   = c sigma(W z + b)

W is linear, so it goes before the sum: W_k g_k(x) is made once per node and L columns are summed instead of T_k Q_k.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import sqrt

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pine.errors import InputError, one_of
from pine.graph.csr import CSR
from pine.nn.messages import SIGMA, g, layer, messages
from pine.nn.neighbor_dropout import BlockDropout, draw_key, neighbor_dropout
from pine.nn.neighbor_sum import SCALINGS, Neighbors, neighbor_sum, neighbor_sum_reference


class SetFunction(nn.Module):
    """A function of K sets of neighbors, blind to the order within each: (num_targets, d) from their vectors.

    Parameters: a[k] (T_k, M_k), u[k] and v[k] (Q_k,), W (L, sum of T_k Q_k), b (L,), c (d, L). The default is the
    paper's print, with its sizes (Section 4.1); the options below are off in it.

    M: the neighbors' dimension in each group. d: the output's.
    T, Q: one number for all groups, or one a group. L: hidden units of h.
    sigma: "tanh" or "sigmoid".
    scales: "shared" has one u for all t, "per-projection" the theorem's u_t: u[k] is then (T_k, Q_k).
    heads: "shared" has one hidden layer for all d outputs; in "separate" each output owns all its parameters, which
        then have a leading dimension of d, and c is (d, 1, L).
    h: "two-layer", or "three-layer": h(z) = c sigma(B sigma(W z + b) + e) with B (L, L), e (L,).
    scaling: "sum", "sqrt" or "mean": what each sum over neighbors is divided by, 1, sqrt(degree) or degree.
    conditioned: divide W and B and c by the square root of their inputs, so that parameters of order 1 give values of
        order 1, and a step of Adam moves a hidden unit a little instead of saturating it.
    centered: g(x) - g(0) in place of g(x): inputs of W that have both signs.
    dropout: the chance that a coordinate of a node's vector is 0 for all who see it as a neighbor, in training. What is
        left is scaled up to the same mean.
    batch: make that many independent functions at once. Parameters, inputs (batch, N_k, M_k) and outputs
        (batch, num_targets, d) have it as their first dimension; an input (N_k, M_k) is common to all.
    generator: where the initial parameters come from; torch's own when left out.
    """

    chunk: int | None = None  # floats of g made at a time; None: as many as suit the device

    def __init__(
        self,
        M: Sequence[int],
        d: int,
        *,
        L: int = 16,
        T: int | Sequence[int] = 32,
        Q: int | Sequence[int] = 16,
        sigma: str = "tanh",
        scales: str = "shared",
        heads: str = "shared",
        h: str = "two-layer",
        scaling: str = "sum",
        conditioned: bool = False,
        centered: bool = False,
        dropout: float = 0.0,
        batch: int | None = None,
        generator: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        one_of("sigma", sigma, SIGMA)
        one_of("scales", scales, ("shared", "per-projection"))
        one_of("heads", heads, ("shared", "separate"))
        one_of("h", h, ("two-layer", "three-layer"))
        one_of("scaling", scaling, SCALINGS)
        if not 0 <= dropout < 1:
            raise InputError(f"dropout must be in [0, 1), got {dropout}")
        if isinstance(M, int) or min(M, default=0) < 1:
            raise InputError(f"M must be the neighbors' dimension in each group, as in [64] for one group, got {M}")
        self.M, self.d, self.L = tuple(M), d, L
        self.T, self.Q = _per_group("T", T, len(self.M)), _per_group("Q", Q, len(self.M))
        self.sigma, self.scales, self.heads, self.scaling = sigma, scales, heads, scaling
        self.conditioned, self.centered, self.batch = conditioned, centered, batch
        self.dropout = dropout
        self.z_sizes = [t * q for t, q in zip(self.T, self.Q, strict=True)]

        own = (() if batch is None else (batch,)) + ((d,) if heads == "separate" else ())
        outputs = 1 if heads == "separate" else d

        def normal(std: float, *shape: int) -> nn.Parameter:
            return nn.Parameter(std * torch.randn(*own, *shape, generator=generator, dtype=dtype).to(device))

        def uniform(*shape: int) -> nn.Parameter:
            return nn.Parameter((2 * torch.rand(*own, *shape, generator=generator, dtype=dtype) - 1).to(device))

        def dense(rows: int, columns: int) -> nn.Parameter:
            # Glorot's, or order 1 where the formula itself divides.
            return normal(1.0 if conditioned else sqrt(2 / (rows + columns)), rows, columns)

        def zeros(size: int) -> nn.Parameter:
            return nn.Parameter(torch.zeros(*own, size, dtype=dtype, device=device))

        each = list(zip(self.M, self.T, self.Q, strict=True))
        self.a = nn.ParameterList([normal(1 / sqrt(M_k), T_k, M_k) for M_k, T_k, _ in each])
        self.u = nn.ParameterList(
            [normal(1.0, *([T_k] if scales == "per-projection" else []), Q_k) for _, T_k, Q_k in each]
        )
        self.v = nn.ParameterList([uniform(Q_k) for _, _, Q_k in each])
        self.W, self.b = dense(L, sum(self.z_sizes)), zeros(L)
        self.B: nn.Parameter | None = dense(L, L) if h == "three-layer" else None
        self.e: nn.Parameter | None = zeros(L) if h == "three-layer" else None
        self.c = dense(outputs, L)

    def forward(
        self,
        xs: Sequence[Tensor],
        groups: Sequence[Neighbors | CSR | None],
        generator: torch.Generator | None = None,
        numbers: Sequence[NDArray[np.int64] | None] | None = None,
    ) -> Tensor:
        """Vectors of each group's nodes, (N_k, M_k), and who is whose neighbor, to (num_targets, d).

        groups[k] has a row for each target and a column for each node of group k; None: no neighbors there at all.
        numbers: of each group's nodes, by which they draw their dropout on a CPU; None: 0, 1, 2, ...
        """
        return self.finish(self._summed(self.messages(xs, generator, numbers), groups))

    def messages(
        self,
        xs: Sequence[Tensor],
        generator: torch.Generator | None = None,
        numbers: Sequence[NDArray[np.int64] | None] | None = None,
    ) -> list[Tensor]:
        """W_k g_k(x) of every node: a (N_k, L) for each group. Make it once where targets have several types."""
        if isinstance(xs, Tensor) or len(xs) != len(self.M):
            got = "one tensor" if isinstance(xs, Tensor) else f"{len(xs)}"
            raise InputError(f"xs must be a sequence of {len(self.M)} tensors, one per group, got {got}")
        Ws = torch.split(self._scaled(self.W), self.z_sizes, dim=-1)
        own = [None] * len(self.M) if numbers is None else numbers
        return [
            self._messages_of(k, self._dropped(k, x, generator, numbers_k), W_k)
            for k, (x, W_k, numbers_k) in enumerate(zip(xs, Ws, own, strict=True))
        ]

    def messages_of(self, k: int, x: Tensor, key: int | None, first: int, *, value: bool = True) -> Tensor:
        """The messages of the nodes from the first on of group k, (n, L), by a key from draw_keys.

        value: False where only gradients are wanted; what is returned is then no number.
        """
        W_k = torch.split(self._scaled(self.W), self.z_sizes, dim=-1)[k]
        drop = None if key is None else BlockDropout(self.dropout, key, first)
        return self._messages_of(k, self._input(k, x), W_k, drop, value=value)

    def draw_keys(self, generator: torch.Generator | None) -> list[int | None]:
        """What the dropout of each group takes from a generator, where nodes are made block by block."""
        draws = self.training and self.dropout > 0 and generator is not None
        return [draw_key(generator) if draws and generator is not None else None for _ in self.M]

    def _messages_of(
        self, k: int, x: Tensor, W_k: Tensor, drop: BlockDropout | None = None, *, value: bool = True
    ) -> Tensor:
        a, u, v = self._inner(k)
        offset = self._g_of_0(k) if self.centered else None
        return messages(x, a, u, v, W_k, self.sigma, self.chunk, offset, drop=drop, value=value)

    def combine(self, messages: Sequence[Tensor], groups: Sequence[Neighbors | CSR | None]) -> Tensor:
        """Sum the messages over the neighbors in each group and finish h: (num_targets, d)."""
        return self.finish(self._summed(messages, groups))

    def _summed(self, messages: Sequence[Tensor], groups: Sequence[Neighbors | CSR | None]) -> Tensor:
        if len(groups) != len(self.M):
            raise InputError(f"groups must have one entry per group, {len(self.M)}, got {len(groups)}")
        sums = [
            _in_columns(y, partial(neighbor_sum, neighbors=group, scaling=self.scaling))
            for y, group in zip(messages, groups, strict=True)
            if group is not None
        ]
        if not sums:
            raise InputError("every group is None, so the number of targets is unknown; give an empty CSR for one")
        return torch.stack(sums).sum(0) if len(sums) > 1 else sums[0]

    def hidden(self, xs: Sequence[Tensor], groups: Sequence[Neighbors | CSR | None]) -> Tensor:
        """sigma(W z + b) of each target, the layer after the sums: (num_targets, L)."""
        return self.hidden_of(self._summed(self.messages(xs), groups))

    def hidden_of(self, sums: Tensor) -> Tensor:
        """The same from the sums of messages, (n, L)."""
        return SIGMA[self.sigma](sums + self.b[..., None, :])

    @torch.no_grad()
    def fit_c(
        self,
        hidden: Tensor,
        wanted: Tensor,
        ridge: float,
        total: Callable[[Tensor], Tensor] = lambda each: each,
    ) -> None:
        """Ridge regression of wanted (n, d) on the hidden layer (n, L), for "two-layer": f is linear in c.

        total: the sum over all processes, where each has some of the nodes.
        """
        target = wanted.mT[..., None] if self.heads == "separate" else wanted
        count = int(total(torch.tensor(len(wanted), device=wanted.device)))
        self.solve_c(total(hidden.mT @ hidden) / count, total(hidden.mT @ target) / count, ridge)

    @torch.no_grad()
    def solve_c(self, gram: Tensor, products: Tensor, ridge: float) -> None:
        """The same from the means of hidden hidden' (L, L), which is written over, and of hidden wanted' (L, d)."""
        gram += ridge * torch.eye(self.L, dtype=gram.dtype, device=gram.device)
        c = torch.linalg.solve(gram, products).mT
        self.c.copy_(c / self._scaled(torch.ones_like(self.c)))

    def g(self, k: int, x: Tensor) -> Tensor:
        """g_k: (N, M_k) to (N, T_k Q_k)."""
        a, u, v = self._inner(k)
        z = g(self._input(k, x), a, u, v, self.sigma).flatten(-2)
        return z - self._g_of_0(k)[..., None, :] if self.centered else z

    def h(self, z: Tensor) -> Tensor:
        """h, of the sums of g_1, ..., g_K side by side: (N, sum of T_k Q_k) to (N, d)."""
        return self.finish(z @ self._scaled(self.W).mT)

    def neighbors(self, csr: CSR, *, threads: int | None = None) -> Neighbors:
        """Prepare one group's neighbors with this function's scaling, on its device."""
        return Neighbors.of(csr, self.scaling, self.b.device, threads=threads)

    def extra_repr(self) -> str:
        return f"M={self.M}, d={self.d}, L={self.L}, T={self.T}, Q={self.Q}, sigma={self.sigma!r}"

    def _inner(self, k: int) -> tuple[Tensor, Tensor, Tensor]:
        """a (..., T, M), u (..., 1 or T, Q), v (..., 1, Q)."""
        u = self.u[k] if self.scales == "per-projection" else self.u[k].unsqueeze(-2)
        return self.a[k], u, self.v[k].unsqueeze(-2)

    def _g_of_0(self, k: int) -> Tensor:
        v = SIGMA[self.sigma](self.v[k])
        return v[..., None, :].expand(*v.shape[:-1], self.T[k], self.Q[k]).flatten(-2)

    def _scaled(self, weight: Tensor) -> Tensor:
        return weight / sqrt(weight.shape[-1]) if self.conditioned else weight

    def _input(self, k: int, x: Tensor) -> Tensor:
        if x.shape[-1] != self.M[k] or x.ndim not in (2, 3) or (x.ndim == 3 and len(x) != self.batch):
            shape = f"(N, {self.M[k]})" + (f" or ({self.batch}, N, {self.M[k]})" if self.batch else "")
            raise InputError(f"vectors of group {k} must have shape {shape}, got {tuple(x.shape)}")
        # Separate heads all read the same vectors.
        return x.unsqueeze(1) if x.ndim == 3 and self.heads == "separate" else x

    def _dropped(
        self, k: int, x: Tensor, generator: torch.Generator | None, numbers: NDArray[np.int64] | None
    ) -> Tensor:
        x = self._input(k, x)
        return neighbor_dropout(x, self.dropout, generator, numbers) if self.training else x

    def finish(self, s: Tensor) -> Tensor:
        """c sigma(s + b), or the two layers after it, from the sums of messages: (n, L) to (n, d)."""
        if self.B is not None and self.e is not None:
            s = layer(s, self.b, self._scaled(self.B), self.sigma)
            out = layer(s, self.e, self._scaled(self.c), self.sigma)
        else:
            out = layer(s, self.b, self._scaled(self.c), self.sigma)
        return out.squeeze(-1).mT if self.heads == "separate" else out


def set_function_reference(f: SetFunction, xs: Sequence[Tensor], groups: Sequence[CSR]) -> Tensor:
    """The definition: W after the sums."""
    sums = [
        _in_columns(f.g(k, x), partial(neighbor_sum_reference, csr=csr, scaling=f.scaling))
        for k, (x, csr) in enumerate(zip(xs, groups, strict=True))
    ]
    return f.h(torch.cat(sums, dim=-1))


def _in_columns(y: Tensor, total: Callable[[Tensor], Tensor]) -> Tensor:
    """Sum (..., N, width) over neighbors to (..., num_targets, width): copies lie side by side as columns."""
    flat = y.movedim(-2, 0)
    return total(flat.flatten(1)).view(-1, *flat.shape[1:]).movedim(0, -2)


def _per_group(name: str, value: int | Sequence[int], K: int) -> tuple[int, ...]:
    values = (value,) * K if isinstance(value, int) else tuple(value)
    if len(values) != K or min(values, default=1) < 1:
        raise InputError(f"{name} must be one positive number, or one for each of the {K} groups, got {value}")
    return values
