"""Whitened propagation: x_v <- mean of x over the neighbors of v, rows to unit length, columns whitened; 40 times.

    X ~ N(0, 1);  40 times:  X <- P X,  P = D^-1 A;  every row to unit length;  X <- (X - mean) C^-1/2,  C = cov X

This is Cleora (Rychalska et al. 2021) as its library does it since version 3.2, but for two things: P, not the lazy
walk (I + P) / 2, which takes more rounds to tell classes apart, and Gaussian noise instead of hashes in the beginning.
Unit rows keep small components from taking all columns; whitening keeps the columns from becoming one.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pine._internal.parallel import compiled, over_parts, parts
from pine.graph.csr import CSR
from pine.model.init.tiles import CACHE_LINE, NARROW, STEPS, copy_row, multiply, sum_row
from pine.nn.training import device_of

ROUNDS = 40  # 20 lose a point at 200K nodes of planted classes and on citation graphs, 4 at 2M; 80 gain nothing
PART_ROWS, BLOCK_ROWS = (
    4096,
    64,
)  # rows that a thread takes at a time, and those of them that pass through its cache at a time
# Unit rows have a variance of at most 1 in all. A direction with less than this is rounding: it is left out.
LEAST_VARIANCE = 1e-6


def whitened_propagation(
    adjacency: CSR,
    degree: NDArray[np.float64],
    dim: int,
    rng: np.random.Generator,
    *,
    threads: int | None = None,
    device: str = "cpu",
) -> NDArray[np.float32]:
    """A vector for every node: (num_nodes, dim), unit standard deviation over all; zero where degree (num_nodes,) is.

    On a CPU the same bits for any number of threads, and memory for one more float32 array of the same shape.
    """
    if device_of(device).type == "cpu":
        return _on_cpu(adjacency, degree, dim, rng, threads)
    start = rng.standard_normal((adjacency.num_rows, dim), np.float32)
    return in_torch(adjacency, degree, start, device_of(device))


def whitened_propagation_reference(adjacency: CSR, x: NDArray[Any], rounds: int = ROUNDS) -> NDArray[np.float64]:
    """The definition, from a start x (num_nodes, dim), where all nodes have neighbors."""
    a = adjacency.to_scipy().astype(np.float64)
    for _ in range(rounds):
        x = (a @ x) / a.sum(axis=1)[:, None]
        x = x / np.linalg.norm(x, axis=1, keepdims=True)
        x = (x - x.mean(axis=0)) @ inverse_root(np.cov(x, rowvar=False, bias=True))
    found: NDArray[np.float64] = x / x.std()
    return found


def inverse_root(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """C^-1/2, zero in directions without variance."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > LEAST_VARIANCE
    root: NDArray[np.float64] = (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T
    return root


def unit_scale(whitening: NDArray[np.float64], covariance: NDArray[np.float64], rows: float, entries: int) -> float:
    """The factor that gives all entries unit standard deviation, where so many rows are whitened and the rest zero."""
    total = rows * np.trace(whitening @ covariance @ whitening)
    return float(np.sqrt(entries / total)) if total > 0 else 0.0


# ---- compiled ----


def _on_cpu(
    adjacency: CSR, degree: NDArray[np.float64], dim: int, rng: np.random.Generator, threads: int | None
) -> NDArray[np.float32]:
    """Rows are kept at unit length in 16 bits an entry, (x - mean) C^-1/2 is applied to their sums.

    P (U - mean) C^-1/2 = (P U - mean) C^-1/2, as rows of P add up to 1: one pass over the graph a round, in which a
    block of rows is summed, mapped, normalized and counted into mean and C while it is in the cache.
    """
    n, width = adjacency.num_rows, -(-dim // NARROW) * NARROW
    here, there = aligned_rows(n, width), aligned_rows(n, width)
    for lo, hi in parts(n, PART_ROWS):
        here[lo:hi, dim:] = 0
        # What the first round makes of noise does not depend on its scale; none is beyond 8 standard deviations.
        noise = rng.standard_normal((hi - lo, dim), np.float32).clip(-8, 8)
        here[lo:hi, :dim] = np.rint(noise * np.float32(STEPS / 8))
    inverse = np.divide(1, degree, out=np.zeros(n), where=degree > 0).astype(np.float32)
    connected = int(np.count_nonzero(degree))
    graph = (adjacency.indptr, adjacency.indices, adjacency.weights, inverse)
    sums, moments = (np.empty((len(parts(n, PART_ROWS)), *shape)) for shape in ((width,), (width, width)))

    mean, whitening = np.zeros(width), np.eye(width)
    for _ in range(ROUNDS):
        given = (mean.astype(np.float32), whitening.astype(np.float32))
        over_parts(_round, n, PART_ROWS, threads, *graph, here, *given, there, sums, moments)
        here, there = there, here
        mean = sums.sum(axis=0) / connected
        covariance = moments.sum(axis=0) / connected - np.outer(mean, mean)
        whitening = inverse_root(covariance)
    whitening *= unit_scale(whitening, covariance, connected, n * dim)

    del there
    x = np.empty((n, dim), np.float32)
    given = (mean.astype(np.float32), whitening.astype(np.float32))
    over_parts(_finish, n, PART_ROWS, threads, inverse, here, *given, x)
    return x


def aligned_rows(count: int, width: int) -> NDArray[np.int16]:
    """Room for rows of 16 bits an entry that begin with a cache line: a row in fewer lines is fetched sooner."""
    room = np.empty(2 * count * width + CACHE_LINE, np.uint8)
    first = -room.ctypes.data % CACHE_LINE
    return room[first : first + 2 * count * width].view(np.int16).reshape(count, width)


@compiled
def _round(
    lo: int,
    hi: int,
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[Any] | None,
    inverse: NDArray[Any],
    x: NDArray[Any],
    mean: NDArray[Any],
    whitening: NDArray[Any],
    out: NDArray[Any],
    sums: NDArray[Any],
    moments: NDArray[Any],
) -> None:
    width = x.shape[1]
    mapped, moment = np.empty((BLOCK_ROWS, width), np.float32), np.empty((width, width), np.float32)
    block, squares = np.empty((BLOCK_ROWS, width), np.float32), np.empty(NARROW, np.float32)
    total, product = sums[lo // PART_ROWS], moments[lo // PART_ROWS]
    total[:], product[:] = 0, 0
    for first in range(lo, hi, BLOCK_ROWS):
        block[:] = 0
        for row in range(first, min(first + BLOCK_ROWS, hi)):
            if inverse[row] > 0:
                sum_row(row, indptr, indices, weights, inverse[row], x, block, row - first)
                block[row - first] -= mean
        multiply(block, whitening, mapped)
        for row in range(first, min(first + BLOCK_ROWS, hi)):
            y = mapped[row - first]
            squares[:] = 0  # in lanes: one sum after the other would wait for itself
            for k in range(0, width, NARROW):
                for lane in range(NARROW):
                    squares[lane] += y[k + lane] * y[k + lane]
            square = squares.sum()
            if square > 0:
                scale = np.float32(1) / np.sqrt(square)
                for k in range(width):
                    y[k] *= scale
                    total[k] += y[k]
            copy_row(mapped, row - first, out, row)
        multiply(mapped.T, mapped, moment)
        product += moment


@compiled
def _finish(
    lo: int,
    hi: int,
    inverse: NDArray[Any],
    x: NDArray[Any],
    mean: NDArray[Any],
    whitening: NDArray[Any],
    out: NDArray[Any],
) -> None:
    block, mapped = np.empty((BLOCK_ROWS, x.shape[1]), np.float32), np.empty((BLOCK_ROWS, x.shape[1]), np.float32)
    for first in range(lo, hi, BLOCK_ROWS):
        block[:] = 0
        for row in range(first, min(first + BLOCK_ROWS, hi)):
            if inverse[row] > 0:
                copy_row(x, row, block, row - first)
                block[row - first] -= mean
        multiply(block, whitening, mapped)
        for row in range(first, min(first + BLOCK_ROWS, hi)):
            out[row] = mapped[row - first, : out.shape[1]]


# ---- torch, for any device ----


def in_torch(
    adjacency: CSR, degree: NDArray[np.float64], start: NDArray[np.float32], device: torch.device
) -> NDArray[np.float32]:
    """The same from a start (num_nodes, dim), in float32 and torch's own operations."""
    shares = np.divide(1, degree, out=np.zeros(len(degree)), where=degree > 0).repeat(adjacency.degrees())
    if adjacency.weights is not None:
        shares *= adjacency.weights
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
        p = torch.sparse_csr_tensor(
            torch.tensor(adjacency.indptr),
            torch.tensor(adjacency.indices.astype(np.int64)),
            torch.tensor(shares.astype(np.float32)),
            (len(degree), len(degree)),
            check_invariants=False,
        ).to(device)
    connected = torch.tensor(degree > 0, device=device)[:, None]
    count = int(np.count_nonzero(degree))
    x = torch.tensor(start, device=device)
    for _ in range(ROUNDS):
        x = torch.nn.functional.normalize(p @ x, dim=1, eps=torch.finfo(x.dtype).tiny)
        x -= x.sum(dim=0) / count
        x *= connected
        covariance = (x.T @ x).double().cpu().numpy() / count
        whitening = inverse_root(covariance)
        x = x @ torch.tensor(whitening, dtype=x.dtype, device=device)
    found: NDArray[np.float32] = (x * unit_scale(whitening, covariance, count, x.numel())).cpu().numpy()
    return found
