"""NetMF (Qiu et al. 2018) with a geometric window: x = U sqrt|S| of the dense M = log max(1, vol W D^-1).

W = (1 - a) sum of a^(r-1) P^r over r >= 1: M_ij says by how much more often a walk of geometric length from i ends in j
than a node drawn by degree would be j. Walks are those of the adjacency with its hubs damped.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pine.graph.csr import CSR

# Chosen on held-out training labels after PINE's training, which gains from long walks where labels are few.
CONTINUE_PROB = 0.95  # a: the probability with which a walk goes on
# Edges are divided by (d_i d_j)^HUB_DAMPING: better on graphs whose hubs say little, a little worse on citation graphs,
# where more damping costs more.
HUB_DAMPING = 0.25
KRYLOV_BLOCKS, EXTRA_COLUMNS = 5, 16  # blocks of the Krylov space, and their columns beyond dim
LEAST_EIGENVALUE = 1e-4  # eigenvalues below this, relative to the largest, are rounding


def netmf(adjacency: CSR, dim: int, rng: np.random.Generator, device: torch.device) -> NDArray[np.float32]:
    """A vector for every node of a graph without isolated nodes: (num_nodes, dim); zero beyond the rank of M."""
    with torch.no_grad():
        values, vectors = leading_eigenpairs(log_window(adjacency, device), dim, rng)
        x = vectors * values.abs().sqrt()
        # Signs are free: the largest entry of every column is positive.
        x *= torch.where(x.gather(0, x.abs().argmax(0, keepdim=True)) < 0, -1.0, 1.0)
    return np.pad(x.cpu().numpy(), ((0, 0), (0, dim - x.shape[1])))


def log_window(adjacency: CSR, device: torch.device) -> Tensor:
    """M: (num_nodes, num_nodes).

    W = (1 - a) / a ((I - a P)^-1 - I); D^1/2 P D^-1/2 is symmetric, so the inverse is that of a positive definite,
    well-conditioned matrix, for which single precision will do.
    """
    walked = torch.tensor(adjacency.to_scipy().toarray(), dtype=torch.float32, device=device)
    share = walked.sum(1) ** -HUB_DAMPING
    walked *= share[:, None] * share
    degree = walked.sum(1)
    root = degree.rsqrt()
    identity = torch.eye(len(walked), dtype=walked.dtype, device=device)
    window = torch.cholesky_inverse(torch.linalg.cholesky(identity - CONTINUE_PROB * root[:, None] * walked * root))
    window = (window - identity) * ((1 - CONTINUE_PROB) / CONTINUE_PROB * degree.sum())
    return (window * root[:, None] * root).clamp_(min=1.0).log_()


def leading_eigenpairs(matrix: Tensor, count: int, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """At most count eigenvalues of largest magnitude, by falling magnitude, and their vectors, of a symmetric matrix.

    From a random block and its images (block Krylov), or all of them where the matrix is small. Those that are zero but
    for rounding are left out.
    """
    size, width = len(matrix), count + EXTRA_COLUMNS
    if size <= KRYLOV_BLOCKS * width:
        values, vectors = torch.linalg.eigh(matrix)
    else:
        block = torch.tensor(rng.standard_normal((size, width), np.float32), device=matrix.device)
        blocks = []
        for _ in range(KRYLOV_BLOCKS):
            block = torch.linalg.qr(matrix @ block).Q
            blocks.append(block)
        basis = torch.linalg.qr(torch.cat(blocks, 1)).Q
        values, rotation = torch.linalg.eigh(basis.mT @ (matrix @ basis))
        vectors = basis @ rotation
    order = values.abs().argsort(descending=True, stable=True)[:count]
    order = order[values[order].abs() > LEAST_EIGENVALUE * values.abs().max()]
    return values[order], vectors[:, order]
