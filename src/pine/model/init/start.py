"""A structural start: what x is before training, from the graph alone.

Up to EXACT_NODES nodes x_0 = U sqrt|S| of M = log max(1, vol W D^-1), with W = (1 - a) sum of a^(r-1) P^r over r >= 1.
M_ij says by how much more often a walk of geometric length from i ends in j than a node drawn by degree would be j:
NetMF (Qiu et al. 2018) with a geometric window in the place of T steps. Walks are those of the adjacency with its hubs
damped. Above, x_0 is whitened propagation (init/whitened_propagation).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from pine._internal.settings import Count
from pine.embedder import Embedder, Fitted, Seed
from pine.graph import Graph
from pine.graph.csr import CSR
from pine.labels import Labels
from pine.model.init.factor import leading_eigenpairs
from pine.model.init.whitened_propagation import whitened_propagation

# Chosen on held-out training labels after PINE's training, which gains from long walks where labels are few.
CONTINUE_PROB = 0.95  # a: the probability with which a walk goes on
# Edges are divided by (d_i d_j)^HUB_DAMPING: better on DBLP and BlogCatalog, whose hubs say little, a little worse on
# citation graphs, where more damping costs more.
HUB_DAMPING = 0.25
EXACT_NODES = 4_000
EXACT_ROUNDS = 12


def structural_start(
    adjacency: CSR, dim: int, rng: np.random.Generator, *, threads: int | None = None, device: str = "cpu"
) -> NDArray[np.float32]:
    """A vector for every node from a symmetric adjacency alone: (num_nodes, dim), unit standard deviation over all.

    Nodes without neighbors are zero; so are, up to EXACT_NODES nodes, the columns beyond the rank of M. Above, time and
    memory are linear in nodes and edges, and device says where the work is done.
    """
    start = np.zeros((adjacency.num_rows, dim), np.float32)
    degree = degrees(adjacency)
    connected = np.flatnonzero(degree > 0)
    if len(connected) == 0 or dim == 0:
        return start
    if len(connected) > EXACT_NODES:
        return whitened_propagation(adjacency, degree, dim, rng, threads=threads, device=device)
    start[connected] = exact_start(part(damped(adjacency), connected), dim, rng)
    return scaled(start)


def exact_start(walked: CSR, dim: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Factorize the dense M: (num_nodes, dim)."""
    matrix = log_window(walked)
    values, vectors = leading_eigenpairs(matrix.__matmul__, len(matrix), dim, rng, EXACT_ROUNDS, np.float64)
    return factor(values, vectors, dim)


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


def scaled(start: NDArray[np.float32]) -> NDArray[np.float32]:
    """Unit standard deviation over all entries, if they are not all the same."""
    deviation = start.std(dtype=np.float64)
    return start / np.float32(deviation) if deviation > 0 else start


@dataclass
class Propagation(Embedder):
    """embedding_ is PINE's x before training, for the same dim and seed: what training adds is measured against it.

    Whitened propagation on graphs of more than EXACT_NODES connected nodes, NetMF's factorization below.
    """

    name: ClassVar[str] = "propagation"
    former_names: ClassVar[tuple[str, ...]] = ("start",)
    revision: ClassVar[int] = 2
    supervised: ClassVar[bool] = False

    dim: Count = 64
    seed: Seed = 0
    device: str = "auto"
    threads: Count | None = None

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        return Fitted(structural_start(graph.links(), self.dim, rng, threads=self.threads, device=self.device))
