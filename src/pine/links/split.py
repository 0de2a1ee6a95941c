"""Edges held out of a graph, uniformly or the latest ones, and as many pairs without an edge, drawn uniformly.

The protocol of the graph autoencoder (Kipf and Welling, 2016): 10 % of the edges for the test, 5 % for validation. All
nodes stay, also those that lose all edges. Negatives are pairs of the same types that have no edge of the relation in
the whole graph; those of validation and test have none in common.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine.errors import InputError, quoted
from pine.graph import Graph
from pine.graph.nodes import Relation
from pine.links.pairs import (
    Pairs,
    check_relation_of,
    codes,
    draw_non_edges,
    draw_other_ends,
    edge_pairs,
    without_edges,
)

TEST_SHARE, VALID_SHARE = 0.1, 0.05  # of the edges: the authors' of the graph autoencoder
RIVALS = 100  # nodes that each test edge is ranked against


@dataclass(frozen=True, eq=False)
class LinkSplit:
    """The graph without the held-out edges, and pairs (count, 2) by their numbers over all node types.

    ranked, rivals: for each test edge, one of its ends, and so many nodes without an edge to it.
    """

    graph: Graph
    relation: Relation
    train: Pairs
    valid: Pairs
    test: Pairs
    valid_negatives: Pairs
    test_negatives: Pairs
    ranked: NDArray[np.int64]
    rivals: NDArray[np.int64]


def hold_out(
    graph: Graph,
    seed: Any = 0,
    *,
    test: float = TEST_SHARE,
    valid: float = VALID_SHARE,
    relation: Relation | None = None,
    rivals: int = RIVALS,
) -> LinkSplit:
    """Hold out shares of the edges of one relation, uniformly.

    seed: a number or a NumPy generator. relation: None for the only one there is; the others stay as they are.
    rivals: how many nodes each test edge is ranked against.
    """
    relation = check_relation_of(graph, relation)
    edges = edge_pairs(graph, relation)
    rng = np.random.default_rng(seed)
    return _split(graph, relation, edges, rng.permutation(len(edges)), test, valid, rivals, rng)


def hold_out_latest(
    graph: Graph,
    times: Any,
    seed: Any = 0,
    *,
    test: float = TEST_SHARE,
    valid: float = VALID_SHARE,
    relation: Relation | None = None,
    rivals: int = RIVALS,
) -> LinkSplit:
    """Hold out the latest edges of one relation: the last for the test, those before them for validation.

    times: when each edge came, one number for each row of edge_pairs(graph, relation). Edges of one time are in random
    order. The rest as in hold_out.
    """
    relation = check_relation_of(graph, relation)
    edges = edge_pairs(graph, relation)
    try:
        given = np.asarray(times, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"times must be one number for each edge, got {quoted(times)}") from None
    if given.shape != (len(edges),):
        raise InputError(f"times must be one number for each of {len(edges)} edges, got the shape {given.shape}")
    if not np.isfinite(given).all():
        raise InputError("times must be finite, and have a NaN or an infinity among them")
    rng = np.random.default_rng(seed)
    order = np.lexsort([rng.permutation(len(edges)), -given])
    return _split(graph, relation, edges, order, test, valid, rivals, rng)


def _split(
    graph: Graph,
    relation: Relation,
    edges: Pairs,
    order: NDArray[np.int64],
    test: float,
    valid: float,
    rivals: int,
    rng: np.random.Generator,
) -> LinkSplit:
    """The first of the order are the test's, those after them validation's."""
    for name, share in (("test", test), ("valid", valid)):
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share < 1:
            raise InputError(f"{name} must be a share of the edges, at least 0 and below 1, got {quoted(share)}")
    num_test, num_valid = round(test * len(edges)), round(valid * len(edges))
    if num_test < 1 or num_test + num_valid >= len(edges):
        raise InputError(
            f"{'-'.join(relation)} has {len(edges)} edges; a share of {test:g} for the test and {valid:g} for "
            "validation leaves none to test or to learn from"
        )
    parts = (np.sort(part) for part in np.split(order, [num_test, num_test + num_valid]))
    tested, validated, train = (edges[part] for part in parts)
    negatives = draw_non_edges(graph, relation, edges, num_test + num_valid, rng)
    kept, others = draw_other_ends(graph, relation, edges, tested, rivals, rng)
    left = without_edges(graph, relation, np.concatenate([tested, validated]))
    return LinkSplit(left, relation, train, validated, tested, negatives[num_test:], negatives[:num_test], kept, others)


def earliest_times(graph: Graph, relation: Relation, ends: Pairs, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each edge of a relation, as edge_pairs has them, the earliest of the times at which it occurs."""
    count = graph.num_nodes
    known, at = np.unique(codes(ends, count), return_inverse=True)
    first = np.full(len(known), np.inf)
    np.minimum.at(first, at, times)
    return first[np.searchsorted(known, codes(edge_pairs(graph, relation), count))]
