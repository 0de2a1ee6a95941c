"""Whether a fit has collapsed: vectors along one line, or one class for every node. A warning says what to change.

The effective rank (Roy and Vetterli, 2007) is exp(H), with H the entropy of the singular values divided by their sum.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine.errors import shortened
from pine.labels import Labels

FEWEST_NODES = 20  # that have to differ: of fewer, vectors of one line and one class for all are no wonder
# Vectors that tell two classes apart, or predict a number, may lie near a line.
LEAST_RANK, LEAST_RANK_OF_TWO = 2.0, 1.05
RANK_ROWS = 100_000  # that are looked at
IF_COLLAPSED = "a larger lam lets labels count for more, epochs=0 keeps the start, and more labels help"


def effective_rank(vectors: NDArray[Any]) -> float:
    """Of vectors (n, dim): between 1 and dim, 0 if all are zero."""
    some = vectors[:: -(-len(vectors) // RANK_ROWS)].astype(np.float64)
    singular = np.sqrt(np.clip(np.linalg.eigvalsh(some.T @ some), 0, None))
    if not singular.sum() > 0:
        return 0.0
    shares = singular[singular > 0] / singular.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))


def warn_if_collapsed(vectors: NDArray[Any], scores: NDArray[Any] | None, labels: Labels | None) -> None:
    """vectors (n, dim) of all nodes; scores (count, num_outputs) and labels of those that are predicted."""
    least = LEAST_RANK if labels is None or labels.num_outputs > 2 else LEAST_RANK_OF_TWO
    if len(vectors) >= FEWEST_NODES and vectors.shape[1] > 1 and (rank := effective_rank(vectors)) < least:
        warnings.warn(
            f"the vectors collapsed: their effective rank is {rank:.2f} of {vectors.shape[1]}; {IF_COLLAPSED}",
            stacklevel=5,
        )
    if labels is None or scores is None or labels.task != "classes" or len(scores) < FEWEST_NODES:
        return
    predicted = scores.argmax(axis=1)
    if len(np.unique(labels.values)) > 1 and (predicted == predicted[0]).all():
        assert labels.classes is not None
        name = shortened(str(labels.classes[predicted[0]]))
        warnings.warn(
            f"the predictions collapsed: all {len(scores):,} nodes are predicted to be {name!r}; {IF_COLLAPSED}",
            stacklevel=5,
        )
