"""Pairs of nodes by number over all types, (count, 2): the edges of a relation, and pairs that have none.

A pair has no direction: of a directed graph, it is an edge if one goes either way. Between two types the source type
stands first, within one type the lower number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pine.errors import InputError, listed, quoted
from pine.graph import Graph
from pine.graph.csr import CSR
from pine.graph.nodes import Relation

Pairs = NDArray[np.int64]

MOST_LISTED = 2**20  # pairs of a small relation, of which all those without an edge are listed


def check_relation_of(graph: Graph, relation: Relation | None) -> Relation:
    """The given relation if it exists; without one, the only one there is."""
    if relation is None:
        if len(graph.relations) != 1:
            raise InputError(f"there are the relations {listed(graph.relations)}; say which: relation=...")
        return graph.relations[0]
    if relation not in graph.relations:
        raise InputError(f"relation {quoted(relation)} does not exist; this graph has {listed(graph.relations)}")
    return relation


def ordered(pairs: Pairs) -> Pairs:
    """The lower number first: within a type, and between types numbered one after the other, a pair has one form."""
    return np.sort(pairs, axis=1)


def codes(pairs: Pairs, num_nodes: int) -> NDArray[np.int64]:
    """One number a pair, whatever the order of its ends."""
    low, high = ordered(pairs).T
    return np.asarray(low * num_nodes + high, np.int64)


def edge_pairs(graph: Graph, relation: Relation) -> Pairs:
    """The pairs that have an edge of a relation, each once and ascending; no loops."""
    ends = _entries(graph, relation)
    found = np.unique(codes(ends[ends[:, 0] != ends[:, 1]], graph.num_nodes))
    return _in_form(graph, relation, _decoded(found, graph.num_nodes))


def without_edges(graph: Graph, relation: Relation, pairs: Pairs) -> Graph:
    """The graph without the edges of a relation between some pairs; all nodes stay."""
    count = graph.num_nodes
    kept = ~np.isin(codes(_entries(graph, relation), count), codes(pairs, count))
    matrix = graph.matrix(relation)
    degrees = np.bincount(matrix.rows()[kept], minlength=matrix.num_rows)
    weights = None if matrix.weights is None else matrix.weights[kept]
    left = CSR(np.append(0, np.cumsum(degrees)), matrix.indices[kept], weights, matrix.num_columns)
    return Graph.assemble(
        graph.nodes,
        {each: left if each == relation else graph.matrix(each) for each in graph.relations},
        directed=graph.directed,
        features=dict(graph.features),
        feature_mask=dict(graph.feature_mask),
        node_data=graph.node_data,
    )


def draw_non_edges(graph: Graph, relation: Relation, edges: Pairs, count: int, rng: np.random.Generator) -> Pairs:
    """So many pairs without an edge, uniformly and each once, of the types that the relation joins."""
    first, second = (graph.nodes.slice(type) for type in relation[::2])
    sizes, total = (first.stop - first.start, second.stop - second.start), graph.num_nodes
    possible = sizes[0] * (sizes[0] - 1) // 2 if first == second else sizes[0] * sizes[1]
    free = possible - len(edges)
    if count > free:
        raise InputError(
            f"{count} pairs without an edge are needed, and {'-'.join(relation)} has {max(free, 0)}; "
            "hold out a smaller share"
        )
    taken = np.sort(codes(edges, total))
    if possible <= MOST_LISTED:
        grid = np.indices(sizes).reshape(2, -1).T + np.array([first.start, second.start])
        grid = grid[grid[:, 0] < grid[:, 1]] if first == second else grid
        open_codes = np.setdiff1d(codes(grid, total), taken, assume_unique=True)
        found = rng.choice(open_codes, count, replace=False)
        return _in_form(graph, relation, _decoded(found, total))
    found = np.empty(0, np.int64)
    while len(found) < count:
        ends = np.column_stack([rng.integers(place.start, place.stop, 2 * count + 16) for place in (first, second)])
        drawn = codes(ends[ends[:, 0] != ends[:, 1]], total)
        drawn = np.concatenate([found, drawn[~_among(drawn, taken)]])
        _, at = np.unique(drawn, return_index=True)
        found = drawn[np.sort(at)][:count]
    return _in_form(graph, relation, _decoded(found, total))


def draw_other_ends(
    graph: Graph, relation: Relation, edges: Pairs, pairs: Pairs, count: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each pair, one of its ends, (num_pairs,), and so many nodes that have no edge to it, (num_pairs, count).

    Within a type it is either end, between two types the source; a node may be drawn twice.
    """
    total, same = graph.num_nodes, relation[0] == relation[2]
    swapped = (rng.random(len(pairs)) < 0.5) & same
    kept = np.where(swapped, pairs[:, 1], pairs[:, 0])
    place, taken = graph.nodes.slice(relation[2]), np.sort(codes(edges, total))
    others = rng.integers(place.start, place.stop, (len(pairs), count))
    for _ in range(100):  # a node that is linked to nearly all would be drawn for long: it keeps what it has then
        ends = np.column_stack([np.repeat(kept, count), others.ravel()])
        wrong = _among(codes(ends, total), taken) | (ends[:, 0] == ends[:, 1])
        if not wrong.any():
            break
        others.ravel()[wrong] = rng.integers(place.start, place.stop, int(wrong.sum()))
    return kept, others


def _entries(graph: Graph, relation: Relation) -> Pairs:
    """Every entry of a relation's matrix, by numbers over all types: (nnz, 2)."""
    matrix = graph.matrix(relation)
    first, second = (graph.nodes.slice(type).start for type in relation[::2])
    return np.column_stack([matrix.rows().astype(np.int64) + first, matrix.indices.astype(np.int64) + second])


def _in_form(graph: Graph, relation: Relation, pairs: Pairs) -> Pairs:
    """The source type first."""
    first, second = (graph.nodes.slice(type).start for type in relation[::2])
    return pairs[:, ::-1].copy() if first > second else pairs


def _decoded(found: NDArray[np.int64], num_nodes: int) -> Pairs:
    return np.column_stack(np.divmod(found, num_nodes))


def _among(values: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which values are in a sorted array."""
    if not len(known):
        return np.zeros(len(values), bool)
    at = np.searchsorted(known, values)
    return np.asarray(known[np.minimum(at, len(known) - 1)] == values)
