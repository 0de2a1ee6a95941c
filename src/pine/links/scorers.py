"""Scores of pairs of nodes: the higher, the more likely an edge. Alike for (u, v) and (v, u).

dot        x_u . x_v
cosine     the same of vectors of length 1
bilinear   x_u' W x_v of vectors of length 1, with a W that was learned from the edges (links/bilinear)
f          PINE's own: how well f of one end's neighbors agrees with x of the other, in cosine, mean of both ways
combined   a logistic regression over cosine, bilinear, personalized PageRank, common neighbors and degrees
           (links/combined)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine.errors import InputError
from pine.graph import Graph
from pine.graph.nodes import Relation
from pine.links.bilinear import learn_bilinear
from pine.links.combined import Columns, learn_combined
from pine.links.heuristics import common_neighbors, personalized_pagerank
from pine.links.pairs import Pairs, draw_non_edges, edge_pairs
from pine.similarity import unit_rows

BILINEAR_EDGES = 100_000  # at most, that W is learned from: more than 20 for each of its numbers

Scores = NDArray[np.float64]
PairScorer = Callable[[Pairs], Scores]


@dataclass(frozen=True, eq=False)
class PairVectors:
    """Vectors of all nodes, type after type (num_nodes, dim): x, and of PINE f of the neighbors."""

    x: NDArray[Any]
    f: NDArray[Any] | None = None


Embed = Callable[[Graph], PairVectors]  # fits the same method to a graph with the same nodes


@dataclass(frozen=True, eq=False)
class LinkModel:
    """What scorers are made from: vectors, and where edges count the graph that these were learned from.

    embed: fits the vectors anew to a graph of fewer edges. vectors and embed are None where there are none.
    """

    vectors: PairVectors | None
    graph: Graph | None = None
    relation: Relation | None = None
    embed: Embed | None = None
    seed: int = 0
    threads: int | None = None


def scorer(name: str, model: LinkModel) -> PairScorer:
    """A scorer of SCORERS, learned where there is something to learn."""
    return SCORERS[name](model)


def _dot(model: LinkModel) -> PairScorer:
    x = _x(model)
    return lambda pairs: _dots(x, x, pairs)


def _cosine(model: LinkModel) -> PairScorer:
    unit = unit_rows(_x(model))
    return lambda pairs: _dots(unit, unit, pairs)


def _bilinear(model: LinkModel) -> PairScorer:
    graph, relation = _edges(model, "bilinear")
    unit, edges = unit_rows(_x(model)), edge_pairs(graph, relation)
    rng = np.random.default_rng(model.seed)
    some = edges if len(edges) <= BILINEAR_EDGES else edges[np.sort(rng.choice(len(edges), BILINEAR_EDGES, False))]
    others = draw_non_edges(graph, relation, edges, len(some), rng)
    turned = unit @ learn_bilinear(unit, some, others)
    return lambda pairs: _dots(turned, unit, pairs)


def _f(model: LinkModel) -> PairScorer:
    if model.vectors is None or model.vectors.f is None:
        raise InputError("the score f is of PINE alone, which has a function f; take cosine, dot or combined")
    x, f = unit_rows(model.vectors.x), unit_rows(model.vectors.f)
    return lambda pairs: (_dots(x, f, pairs) + _dots(f, x, pairs)) / 2


def _combined(model: LinkModel) -> PairScorer:
    """The chance of an edge, were there as many edges as other pairs."""
    graph, relation = _edges(model, "combined")

    def columns(some: Graph) -> Columns:
        if model.vectors is None:
            return _columns(some, [], model.threads)
        assert model.embed is not None
        vectors = model.vectors if some is graph else model.embed(some)
        inner = LinkModel(vectors, some, relation, seed=model.seed)
        return _columns(some, [_cosine(inner), _bilinear(inner)], model.threads)

    return learn_combined(graph, relation, columns, model.seed)


SCORERS: dict[str, Callable[[LinkModel], PairScorer]] = {
    "dot": _dot,
    "cosine": _cosine,
    "bilinear": _bilinear,
    "f": _f,
    "combined": _combined,
}
NEED_EDGES = ("bilinear", "combined")  # scorers that learn from the graph


def _columns(graph: Graph, by_vectors: list[PairScorer], threads: int | None) -> Columns:
    """Pairs to the numbers that a combination weighs: (num_pairs, num_columns)."""
    links = graph.links()
    degrees = links.distinct(drop_loops=True).degrees()

    def made(pairs: Pairs) -> Scores:
        ends = np.sort(degrees[pairs], axis=1)
        pagerank = personalized_pagerank(links, pairs, threads)
        shared = common_neighbors(links, pairs, threads)
        own = [each(pairs) for each in by_vectors]
        return np.column_stack([np.log1p(ends), np.log1p(shared), np.log(pagerank + 1e-6), *own])

    return made


def _x(model: LinkModel) -> NDArray[Any]:
    if model.vectors is None:
        raise InputError("there are no vectors to score by; take combined")
    return model.vectors.x


def _edges(model: LinkModel, name: str) -> tuple[Graph, Relation]:
    if model.graph is None or model.relation is None:
        raise InputError(f"the score {name!r} learns from edges: give the graph too, graph=...")
    return model.graph, model.relation


def _dots(left: NDArray[Any], right: NDArray[Any], pairs: Pairs) -> Scores:
    found = np.einsum("ij,ij->i", left[pairs[:, 0]], right[pairs[:, 1]], dtype=np.float64)
    return np.asarray(found, np.float64)
