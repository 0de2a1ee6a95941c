"""Heat wavelets and their characteristic functions: Psi = exp(-s L), phi_a(t) = mean over m of exp(i t Psi_ma).

With S = I - L, whose eigenvalues lie in [-1, 1], exp(-s L) is a sum of Chebyshev polynomials T_k with positive weights,

    exp(-s (I - S)) = sum over k of c_k T_k(S),    c_0 = e^-s I_0(s),    c_k = 2 e^-s I_k(s),

I_k the modified Bessel functions. SciPy has e^-s I_k(s) as one function, which neither overflows nor cancels: all c_k
together are 1, and what an order leaves out is the sum of the rest. At s = 1000 that is .0015 after 100 terms: the
series does not diverge, because c_k falls as exp(-k^2 / 2s).

Psi is made a block of columns at a time: a column's characteristic function needs no other column.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import ive

from pine._internal.compiled import compiled
from pine._internal.parallel import over_parts, parts

BLOCK = 32  # columns of Psi that a thread holds at a time


def chebyshev_weights(heat: float, order: int) -> NDArray[np.float64]:
    """c_0, ..., c_order: (order + 1,)."""
    weights = 2 * ive(np.arange(order + 1), heat)
    weights[0] /= 2
    return np.asarray(weights)


def left_out(heat: float, order: int) -> float:
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
    over_parts(_characteristic, count, BLOCK, threads, *given)
    return out


def characteristic_exact(matrix: sp.csr_array, heat: float, step: float, samples: int) -> NDArray[np.float64]:
    """The same by all eigenvectors of a dense L: the definition, for small graphs."""
    count = matrix.shape[0]
    out = np.empty((count, 2 * samples))
    values, vectors = np.linalg.eigh(matrix.toarray())
    cooled = vectors * np.exp(-heat * (1 - values))
    for lo, hi in parts(count, BLOCK):
        _sample(np.ascontiguousarray(cooled @ vectors[lo:hi].T), float(step), out[lo:hi])
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
    """The means of cos(t psi) and sin(t psi) over each column: exp(i k step psi) by turning on k times."""
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
                turned = x[column] * cosine[column] - y[column] * sine[column]
                y[column] = x[column] * sine[column] + y[column] * cosine[column]
                x[column] = turned
    for column in range(width):
        for k in range(samples):
            out[column, k] = real[k, column] / count
            out[column, samples + k] = imaginary[k, column] / count
