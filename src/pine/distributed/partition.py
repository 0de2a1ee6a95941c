"""Nodes over ranks, about as many to each, few edges between them: by METIS where pymetis is there, else streaming.

Streaming is linear deterministic greedy (Stanton and Kliot, 2012): each node in turn goes where most of its neighbors
are, times the room that is left there. It is streamed a few times, each time knowing where all nodes were before
(Nishimura and Ugander, 2013).
"""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine._internal.parallel import compiled
from pine.errors import InputError
from pine.graph import Graph
from pine.graph.csr import CSR

PASSES = 5
ROOM = 1.03  # the most nodes of a part, in units of the average


def partition(graph: Graph, parts: int) -> NDArray[np.int32]:
    """The part of every node of a graph, of whatever type: (num_nodes,), none of them empty."""
    if parts > graph.num_nodes:
        raise InputError(f"{graph} has fewer nodes than there are ranks, {parts}; start fewer: --nproc-per-node")
    if parts == 1:
        return np.zeros(graph.num_nodes, np.int32)
    links = graph.links()
    if importlib.util.find_spec("pymetis"):
        return _filled(metis(links.distinct(drop_loops=True), parts), parts)
    return _filled(streamed(links, parts), parts)


def metis(links: CSR, parts: int) -> NDArray[np.int32]:
    """By METIS (Karypis and Kumar, 1998); links: a symmetric matrix without loops, each neighbor once."""
    import pymetis  # only where it is installed

    neighbors = pymetis.CSRAdjacency(links.indptr, links.indices)
    _, made = pymetis.part_graph(parts, adjacency=neighbors, options=pymetis.Options(seed=0))
    return np.asarray(made, np.int32)


def streamed(links: CSR, parts: int, passes: int = PASSES) -> NDArray[np.int32]:
    """By streaming; in time linear in edges, with memory for the parts alone. Parallel edges count as many."""
    part = np.full(links.num_rows, -1, np.int32)
    size = np.zeros(parts, np.int64)
    most = int(np.ceil(ROOM * links.num_rows / parts))
    for _ in range(passes):
        _stream(links.indptr, links.indices, part, size, most)
    return part


def cut_edges(links: CSR, part: NDArray[np.int32]) -> int:
    """How many edges have their ends in two parts; links: a symmetric matrix."""
    return int(np.count_nonzero(part[links.rows()] != part[links.indices])) // 2


def _filled(part: NDArray[np.int32], parts: int) -> NDArray[np.int32]:
    """Every part has a node: an empty one takes one of the largest's."""
    sizes = np.bincount(part, minlength=parts)
    for empty in np.flatnonzero(sizes == 0):
        largest = int(sizes.argmax())
        part[np.flatnonzero(part == largest)[0]] = empty
        sizes[largest] -= 1
        sizes[empty] = 1
    return part


@compiled
def _stream(indptr: NDArray[Any], indices: NDArray[Any], part: NDArray[Any], size: NDArray[Any], most: int) -> None:
    """Move each node in turn to where it is best; size: nodes of each part."""
    near = np.zeros(len(size), np.int64)
    for node in range(len(part)):
        if part[node] >= 0:
            size[part[node]] -= 1
        for entry in range(indptr[node], indptr[node + 1]):
            there = part[indices[entry]]
            if there >= 0 and indices[entry] != node:
                near[there] += 1
        best, highest = -1, -1.0
        for k in range(len(size)):
            if size[k] >= most:
                continue
            value = near[k] * (1 - size[k] / most)
            # Of equal ones the emptiest.
            if value > highest or (value == highest and size[k] < size[best]):
                best, highest = k, value
        for entry in range(indptr[node], indptr[node + 1]):
            there = part[indices[entry]]
            if there >= 0:
                near[there] = 0
        part[node] = best
        size[best] += 1
