"""The graph of a run's nodes: who is linked to whom, from a graph that may hold other nodes as well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine.errors import InputError, listed
from pine.explore.answers import Answers
from pine.graph import Graph
from pine.graph.csr import CSR, build_csr
from pine.graph.nodes import Nodes

EDGES_AT_ONCE = 1 << 16


@dataclass(frozen=True, eq=False)
class Links:
    """matrix: symmetric, over the nodes of a run. missing: its nodes not in the graph; unseen: nodes of it alone."""

    matrix: CSR
    missing: int
    unseen: int


def links_between(nodes: Nodes, graph: Graph) -> Links:
    """The links of a graph between the nodes of a run, whatever their direction; each neighbor once."""
    places = np.full(graph.num_nodes, -1, np.int64)  # of the graph's nodes, in the run
    for type in graph.node_types:
        if type in nodes.types:
            found = nodes.of(type).find(graph.nodes.of(type).as_column())
            places[graph.nodes.slice(type)] = np.where(found >= 0, found + nodes.slice(type).start, -1)
    shared = int((places >= 0).sum())
    if shared == 0:
        raise InputError(
            f"the edges have no node of the run: its types are {listed(nodes.types)} and its first id is "
            f"{nodes.id_at(0)!r}, those of the edges {listed(graph.node_types)} and {graph.nodes.id_at(0)!r}"
        )
    matrix = graph.links()
    ends = places[matrix.rows()], places[matrix.indices]
    both = (ends[0] >= 0) & (ends[1] >= 0)
    built = build_csr(ends[0][both], ends[1][both], None, (len(nodes), len(nodes)), drop_loops=True)
    return Links(built, len(nodes) - shared, graph.num_nodes - shared)


def disagreement(matrix: CSR, answers: Answers) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """How far the neighbors' labels are from a node's own, on average, and how many neighbors have one.

    Both are (count,) over the nodes of the labeled type. Classes differ or not; sets by 1 - Jaccard's index; numbers by
    their distance in standard deviations. Where a label is not known, the prediction stands for it.
    """
    known, values = answers.best
    own = matrix.some_rows(answers.nodes)
    rows, columns = own.rows().astype(np.int64), own.indices.astype(np.int64) - answers.nodes.start
    inside = (columns >= 0) & (columns < answers.count)
    rows, columns = rows[inside], columns[inside]
    both = known[rows] & known[columns]
    rows, columns = rows[both], columns[both]
    apart = np.empty(len(rows))
    for lo in range(0, len(rows), EDGES_AT_ONCE):
        part = slice(lo, lo + EDGES_AT_ONCE)
        apart[part] = _distances(answers.task, values, rows[part], columns[part])
    neighbors = np.bincount(rows, minlength=answers.count)
    return np.bincount(rows, apart, answers.count) / np.maximum(neighbors, 1), neighbors


def _distances(task: str, values: NDArray[Any], rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.float64]:
    a, b = values[rows], values[columns]
    if task == "classes":
        return np.asarray(a != b, np.float64)
    if task == "numbers":
        return np.asarray(np.abs(a - b) / (float(values.std()) or 1.0), np.float64)
    union = (a | b).sum(axis=1)
    return np.asarray(1 - (a & b).sum(axis=1) / np.maximum(union, 1) - (union == 0), np.float64)
