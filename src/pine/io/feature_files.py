"""Files of node features as a graph takes them: in node order, with a mask of the nodes that have a row.

.csv, .tsv, .parquet    a column of ids (id, node, node_id, name, or the first) and columns of numbers, in any order
.npy                    an array (num_nodes, num_features) in node order
.npz                    a SciPy sparse matrix in node order, or the arrays `features` and, if in another order, `ids`
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pine.errors import InputError, listed, quoted
from pine.graph import Graph
from pine.graph.features import Features, Mask, checked_features
from pine.graph.ids.column import Column
from pine.graph.ids.node_ids import NodeIds
from pine.io.feature_rows import FeatureRows, rows_from_numpy, rows_from_parquet, rows_from_text


def read_feature_file(
    path: str | Path, graph: Graph, type: str | None = None, *, id_column: str | None = None
) -> tuple[Features, Mask | None]:
    """Features of the nodes of a type and which of them are known (None: all), as graph.with_features takes them.

    Rows are matched by the users' ids. Nodes without a row are not known; rows of ids that are not in the graph are
    left out, with a warning. id_column: names the column of ids. Nothing in a file is run.
    """
    path, type = Path(path), graph.nodes.check_type(type)
    nodes = graph.nodes.of(type)
    rows: Any
    if path.suffix in (".npy", ".npz"):
        rows = rows_from_numpy(path)
    elif path.suffix in (".parquet", ".pq"):
        rows = rows_from_parquet(path, id_column)
    else:
        rows = rows_from_text(path, id_column)
    values, known = _matched(path, rows, nodes) if isinstance(rows, FeatureRows) else (rows, None)
    try:
        return checked_features(values, known, nodes, type)
    except InputError as problem:
        raise InputError(f"{path}: {problem}") from None


def _matched(path: Path, rows: FeatureRows, nodes: NodeIds) -> tuple[Any, Mask | None]:
    """Rows in node order, zeros for nodes that have none, and which have one."""
    positions = nodes.find(_alike(rows.ids, nodes))
    here = np.flatnonzero(positions >= 0)
    if not len(here):
        some = f"such as {quoted(rows.ids[0])}; the graph has {listed(nodes[i] for i in range(min(3, len(nodes))))}"
        raise InputError(f"{path}: no row has the id of a node, {some}; name the column of ids: id_column=...")
    if len(here) < len(positions):
        odd = rows.ids[int(np.flatnonzero(positions < 0)[0])]
        number = f"{len(positions) - len(here):,} of {len(positions):,}"
        warnings.warn(
            f"{path}: {number} rows are left out, whose ids are not in the graph: {quoted(odd)}", stacklevel=3
        )
    found = positions[here]
    _, first = np.unique(found, return_index=True)
    if len(first) < len(found):
        again = int(here[np.setdiff1d(np.arange(len(found)), first)[0]])
        raise InputError(f"{rows.where(again)}: node {quoted(rows.ids[again])} has a row already; keep one of them")
    values = rows.values[here]
    _check_finite(values, here, rows)
    known = np.zeros(len(nodes), bool)
    known[found] = True
    if sp.issparse(values):
        ones, shape = np.ones(len(found), np.float32), (len(nodes), len(found))
        place = sp.csr_array((ones, (found, np.arange(len(found)))), shape)
        return sp.csr_array(place @ values), known
    ordered = np.zeros((len(nodes), values.shape[1]), np.float32)
    ordered[found] = values
    return ordered, known


def _alike(ids: Column, nodes: NodeIds) -> Column:
    """Ids of a file as the graph has them: text files do not tell 7 from "7"."""
    return replace(ids, written=True).as_kind(nodes.kind)


def _check_finite(values: Any, here: NDArray[np.int64], rows: FeatureRows) -> None:
    entries = values.data if sp.issparse(values) else values
    if np.isfinite(entries).all():
        return
    dense = values.toarray() if sp.issparse(values) else values
    row, wrong = (int(each[0]) for each in np.nonzero(~np.isfinite(dense)))
    raise InputError(
        f"{rows.where(int(here[row]))}: {rows.names[wrong]} must be a finite number of float32; fill it, or leave out "
        "the row of a node whose features are not known"
    )
