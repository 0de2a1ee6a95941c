"""MMDW: min |M - X Y'|^2 + lambda/2 (|X|^2 + |Y|^2), M = (A + A^2) / 2, with X biased by a max-margin classifier (Tu et
al., 2016).

A is the transition matrix of a random walk: this is DeepWalk as a matrix factorization. An SVM is trained on the
vectors of the labeled nodes. In every round its support vectors are moved toward their own class and away from those
within the margin, Y is fitted to the moved vectors, X to Y, so that unlabeled nodes follow, and the SVM to X.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import softmax

from pine._internal.memory import require_memory
from pine._internal.settings import Count, NonNegative, NonNegativeInt, Positive
from pine.baselines.crammer_singer import crammer_singer
from pine.embedder import Embedder, Fitted, Seed
from pine.graph import Graph
from pine.graph.sampling.walks import step_matrix
from pine.labels import Labels, Task

BIAS_SCALE = 25.0  # support vectors move by BIAS_SCALE * eta, as in its authors' code
WALK_MATRIX_ENTRY_BYTES = 2 * 12  # of M, and of A^2 before it: 8 bytes of a number and 4 of its column


@dataclass
class MMDW(Embedder):
    """Node types are ignored, and edges go both ways. predict_proba is the softmax of the SVM's scores, so that it
    orders classes as the SVM does, but is not calibrated. Label sets are not learned: the margin is between classes.

    Defaults: eta from the PINE paper, Section 4.1; lambda, the SVM's cost and the 40 sweeps from its authors' code,
    with 64 dimensions in place of 200. That code runs nine rounds and reports on each: accuracy is level from the
    second on, and falls slowly where labels are few. It also fits Y to rows of M, not to columns; here Y minimizes the
    formula.

    dim: the length of a vector.
    eta: how far support vectors are moved.
    lam: the penalty on the size of X and Y.
    cost: of the SVM.
    sweeps: how many of the factorization before labels are used.
    rounds: how many of moving, fitting and training the SVM.
    seed: a number of at least 0, a NumPy generator, or None for a new draw each time.
    """

    name: ClassVar[str] = "mmdw"
    revision: ClassVar[int] = 1
    supervised: ClassVar[bool] = True
    tasks: ClassVar[tuple[Task, ...]] = ("classes",)

    dim: Count = 64
    eta: NonNegative = 0.01
    lam: Positive = 0.3
    cost: Positive = 10.0
    sweeps: Count = 40
    rounds: NonNegativeInt = 3
    seed: Seed = 0

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        assert labels is not None
        factorization = Factorization(walk_matrix(graph), self.lam)
        y = rng.random((graph.num_nodes, self.dim))
        y /= np.linalg.norm(y, axis=1, keepdims=True)
        for _ in range(self.sweeps):
            x = factorization.rows(y)
            y = factorization.columns(x)
        place = graph.nodes.slice(labels.type)
        known, key = place.start + labels.known, int(rng.integers(2**63))
        alpha, w = crammer_singer(x[known], labels.values, labels.num_outputs, self.cost, key)
        for _ in range(self.rounds):
            x[known] += BIAS_SCALE * self.eta * bias_directions(alpha, w, labels.values)
            x = factorization.rows(factorization.columns(x))
            alpha, w = crammer_singer(x[known], labels.values, labels.num_outputs, self.cost, key)
        return Fitted(x.astype(np.float32), softmax(x[place] @ w.T, axis=1).astype(np.float32))


@dataclass(frozen=True, eq=False)
class Factorization:
    """M ~ X Y': the best of one factor for the other is a ridge regression."""

    matrix: sp.csr_array
    lam: float

    def rows(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """The best X (num_nodes, dim) for Y (num_nodes, dim)."""
        return self._ridge(y, self.matrix @ y)

    def columns(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The best Y for X."""
        return self._ridge(x, self.matrix.T @ x)

    def _ridge(self, given: NDArray[np.float64], product: NDArray[np.float64]) -> NDArray[np.float64]:
        square = given.T @ given + self.lam / 2 * np.eye(given.shape[1])
        return np.asarray(np.linalg.solve(square, product.T).T, np.float64)


def walk_matrix(graph: Graph) -> sp.csr_array:
    """M = (A + A^2) / 2, where A_uv is the probability of a step from u to v; sparse."""
    links = graph.links()
    needed = matrix_bytes(links.degrees())
    require_memory(
        "mmdw", needed, needed / WALK_MATRIX_ENTRY_BYTES, "leave the busiest nodes out, or use deepwalk, which walks"
    )
    steps = step_matrix(links)
    return sp.csr_array((steps + steps @ steps) / 2)


def matrix_bytes(degrees: NDArray[np.int64]) -> int:
    """An upper bound on M and its temporaries: two steps through a node of degree k join at most k^2 pairs."""
    pairs = int((degrees.astype(np.float64) ** 2).sum() + degrees.sum())
    return WALK_MATRIX_ENTRY_BYTES * min(pairs, len(degrees) ** 2)


def bias_directions(alpha: NDArray[np.float64], w: NDArray[np.float64], own: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sum over j of -alpha_ij (w_own - w_j), normalized, for each labeled node i; 0 where i is no support vector."""
    weights = -alpha  # at least 0 for classes other than the own
    weights[np.arange(len(own)), own] = 0
    bias = weights.sum(axis=1, keepdims=True) * w[own] - weights @ w
    length = np.linalg.norm(bias, axis=1, keepdims=True)
    unit: NDArray[np.float64] = bias / np.where(length > 0, length, 1)
    return unit
