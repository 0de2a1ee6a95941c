"""Where heat flows: S = I - L with eigenvalues in [-1, 1], so that exp(-s L) is a series in Chebyshev polynomials of S.

"normalized" is L = I - D^-1/2 A D^-1/2. "combinatorial" is L = D - A divided by half of its largest eigenvalue. A node
without neighbors has L = 0 in both: its heat stays.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh

from pine.graph import Graph
from pine.propagation import normalized_adjacency

SMALL = 100  # nodes up to which all eigenvalues are found at once


def normalized(graph: Graph) -> sp.csr_array:
    """S = D^-1/2 A D^-1/2, and 1 at nodes without neighbors."""
    matrix = normalized_adjacency(graph)
    return sp.csr_array(matrix + sp.diags_array((matrix.sum(axis=1) == 0).astype(np.float64)))


def combinatorial(graph: Graph) -> sp.csr_array:
    """S = I - 2 (D - A) / (the largest eigenvalue of D - A)."""
    adjacency = graph.links().to_scipy().astype(np.float64)
    laplacian = sp.csr_array(sp.diags_array(adjacency.sum(axis=1)) - adjacency)
    largest = _largest_eigenvalue(laplacian)
    return sp.csr_array(sp.eye_array(graph.num_nodes) - (2 / largest if largest > 0 else 0) * laplacian)


def _largest_eigenvalue(matrix: sp.csr_array) -> float:
    if matrix.shape[0] <= SMALL:
        return float(np.linalg.eigvalsh(matrix.toarray())[-1])
    start = np.cos(np.arange(matrix.shape[0]))  # fixed, and no eigenvector as the ones are
    return float(eigsh(matrix, k=1, which="LA", v0=start, return_eigenvectors=False)[0])


LAPLACIANS = {"normalized": normalized, "combinatorial": combinatorial}
