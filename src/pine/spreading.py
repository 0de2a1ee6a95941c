"""Scores spread along edges: q <- alpha P q + (1 - alpha) q0, P = D^-1/2 A D^-1/2 with each row divided by its sum.

Rows of P sum to 1, so that q stays what q0 is: probabilities, or numbers between the smallest and the largest. alpha is
how much a node listens: 0 where its label is known or it has no neighbors, 1 where it has no score of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pine.errors import InputError
from pine.graph import Graph
from pine.propagation import normalized_adjacency

ROUNDS = 30


def check_spread(spread: Any) -> float:
    """The share alpha of a score that comes from the neighbors, if it is one."""
    if isinstance(spread, bool) or not isinstance(spread, int | float | np.number) or not 0 <= spread < 1:
        raise InputError(f"spread must be a number of at least 0 and below 1, such as 0.5, got {spread!r}")
    return float(spread)


def spread_scores(
    graph: Graph,
    type: str,
    scores: NDArray[Any],
    known: NDArray[np.int64],
    targets: NDArray[Any],
    alpha: float,
    rounds: int = ROUNDS,
) -> NDArray[np.float32]:
    """Spread the scores (count, num_outputs) of the nodes of one type over the graph.

    Known positions of that type keep their targets (num_known, num_outputs). Nodes of other types have no score of
    their own: they begin with the average and pass on what arrives.
    """
    place = graph.nodes.slice(type)
    own = np.asarray(scores, np.float32).copy()
    own[known] = targets
    q0 = np.tile(own.mean(axis=0), (graph.num_nodes, 1))
    q0[place] = own
    matrix = normalized_adjacency(graph).astype(np.float32)
    sums = matrix.sum(axis=1)
    listens = np.ones(graph.num_nodes, np.float32)
    listens[place] = alpha
    listens[place.start + known] = 0
    listens[sums == 0] = 0
    step = sp.diags_array(listens / np.where(sums > 0, sums, 1)) @ matrix
    kept = (1 - listens)[:, None] * q0
    q = q0
    for _ in range(rounds):
        q = step @ q + kept
    return np.asarray(q[place], np.float32)
