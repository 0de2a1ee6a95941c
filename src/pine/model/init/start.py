"""A structural start: x_0 = U sqrt|S| of M = log max(1, vol W D^-1), with W = (1 - a) sum of a^(r-1) P^r over r >= 1.

M_ij says by how much more often a walk of geometric length from i ends in j than a node drawn by degree would be j:
NetMF (Qiu et al. 2018) with a geometric window in the place of T steps. Walks are those of the adjacency with its hubs
damped. Up to EXACT_NODES nodes M is a dense matrix; above, only the largest entries of its rows are found (init/push),
and what lies between all nodes and the hubs is added (init/hubs).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from pine._internal.settings import Count
from pine.embedder import Embedder, Fitted, Seed
from pine.graph import Graph
from pine.graph.csr import CSR
from pine.labels import Labels
from pine.model.init.factor import leading_eigenpairs
from pine.model.init.hubs import near_hubs
from pine.model.init.push import product, pushed_log_window

# Chosen on held-out training labels after PINE's training, which gains from long walks where labels are few.
CONTINUE_PROB = 0.95  # a: the probability with which a walk goes on
# Edges are divided by (d_i d_j)^HUB_DAMPING: better on DBLP and BlogCatalog, whose hubs say little, a little worse on
# citation graphs, where more damping costs more.
HUB_DAMPING = 0.25
EXACT_NODES = 4_000
EXACT_ROUNDS, PUSHED_ROUNDS = 12, 4


def structural_start(
    adjacency: CSR, dim: int, rng: np.random.Generator, *, threads: int | None = None
) -> NDArray[np.float32]:
    """A vector for every node from a symmetric adjacency alone: (num_nodes, dim), unit standard deviation over all.

    Nodes without neighbors are zero, and so are the columns beyond the rank of M. Above EXACT_NODES nodes time and
    memory are linear in nodes and edges.
    """
    start = np.zeros((adjacency.num_rows, dim), np.float32)
    connected = np.flatnonzero(degrees(adjacency) > 0)
    if len(connected) == 0 or dim == 0:
        return start
    walked = damped(adjacency)
    if len(connected) <= EXACT_NODES:
        start[connected] = exact_start(part(walked, connected), dim, rng)
    else:
        start[:] = pushed_start(walked, dim, rng, threads)
    return scaled(start)


def exact_start(walked: CSR, dim: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Factorize the dense M: (num_nodes, dim)."""
    matrix = log_window(walked)
    values, vectors = leading_eigenpairs(matrix.__matmul__, len(matrix), dim, rng, EXACT_ROUNDS, np.float64)
    return factor(values, vectors, dim)


def pushed_start(walked: CSR, dim: int, rng: np.random.Generator, threads: int | None = None) -> NDArray[np.float32]:
    """Factorize the largest entries of M with B B' of the hubs: (num_nodes, dim)."""
    return smoothed(factor(*_pushed_eigenpairs(walked, dim, rng, threads), dim), walked)


def _pushed_eigenpairs(
    walked: CSR, dim: int, rng: np.random.Generator, threads: int | None
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    degree = degrees(walked)
    largest = product(pushed_log_window(walked, degree, CONTINUE_PROB, threads), threads)
    hubs = near_hubs(walked, degree, threads)

    def multiply(x: NDArray[Any]) -> NDArray[Any]:
        y: NDArray[Any] = largest(x) + hubs @ (hubs.T @ x)
        return y

    return leading_eigenpairs(multiply, walked.num_rows, dim, rng, PUSHED_ROUNDS, np.float32)


def log_window(walked: CSR) -> NDArray[np.float64]:
    """The dense M, for a graph without isolated nodes: (num_nodes, num_nodes).

    W = (1 - a) / a ((I - a P)^-1 - I); D^1/2 P D^-1/2 is symmetric, so the inverse is that of a positive definite,
    well-conditioned matrix.
    """
    degree = degrees(walked)
    root, diagonal = np.sqrt(degree), np.diag_indices(len(degree))
    matrix: NDArray[np.float64] = -CONTINUE_PROB * walked.to_scipy().astype(np.float64).toarray()
    matrix /= root[:, None]
    matrix /= root
    matrix[diagonal] += 1.0
    cholesky, _ = scipy.linalg.lapack.dpotrf(matrix, lower=1, overwrite_a=1)
    lower, _ = scipy.linalg.lapack.dpotri(cholesky, lower=1, overwrite_c=1)
    window: NDArray[np.float64] = np.tril(lower) + np.tril(lower, -1).T
    window[diagonal] -= 1.0
    window *= (1.0 - CONTINUE_PROB) / CONTINUE_PROB * degree.sum()
    window /= root[:, None]
    window /= root
    np.maximum(window, 1.0, out=window)
    np.log(window, out=window)
    return window


def degrees(adjacency: CSR) -> NDArray[np.float64]:
    """The sum of the weights of each row: (num_nodes,)."""
    weights = None if adjacency.weights is None else adjacency.weights.astype(np.float64)
    return np.bincount(adjacency.rows(), weights, adjacency.num_rows).astype(np.float64)


def damped(adjacency: CSR) -> CSR:
    """Every edge divided by (d_i d_j)^HUB_DAMPING, so that walks pass through hubs less often."""
    degree = degrees(adjacency)
    share = np.where(degree > 0, degree, 1.0) ** -HUB_DAMPING
    weights = share[adjacency.rows()] * share[adjacency.indices]
    if adjacency.weights is not None:
        weights *= adjacency.weights
    return CSR(adjacency.indptr, adjacency.indices, weights.astype(np.float32), adjacency.num_columns)


def part(adjacency: CSR, nodes: NDArray[np.int64]) -> CSR:
    """The adjacency among the given nodes."""
    if len(nodes) == adjacency.num_rows:
        return adjacency
    matrix = adjacency.to_scipy()[nodes][:, nodes]
    return CSR(matrix.indptr.astype(np.int64), matrix.indices, matrix.data, len(nodes))


def factor(values: NDArray[np.float64], vectors: NDArray[Any], dim: int) -> NDArray[Any]:
    """U sqrt|S|, every column signed so that its largest entry is positive, with columns of zeros up to dim."""
    x = vectors * np.sqrt(np.abs(values)).astype(vectors.dtype)
    largest = x[np.abs(x).argmax(axis=0), np.arange(x.shape[1])]
    x *= np.where(largest < 0, -1, 1).astype(x.dtype)
    return np.pad(x, ((0, 0), (0, dim - x.shape[1])))


def smoothed(x: NDArray[np.float32], walked: CSR) -> NDArray[np.float32]:
    """Two rounds of y <- (x + mean of y over neighbors) / 2: rows that were cut short learn from those beside them."""
    degree = degrees(walked)
    half = sp.diags_array((0.5 / np.where(degree > 0, degree, 1.0)).astype(np.float32)) @ walked.to_scipy()
    y = x
    for _ in range(2):
        y = half @ y + np.float32(0.5) * x
    return np.asarray(y, np.float32)


def scaled(start: NDArray[np.float32]) -> NDArray[np.float32]:
    """Unit standard deviation over all entries, if they are not all the same."""
    deviation = start.std(dtype=np.float64)
    return start / np.float32(deviation) if deviation > 0 else start


@dataclass
class StructuralStart(Embedder):
    """embedding_ is PINE's x before training, for the same dim and seed: what training adds is measured against it."""

    name: ClassVar[str] = "start"
    revision: ClassVar[int] = 1
    supervised: ClassVar[bool] = False

    dim: Count = 64
    seed: Seed = 0
    threads: Count | None = None

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        return Fitted(structural_start(graph.links(), self.dim, rng, threads=self.threads))
