"""A learned bilinear form: the score of a pair is x_u' W x_v, with a symmetric W that tells edges from other pairs.

W minimizes the logistic loss on edges and on as many pairs without one, with a penalty on its squares.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from threadpoolctl import threadpool_limits

from pine.links.pairs import Pairs

PENALTY = 1e-3  # of the squared entries of W, beside a mean loss
MOST_BILINEAR_STEPS = 60  # of L-BFGS


def learn_bilinear(vectors: NDArray[Any], edges: Pairs, others: Pairs) -> NDArray[np.float64]:
    """W (dim, dim) from edges and pairs without one; vectors (num_nodes, dim) with rows of length 1."""
    from scipy.optimize import minimize  # late for the same reason as in links/combined

    pairs = np.concatenate([edges, others])
    is_edge = np.repeat([1.0, 0.0], [len(edges), len(others)])
    share = np.repeat([0.5 / len(edges), 0.5 / len(others)], [len(edges), len(others)])
    left, right = (np.asarray(vectors[pairs[:, end]], np.float64) for end in (0, 1))
    dim = left.shape[1]

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        w, bias = flat[:-1].reshape(dim, dim), flat[-1]
        scores = np.einsum("ij,ij->i", left @ w, right) + bias
        error = share * (expit(scores) - is_edge)
        gradient = left.T @ (error[:, None] * right)
        value = share @ (np.logaddexp(0, scores) - is_edge * scores) + PENALTY / 2 * np.sum(w**2)
        return float(value), np.append((gradient + gradient.T) / 2 + PENALTY * w, error.sum())

    with threadpool_limits(1):
        found = minimize(
            loss, np.zeros(dim * dim + 1), jac=True, method="L-BFGS-B", options={"maxiter": MOST_BILINEAR_STEPS}
        )
    w = found.x[:-1].reshape(dim, dim)
    return np.asarray((w + w.T) / 2)
