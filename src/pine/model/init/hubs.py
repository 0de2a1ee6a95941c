"""What the largest entries of M leave out: how near every node is to the hubs, on short walks.

H_ij = log max(1, vol W_ij / d_j) for the hubs j alone, with all its entries. A row of M has room for its largest ones
only, which belong to nodes with few edges: where hubs join most nodes, as the terms of papers do, these say little.
H' H is small, so that (H H')^1/2 is cheap; it has the singular vectors of H, and its singular values as eigenvalues.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine._internal.parallel import parts
from pine.graph.csr import CSR
from pine.model.init.rows import weighted_sums

HUB_RATIO = 5.0  # a hub has more than so many times the edges that a node has on average
HUBS, HUB_ENTRIES = 500, 2**24  # how many, and how many entries of H at most
HUBS_AT_A_TIME = 64  # hubs whose walks are followed at a time
# On held-out training labels (benchmarks/start.py --hubs, --hubs-continue-prob) 250 hubs gain dblp .6, cost pubmed .2,
# 1,000 cost dblp .3; walks that go on with .5 are level, with .8 they cost dblp .6 (points).
HUB_CONTINUE_PROB, HUB_STEPS = 0.6, 8  # of walks, which are cut after so many steps


def near_hubs(walked: CSR, degree: NDArray[np.float64], threads: int | None) -> NDArray[np.float32]:
    """B with B B' = (H H')^1/2: (num_nodes, at most HUBS)."""
    h = log_window(walked, degree, min(HUBS, HUB_ENTRIES // walked.num_rows), threads)
    values, vectors = np.linalg.eigh((h.T @ h).astype(np.float64))
    kept = values > np.finfo(np.float32).eps * values.max(initial=0.0)
    b: NDArray[np.float32] = h @ (vectors[:, kept] * values[kept] ** -0.25).astype(np.float32)
    return b


def log_window(walked: CSR, degree: NDArray[np.float64], count: int, threads: int | None) -> NDArray[np.float32]:
    """H, for at most so many hubs: (num_nodes, number of hubs)."""
    edges = np.diff(walked.indptr)
    hubs = np.argsort(-edges, kind="stable")[:count]
    hubs = hubs[(edges[hubs] > HUB_RATIO * edges.mean()) & (degree[hubs] > 0)]
    window = np.empty((walked.num_rows, len(hubs)), np.float32)
    for lo, hi in parts(len(hubs), HUBS_AT_A_TIME):
        window[:, lo:hi] = _ended(walked, degree, hubs[lo:hi], threads)
    window *= (degree.sum() / degree[hubs]).astype(np.float32)
    np.maximum(window, 1, out=window)
    return np.log(window, out=window)


def _ended(walked: CSR, degree: NDArray[np.float64], hubs: NDArray[Any], threads: int | None) -> NDArray[np.float32]:
    """W_ij, how likely a walk from i ends in j, for some hubs j: (num_nodes, num_hubs)."""
    here, window = (np.zeros((walked.num_rows, len(hubs)), np.float32) for _ in range(2))
    here[hubs, np.arange(len(hubs))] = 1
    weights = np.ones(walked.nnz, np.float32) if walked.weights is None else walked.weights
    shares = (weights / np.where(degree > 0, degree, 1)[walked.rows()]).astype(np.float32)
    for step in range(HUB_STEPS):
        here = weighted_sums(walked.indptr[:-1], walked.indptr[1:], walked.indices, shares, here, threads)
        window += (
            np.float32((1 - HUB_CONTINUE_PROB) / (1 - HUB_CONTINUE_PROB**HUB_STEPS) * HUB_CONTINUE_PROB**step) * here
        )
    return window
