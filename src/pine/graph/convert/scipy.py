"""From SciPy's sparse matrices to edges: entry (i, j) is the weight of the edge from i to j."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from pine.errors import InputError
from pine.graph.nodes import NODE
from pine.graph.sparse import check_indices


def edges_from_scipy(
    matrix: Any, *, ids: Any = None, weights: bool | None = None, **options: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments of Graph.from_edges for a square sparse matrix, with nodes numbered by row; {type: their own ids}.

    ids: the nodes' ids in the order of the rows, 0..n-1 without them. weights None keeps the entries as weights unless
    all of them are 1. Stored zeros are no edges. Other options are those of Graph.from_edges.
    """
    if not sp.issparse(matrix):
        raise InputError(f"from_scipy takes a sparse matrix, got {type(matrix).__name__}")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"the matrix must be square, one row and one column per node, got shape {matrix.shape}")
    check_indices(matrix, "the matrix")
    coo = sp.coo_array(matrix)
    if ids is not None and len(ids) != matrix.shape[0]:
        raise InputError(f"ids must have one entry per row, {matrix.shape[0]}, got {len(ids)}")
    there = np.flatnonzero(coo.data != 0)
    edges = np.column_stack([coo.row[there], coo.col[there]]).astype(np.int64)
    values = coo.data[there]
    if np.iscomplexobj(values):
        raise InputError("the matrix must hold real numbers, got complex ones")
    if weights is None:
        weights = bool((values != 1).any())
    nodes = np.arange(matrix.shape[0])
    arguments = dict(edges=edges, nodes=nodes, weights=values if weights else None, **options)
    return arguments, {} if ids is None else {NODE: ids}
