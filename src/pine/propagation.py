"""Known labels carried along edges: F <- alpha S F + (1 - alpha) Y with S = D^-1/2 A D^-1/2 (Zhou et al., 2004).

One formula serves classes, label sets and numbers: what a node hears is the average of the known labels, weighted by
how much of each arrives there, F_v / (sum of arrivals).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pine.graph import Graph

Rows = Any  # an array, or a tensor


def normalized_adjacency(graph: Graph) -> sp.csr_array:
    """S = D^-1/2 A D^-1/2 over all nodes, whatever their type; a directed edge carries scores both ways."""
    adjacency = graph.links().to_scipy().astype(np.float64)
    degrees = adjacency.sum(axis=1)
    scale = sp.diags_array(1 / np.sqrt(np.where(degrees > 0, degrees, 1)))
    return sp.csr_array(scale @ adjacency @ scale)


def seeds_of(count: int, at: NDArray[np.int64], targets: NDArray[Any]) -> NDArray[Any]:
    """Y (count, num_outputs + 1) of known labels at some nodes; the last column is the mass of labels that travels."""
    seeds = np.zeros((count, targets.shape[1] + 1), targets.dtype)
    seeds[at, :-1], seeds[at, -1] = targets, 1
    return seeds


def carried(times_s: Callable[[Rows], Rows], seeds: Rows, alpha: float, rounds: int) -> Rows:
    """F after so many rounds; times_s gives S F."""
    arrived, kept = seeds, (1 - alpha) * seeds
    for _ in range(rounds):
        arrived = alpha * times_s(arrived) + kept
    return arrived


def heard(arrived: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """What nodes hear (count, num_outputs), and which of them a label reaches (count, 1); others hear zeros."""
    mass = arrived[:, -1:]
    limits = np.finfo(arrived.dtype)
    reached = mass > limits.smallest_normal / limits.eps  # of less, a quotient would have no digits
    return arrived[:, :-1] / np.where(reached, mass, 1), reached
