"""Random tensors, neighborhoods and functions, the same for the same seed."""

from __future__ import annotations

import numpy as np
import torch

from pine.graph.csr import build_csr
from pine.nn import SetFunction


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def normal(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, generator=generator(seed))


def make(M=(3, 5), d=4, L=6, T=(3, 2), Q=(2, 7), dtype=torch.float64, seed=0, **options):
    """A small set function of two groups."""
    return SetFunction(M, d, L=L, T=T, Q=Q, dtype=dtype, generator=generator(seed), **options)


def random_csr(rows, columns, count, weighted=False, seed=0):
    """The first row stays empty."""
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.1, 2, count).astype(np.float32) if weighted else None
    return build_csr(rng.integers(1, rows, count), rng.integers(0, columns, count), weights, (rows, columns))
