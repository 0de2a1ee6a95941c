"""Pairs that may be missing edges, without looking at all pairs: nodes a few steps away, and nodes with near vectors.

For one node: the nodes that most paths of two and three steps lead to, and those with the nearest vectors. For a whole
graph: the pairs that are first by Adamic-Adar over common neighbors that are no hubs, and the nearest vectors of every
node where there are few enough.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from pine.graph import Graph
from pine.graph.nodes import Relation
from pine.links.pairs import Pairs, codes, edge_pairs
from pine.similarity import ExactNeighbors, unit_rows

REACHED, NEAR = 1_000, 200  # candidates of one node, by paths and by vectors
NEAREST_OF_ALL = 10  # of every node
FEW_NODES = 20_000  # up to which every node is compared with all
HUB = 32  # neighbors, above which a common neighbor says little
SHARING = 200_000  # pairs with a common neighbor, of a whole graph
ROWS_AT_ONCE = 20_000  # nodes whose pairs are held at a time


def candidates_of(graph: Graph, relation: Relation, node: int, vectors: NDArray[Any]) -> Pairs:
    """Pairs of one node, by its number over all types, that have no edge of the relation."""
    types = [type for type, at in zip(relation[2::-2], (relation[0], relation[2]), strict=True) if _is(graph, node, at)]
    found = [_around(graph, node, graph.nodes.slice(type), vectors) for type in dict.fromkeys(types)]
    others = np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)
    return _open(graph, relation, np.column_stack([np.full(len(others), node), others]))


def candidates_everywhere(graph: Graph, relation: Relation, vectors: NDArray[Any]) -> Pairs:
    """Pairs of the types of a relation that have no edge of it, each once."""
    first, second = (graph.nodes.slice(type) for type in relation[::2])
    pairs = [_sharing(graph, relation)]
    if max(first.stop - first.start, second.stop - second.start) <= FEW_NODES:
        near = ExactNeighbors(unit_rows(vectors[second]), torch.device("cpu"))
        positions, _ = near.nearest(unit_rows(vectors[first]), NEAREST_OF_ALL + 1)  # one may be the node itself
        sources = np.repeat(np.arange(first.start, first.stop), positions.shape[1])
        pairs.append(np.column_stack([sources, positions.ravel() + second.start]))
    return _open(graph, relation, np.concatenate(pairs).astype(np.int64))


def _sharing(graph: Graph, relation: Relation) -> Pairs:
    """Pairs without an edge that have common neighbors of at most HUB links: the first by Adamic-Adar."""
    first, second = (graph.nodes.slice(type) for type in relation[::2])
    plain = graph.links().distinct(drop_loops=True)
    degrees = plain.degrees()
    middle = np.flatnonzero(degrees <= HUB)
    through = sp.csr_array((np.ones(plain.nnz), plain.indices, plain.indptr), (plain.num_rows, plain.num_rows))[middle]
    weighted = sp.csc_array(sp.diags_array(1 / np.log(np.maximum(degrees[middle], 2))) @ through)
    ends, size = edge_pairs(graph, relation) - [first.start, second.start], (_count(first), _count(second))
    linked = sp.csr_array((np.ones(len(ends)), ends.T), size)
    if first == second:
        linked = linked + linked.T
    through, pairs, scores = sp.csr_array(through[:, second]), np.empty((0, 2), np.int64), np.empty(0)
    for begin in range(0, _count(first), ROWS_AT_ONCE):
        rows = slice(begin, min(begin + ROWS_AT_ONCE, _count(first)))
        shared = weighted[:, first.start + rows.start : first.start + rows.stop].T.tocsr() @ through
        found = sp.coo_array(shared - shared.multiply(linked[rows]))  # x - x is 0, and no longer there
        new = np.column_stack([found.coords[0] + rows.start + first.start, found.coords[1] + second.start])
        kept = new[:, 0] < new[:, 1] if first == second else np.ones(len(new), bool)
        pairs, scores = np.concatenate([pairs, new[kept]]), np.concatenate([scores, found.data[kept]])
        if len(pairs) > SHARING:
            best = np.argpartition(-scores, SHARING)[:SHARING]
            pairs, scores = pairs[best], scores[best]
    return pairs


def _count(place: slice) -> int:
    return int(place.stop - place.start)


def _is(graph: Graph, node: int, type: str) -> bool:
    place = graph.nodes.slice(type)
    return bool(place.start <= node < place.stop)


def _around(graph: Graph, node: int, place: slice, vectors: NDArray[Any]) -> NDArray[np.int64]:
    """Nodes of one type near a node."""
    links = graph.links().to_scipy().astype(np.float64)
    one = links[[node]]
    two = one @ links
    paths = np.asarray((two + two @ links).todense()).ravel()[place]
    order = np.argsort(-paths, kind="stable")[:REACHED]
    near = ExactNeighbors(unit_rows(vectors[place]), torch.device("cpu"))
    positions, _ = near.nearest(unit_rows(vectors[[node]]), NEAR)
    found = np.concatenate([order[paths[order] > 0], positions[0]]).astype(np.int64)
    return np.asarray(found + place.start)


def _open(graph: Graph, relation: Relation, pairs: Pairs) -> Pairs:
    """Those that are two nodes without an edge, each once."""
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    own = codes(pairs, graph.num_nodes)
    _, at = np.unique(own, return_index=True)
    at = np.sort(at)
    taken = np.isin(own[at], codes(edge_pairs(graph, relation), graph.num_nodes))
    return pairs[at[~taken]]
