"""GraphWave: the embedding of a node samples the characteristic function of its heat wavelet (Donnat et al., 2018).

Psi = exp(-s L) is heat that starts at a node a and diffuses to all m; phi_a(t) = mean over m of exp(i t Psi_ma). Nodes
with similar surroundings get similar vectors, wherever in the graph they are.

With S = I - L, whose eigenvalues lie in [-1, 1], Psi is a sum of Chebyshev polynomials T_k with positive weights,

    exp(-s (I - S)) = sum over k of c_k T_k(S),    c_0 = e^-s I_0(s),    c_k = 2 e^-s I_k(s),

I_k the modified Bessel functions. SciPy has e^-s I_k(s) as one function, which neither overflows nor cancels: all c_k
together are 1, and what an order leaves out is the sum of the rest. At s = 1000 that is .0015 after 100 terms: the
series does not diverge, because c_k falls as exp(-k^2 / 2s).

Psi is computed a block of columns at a time: a column's characteristic function needs no other column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh
from scipy.special import ive

from pine._internal.memory import require_memory
from pine._internal.parallel import compiled, number_of_threads, over_parts, parts
from pine._internal.settings import Count, FinitePositive, SeedNumber
from pine.embedder import Embedder, Fitted
from pine.errors import InputError
from pine.graph import Graph
from pine.labels import Labels
from pine.propagation import normalized_adjacency

MAX_TRUNCATION_ERROR = 0.1  # of the series: beyond, a wavelet is no longer one
WAVELET_COLUMNS = 32  # of Psi that a thread holds at a time
DENSE_EIGENVALUES_MAX_NODES = 100


@dataclass
class GraphWave(Embedder):
    """Node types are ignored, and edges go both ways. Time grows with nodes x edges x order, memory with nodes.

    Defaults: the PINE paper's setting, Section 4.1 (heat 1000, 50 samples, 100 Chebyshev terms, steps of 20). These are
    the defaults of GraphWaveMachine, a public implementation that divides D - A by its largest eigenvalue, and so does
    laplacian="combinatorial"; GraphWave's own code has the normalized Laplacian, with which a heat of 1000 levels most
    of what is near. The 2 x samples columns are reduced to dim by PCA.

    dim: the length of a vector; None: all 2 x samples columns as they are.
    heat: s in exp(-s L).
    laplacian: "combinatorial", divided by its largest eigenvalue, or "normalized".
    samples: of the characteristic function.
    step: between samples: t = 0, 20, ..., 980.
    order: of the Chebyshev series.
    exact: whether to go by all eigenvectors instead, on small graphs.
    seed: nothing here is random; kept so that every method takes one.
    threads: of the CPU; None: all cores.
    """

    name: ClassVar[str] = "graphwave"
    revision: ClassVar[int] = 1
    supervised: ClassVar[bool] = False

    dim: Count | None = 64
    heat: FinitePositive = 1000.0
    laplacian: Literal["normalized", "combinatorial"] = "combinatorial"
    samples: Count = 50
    step: FinitePositive = 20.0
    order: Count = 100
    exact: bool = False
    seed: SeedNumber | None = None
    threads: Count | None = None

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        self._check()
        links = graph.links().nnz
        steps = graph.num_nodes**3 if self.exact else graph.num_nodes * links * self.order
        way_out = "set exact=False" if self.exact else "take a smaller graph"
        require_memory(self.name, self._bytes(graph.num_nodes, links), steps, way_out)
        matrix = DIFFUSIONS[self.laplacian](graph)
        if self.exact:
            sampled = characteristic_exact(matrix, self._heat, self.step, self.samples)
        else:
            sampled = characteristic(matrix, self._heat, self.order, self.step, self.samples, self.threads)
        vectors = sampled if self.dim is None else pca(sampled, self.dim)
        return Fitted(vectors.astype(np.float32))

    @property
    def _heat(self) -> float:
        """s for a Laplacian with eigenvalues up to 2; the other implementation scales them to 1."""
        return self.heat if self.laplacian == "normalized" else self.heat / 2

    def _check(self) -> None:
        if self.dim is not None and self.dim > 2 * self.samples:
            raise InputError(
                f"dim must lie between 1 and 2 x samples = {2 * self.samples}, or be None for all, got {self.dim}"
            )
        lost = 0.0 if self.exact else truncation_error(self._heat, self.order)
        if lost > MAX_TRUNCATION_ERROR:
            enough = int(np.ceil(2 * np.sqrt(self._heat)))  # c_k falls as exp(-k^2 / 2s)
            raise InputError(
                f"a series of order {self.order} leaves out {lost:.0%} of a heat of {self.heat:g}; "
                f"set order to {enough} or more, or lower the heat"
            )

    def _bytes(self, num_nodes: int, num_links: int) -> int:
        """Links and samples; for each thread T_k, T_k-1 and Psi; exact: L, its eigenvectors and their product."""
        working = 5 * num_nodes**2 if self.exact else 3 * num_nodes * WAVELET_COLUMNS * number_of_threads(self.threads)
        return 8 * (working + 3 * num_nodes * 2 * self.samples) + 60 * num_links


def pca(columns: NDArray[np.float64], dim: int) -> NDArray[np.float64]:
    """Project (count, width) on its dim principal directions; the largest entry of a direction is positive."""
    centered = columns - columns.mean(axis=0)
    _, directions = np.linalg.eigh(centered.T @ centered)
    main = directions[:, ::-1][:, :dim]
    largest = np.take_along_axis(main, np.abs(main).argmax(axis=0)[None, :], axis=0)
    return np.asarray(centered @ (main * np.sign(largest)))


# ---- S = I - L: a node without neighbors has L = 0, its heat stays ----


def normalized_diffusion(graph: Graph) -> sp.csr_array:
    """S = I - L = D^-1/2 A D^-1/2, and 1 at nodes without neighbors."""
    matrix = normalized_adjacency(graph)
    return sp.csr_array(matrix + sp.diags_array((matrix.sum(axis=1) == 0).astype(np.float64)))


def combinatorial_diffusion(graph: Graph) -> sp.csr_array:
    """S = I - L, where L = D - A is divided by half of its largest eigenvalue."""
    adjacency = graph.links().to_scipy().astype(np.float64)
    laplacian = sp.csr_array(sp.diags_array(adjacency.sum(axis=1)) - adjacency)
    largest = _largest_eigenvalue(laplacian)
    return sp.csr_array(sp.eye_array(graph.num_nodes) - (2 / largest if largest > 0 else 0) * laplacian)


def _largest_eigenvalue(matrix: sp.csr_array) -> float:
    if matrix.shape[0] <= DENSE_EIGENVALUES_MAX_NODES:
        return float(np.linalg.eigvalsh(matrix.toarray())[-1])
    start = np.cos(np.arange(matrix.shape[0]))  # the same each time; a vector of ones would be an eigenvector
    return float(eigsh(matrix, k=1, which="LA", v0=start, return_eigenvectors=False)[0])


DIFFUSIONS = {"normalized": normalized_diffusion, "combinatorial": combinatorial_diffusion}


# ---- wavelets ----


def chebyshev_weights(heat: float, order: int) -> NDArray[np.float64]:
    """c_0, ..., c_order: (order + 1,)."""
    weights = 2 * ive(np.arange(order + 1), heat)
    weights[0] /= 2
    return np.asarray(weights)


def truncation_error(heat: float, order: int) -> float:
    """The largest error of an eigenvalue of Psi, which is at most 1: what the weights lack to 1."""
    return float(1 - chebyshev_weights(heat, order).sum())


def characteristic(
    matrix: sp.csr_array, heat: float, order: int, step: float, samples: int, threads: int | None
) -> NDArray[np.float64]:
    """phi at t = 0, step, 2 step, ...: (num_nodes, 2 samples), real parts and then imaginary ones."""
    count = matrix.shape[0]
    out = np.empty((count, 2 * samples))
    weights = chebyshev_weights(heat, order)
    given = (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data, weights, float(step), out)
    over_parts(_characteristic, count, WAVELET_COLUMNS, threads, *given)
    return out


def characteristic_exact(matrix: sp.csr_array, heat: float, step: float, samples: int) -> NDArray[np.float64]:
    """The same by all eigenvectors of a dense S: the definition, for small graphs."""
    count = matrix.shape[0]
    out = np.empty((count, 2 * samples))
    values, vectors = np.linalg.eigh(matrix.toarray())
    decayed = vectors * np.exp(-heat * (1 - values))
    for lo, hi in parts(count, WAVELET_COLUMNS):
        _sample(np.ascontiguousarray(decayed @ vectors[lo:hi].T), float(step), out[lo:hi])
    return out


@compiled
def _characteristic(
    lo: int,
    hi: int,
    indptr: NDArray[Any],
    indices: NDArray[Any],
    data: NDArray[Any],
    weights: NDArray[Any],
    step: float,
    out: NDArray[Any],
) -> None:
    """Columns lo to hi of Psi by T_k+1 = 2 S T_k - T_k-1, and their samples into those rows of out."""
    count, width = len(indptr) - 1, hi - lo
    last, now, row = np.zeros((count, width)), np.zeros((count, width)), np.empty(width)
    for column in range(width):
        now[lo + column, column] = 1.0
    psi = weights[0] * now
    for k in range(1, len(weights)):
        factor = 1.0 if k == 1 else 2.0
        for node in range(count):
            row[:] = 0.0
            for entry in range(indptr[node], indptr[node + 1]):
                value, neighbor = factor * data[entry], indices[entry]
                for column in range(width):
                    row[column] += value * now[neighbor, column]
            # The row of T_k-1 is read here for the last time: T_k+1 takes its place.
            for column in range(width):
                last[node, column] = row[column] - last[node, column]
                psi[node, column] += weights[k] * last[node, column]
        last, now = now, last
    _sample(psi, step, out[lo:hi])


@compiled
def _sample(psi: NDArray[Any], step: float, out: NDArray[Any]) -> None:
    """The means of cos(t psi) and sin(t psi) over each column: exp(i k step psi) by k rotations."""
    count, width = psi.shape
    samples = out.shape[1] // 2
    real, imaginary = np.zeros((samples, width)), np.zeros((samples, width))
    for node in range(count):
        cosine, sine = np.cos(step * psi[node]), np.sin(step * psi[node])
        x, y = np.ones(width), np.zeros(width)
        for k in range(samples):
            for column in range(width):
                real[k, column] += x[column]
                imaginary[k, column] += y[column]
                rotated = x[column] * cosine[column] - y[column] * sine[column]
                y[column] = x[column] * sine[column] + y[column] * cosine[column]
                x[column] = rotated
    for column in range(width):
        for k in range(samples):
            out[column, k] = real[k, column] / count
            out[column, samples + k] = imaginary[k, column] / count
