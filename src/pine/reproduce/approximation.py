"""How well f = h(sum of g) learns functions of sets from samples as it grows.

Theorem 3.2 says that f can come as close as one likes to any function of sets, given enough units; this shows how fast.
Size s means L = 2 s hidden units of h and T Q = s M units of g_k (T = M, Q = s). Error is the root mean square on fresh
sets, divided by the function's own standard deviation; 5 seeds of data and parameters are trained side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pine.graph.csr import CSR
from pine.nn import Neighbors, SetFunction
from pine.nn.losses import agreement

APPROXIMATION_REVISION = 1  # kept errors go by it: raise it when what is computed here changes


@dataclass(frozen=True)
class Target:
    """A function of K groups of vectors: value takes a (..., size_k, M_k) for each group, uniform in [-1, 1]."""

    name: str
    value: Callable[..., Tensor]
    sizes: tuple[int, ...]
    M: tuple[int, ...]


_TARGETS = (
    Target("largest of 5 numbers", lambda x: x.amax((-2, -1)), (5,), (1,)),
    Target("second largest of 5 numbers", lambda x: x.sort(-2).values[..., -2, 0], (5,), (1,)),
    Target("total variance of 5 points in the plane", lambda x: x.var(-2, correction=0).sum(-1), (5,), (2,)),
    Target(
        "sum of 3 of one type times largest of 4 of another",
        lambda x, y: x.sum((-2, -1)) * y.amax((-2, -1)),
        (3, 4),
        (1, 1),
    ),
)
TARGETS = {target.name: target for target in _TARGETS}


def errors(target: Target, size: int, num_sets: int = 2000, steps: int = 500, seeds: int = 5) -> NDArray[np.float32]:
    """Train one function per seed: the relative test error of each, (seeds,)."""
    generator = torch.Generator().manual_seed(size)
    f = SetFunction(
        target.M, 1, L=2 * size, T=target.M, Q=size, conditioned=True, centered=True, batch=seeds, generator=generator
    )
    xs, y, groups = samples(target, num_sets, seeds, generator)
    center, spread = y.mean(), y.std()
    # Smooth, deterministic and small: L-BFGS gets as far in 300 steps as Adam in thousands.
    optimizer = torch.optim.LBFGS(
        f.parameters(),
        max_iter=steps,
        max_eval=steps,
        history_size=100,
        line_search_fn="strong_wolfe",
        tolerance_change=0,
        tolerance_grad=0,
    )

    def loss() -> Tensor:
        optimizer.zero_grad()
        # The sum of independent losses trains each function as if it were alone.
        total = agreement((y - center) / spread, f(xs, groups)).sum()
        total.backward()  # type: ignore[no-untyped-call]
        return total

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    with torch.no_grad():
        xs, y, groups = samples(target, num_sets, seeds, generator)
        miss = (y - center) / spread - f(xs, groups)
        found: NDArray[np.float32] = (miss.square().mean((-2, -1)).sqrt() / (y.std() / spread)).numpy()
        return found


def samples(
    target: Target, num_sets: int, seeds: int, generator: torch.Generator
) -> tuple[list[Tensor], Tensor, list[Neighbors]]:
    """Vectors of each group's nodes (seeds, N_k, M_k), values (seeds, num_sets, 1), and whose neighbor each node is."""
    sets = [
        2 * torch.rand(seeds, num_sets, size, M, generator=generator) - 1
        for size, M in zip(target.sizes, target.M, strict=True)
    ]
    groups = [Neighbors.of(disjoint_sets(num_sets, size)) for size in target.sizes]
    return [x.flatten(1, 2) for x in sets], target.value(*sets)[..., None], groups


def disjoint_sets(num_sets: int, size: int) -> CSR:
    """Set i has the nodes i size, ..., (i + 1) size - 1."""
    return CSR(np.arange(num_sets + 1) * size, np.arange(num_sets * size, dtype=np.int32), None, num_sets * size)
