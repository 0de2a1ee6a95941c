"""When edges came: a column of times of a file of edges, with the numbers of both ends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pine.errors import InputError
from pine.graph import Graph
from pine.graph.read.table import timed_edges


def read_edge_times(
    path: Path,
    graph: Graph,
    times: str,
    source: str | None = None,
    target: str | None = None,
    header: bool | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Pairs of nodes (num_rows, 2), by their positions in a graph of one node type, and the time of each row.

    times: the column's name; numbers, or the dates of a Parquet file. The rest as in Graph.from_edges.
    """
    ids = graph.nodes.of(None)
    ends, found = [], []
    for batch in timed_edges(path, times, source, target, header):
        ends.append(np.column_stack([ids.find(batch.source), ids.find(batch.target)]))
        found.append(_numbers(path, times, batch.weights))
    if not ends:
        return np.empty((0, 2), np.int64), np.empty(0)
    return np.concatenate(ends).astype(np.int64), np.concatenate(found)


def _numbers(path: Path, times: str, values: NDArray[np.generic] | None) -> NDArray[np.float64]:
    given = np.asarray(values)
    if given.dtype.kind == "M":
        given = given.astype(np.int64)
    try:
        numbers = given.astype(np.float64)
    except (TypeError, ValueError):
        numbers = np.full(len(given), np.nan)
    if not np.isfinite(numbers).all():
        raise InputError(f"{path}: the column {times!r} must hold a time in every row, as a number")
    return numbers
