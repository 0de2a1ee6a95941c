"""Whitened propagation: x_v <- mean of x over the neighbors of v, rows to unit length, columns whitened; 40 times.

    X ~ N(0, 1);  40 times:  X <- P X,  P = D^-1 A;  every row to unit length;  X <- (X - mean) C^-1/2,  C = cov X

This is Cleora (Rychalska et al. 2021) as its library does it since version 3.2, but for two things: P, not the lazy
walk (I + P) / 2, which takes more rounds to tell classes apart, and Gaussian noise instead of hashes in the beginning.
Unit rows keep small components from taking all columns; whitening keeps the columns from becoming one.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pine.distributed.part import Whole
from pine.graph.csr import CSR
from pine.nn.sliced_rows import SlicedRows
from pine.nn.threads import over_nodes
from pine.nn.training import device_of, torch_threads

ROUNDS = 40  # 20 lose a point at 200K nodes of planted classes and on citation graphs, 4 at 2M; 80 gain nothing
CACHED_ROWS, GPU_ROWS = 8192, 2**20  # that are whitened at a time, by one thread
# Unit rows have a variance of at most 1 in all. A direction with less than this is rounding: it is left out.
LEAST_VARIANCE = 1e-6


def whitened_propagation_reference(adjacency: CSR, x: NDArray[Any], rounds: int = ROUNDS) -> NDArray[np.float64]:
    """The definition, from a start x (num_nodes, dim), where all nodes have neighbors."""
    a = adjacency.to_scipy().astype(np.float64)
    for _ in range(rounds):
        x = (a @ x) / a.sum(axis=1)[:, None]
        x = x / np.linalg.norm(x, axis=1, keepdims=True)
        x = (x - x.mean(axis=0)) @ inverse_root(np.cov(x, rowvar=False, bias=True))
    found: NDArray[np.float64] = x / x.std()
    return found


def whitened_propagation(
    adjacency: CSR,
    degree: NDArray[np.float64],
    dim: int,
    rng: np.random.Generator,
    *,
    threads: int | None = None,
    device: str = "cpu",
    part: Whole | None = None,
) -> NDArray[np.float32]:
    """A vector for every node: (num_nodes, dim), unit standard deviation over all; zero where degree (num_nodes,) is.

    What is kept of a round are its unit rows U. The next one whitens their means, P (U - mean) C^-1/2 =
    (P U - mean) C^-1/2 as rows of P add up to 1, and so needs one pass over blocks of rows beside the sum over
    neighbors. Memory for two more arrays of the same shape; on a CPU the same bits for any number of threads.
    """
    n, connected = len(degree), np.count_nonzero(degree)
    part = part or Whole(n)
    neighbors = part.neighbors(adjacency, None, "mean", device_of(device), None)
    has_neighbors = torch.tensor(part.rows(degree) > 0, dtype=torch.float32, device=neighbors.device)[:, None]
    u = part.noise(rng, dim, neighbors.device)
    mean, whitening = np.zeros(dim), np.eye(dim)
    with torch_threads(threads if u.device.type == "cpu" else 1):
        for _ in range(ROUNDS):
            sums = _round(u, part.sums(neighbors, u), has_neighbors, mean, whitening)
            totals, products = (part.ranks.total(each).cpu().numpy() for each in sums)
            mean = totals / connected
            covariance = products / connected - np.outer(mean, mean)
            whitening = inverse_root(covariance)
        squares = connected * np.trace(whitening @ covariance @ whitening)  # of all entries
        whitening *= np.sqrt(n * dim / squares) if squares > 0 else 0.0
        shift, factor = map(has_neighbors.new_tensor, (-mean @ whitening, whitening))
        x = part.after_sums(u)

        def finish(lo: int, hi: int) -> None:
            x[lo:hi] = torch.addmm(shift, u[lo:hi], factor).mul_(has_neighbors[lo:hi])

        over_nodes(finish, len(u), _rows_at_a_time(u))
    return cast(NDArray[np.float32], x.cpu().numpy())


def _round(
    u: Tensor | SlicedRows,
    means: Tensor | SlicedRows,
    has_neighbors: Tensor,
    mean: NDArray[np.float64],
    whitening: NDArray[np.float64],
) -> tuple[Tensor, Tensor]:
    """u (num_nodes, dim) <- unit rows of (means - mean) whitening; their sum and u' u, added up in float64."""
    n, dim = u.shape
    rows = _rows_at_a_time(u)
    shift, factor = map(has_neighbors.new_tensor, (-mean @ whitening, whitening))
    sums = has_neighbors.new_empty(-(-n // rows), dim)
    products = has_neighbors.new_empty(-(-n // rows), dim, dim)

    def unit_rows(lo: int, hi: int) -> None:
        made = torch.addmm(shift, means[lo:hi], factor, out=u[lo:hi] if isinstance(u, Tensor) else None)
        made *= has_neighbors[lo:hi] / made.norm(dim=1, keepdim=True).clamp_min_(torch.finfo(made.dtype).tiny)
        if isinstance(u, SlicedRows):
            u[lo:hi] = made
        torch.sum(made, 0, out=sums[lo // rows])
        torch.mm(made.mT, made, out=products[lo // rows])

    over_nodes(unit_rows, n, rows)
    return sums.double().sum(0), products.double().sum(0)


def _rows_at_a_time(u: Tensor | SlicedRows) -> int:
    return CACHED_ROWS if u.device.type == "cpu" else GPU_ROWS


def inverse_root(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """C^-1/2, zero in directions without variance."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > LEAST_VARIANCE
    root: NDArray[np.float64] = (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T
    return root
