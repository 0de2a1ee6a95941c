"""How well scores tell edges from other pairs: AUC, average precision, hits@k and MRR.

Equal scores are no knowledge: a pair is counted as half above each of its equals.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from pine.errors import InputError

HITS_AT = 10


def auc(positives: NDArray[Any], negatives: NDArray[Any]) -> float:
    """The chance that an edge has a higher score than another pair."""
    _check(positives, negatives)
    ranks = rankdata(np.concatenate([positives, negatives]))[: len(positives)]
    wins = ranks.sum() - len(positives) * (len(positives) + 1) / 2
    return float(wins / (len(positives) * len(negatives)))


def average_precision(positives: NDArray[Any], negatives: NDArray[Any]) -> float:
    """The mean, over edges, of the share of edges among the pairs with scores as high; equals are taken together."""
    _check(positives, negatives)
    scores = np.concatenate([positives, negatives])
    is_edge = np.repeat([1, 0], [len(positives), len(negatives)])
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)  # of each group of equals
    found = np.cumsum(is_edge[order])[last]
    return float(np.sum(np.diff(found, prepend=0) * found / (last + 1)) / len(positives))


def ranks_of(positives: NDArray[Any], rivals: NDArray[Any]) -> NDArray[np.float64]:
    """The rank of each edge (n,) among its rivals (n, num_rivals): 1 is the best, half a place for each equal."""
    own = positives[:, None]
    return np.asarray(1 + (rivals > own).sum(axis=1) + (rivals == own).sum(axis=1) / 2, np.float64)


def hits_at(k: int, ranks: NDArray[Any]) -> float:
    """The share of edges that are among the first k."""
    return float(np.mean(ranks <= k))


def mrr(ranks: NDArray[Any]) -> float:
    """The mean of 1 / rank."""
    return float(np.mean(1 / ranks))


def _check(positives: NDArray[Any], negatives: NDArray[Any]) -> None:
    if not (len(positives) and len(negatives)):
        raise InputError("scores of edges and of pairs without one are needed, and there are none of one of them")
