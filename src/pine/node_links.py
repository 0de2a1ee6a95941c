"""Pairs of nodes by their vectors: how likely an edge is, and which edges may be missing."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine.errors import InputError, one_of
from pine.graph import Graph, check_graph
from pine.graph.nodes import Relation
from pine.links.by_id import pairs_by_id
from pine.links.candidates import candidates_everywhere, candidates_of
from pine.links.pairs import check_relation_of
from pine.links.scorers import SCORERS, LinkModel, PairScorer, PairVectors, scorer
from pine.node_vectors import NodeVectors
from pine.similarity import check_k


class NodeLinks(NodeVectors):
    """Answers for pairs of nodes."""

    def pair_vectors(self) -> PairVectors:
        """What pairs of nodes are scored by (pine.links)."""
        return PairVectors(self._vectors)

    @abstractmethod
    def _refitted(self, graph: Graph) -> NodeLinks:
        """The same method with the same settings and labels, fitted to a graph with the same nodes."""

    def score_edges(
        self, pairs: Any, *, score: str | None = None, graph: Graph | None = None, relation: Relation | None = None
    ) -> NDArray[np.float64]:
        """How likely an edge is between the nodes of each pair: (num_pairs,), the higher the likelier.

        pairs: a list of pairs of ids, or an array (num_pairs, 2); (u, v) and (v, u) score alike.
        score: "cosine" or "dot" of the two vectors; "f", of PINE; "bilinear", learned from the graph's edges; or
            "combined", the chance of an edge were there as many edges as other pairs, for which the method is fitted
            once more, without a tenth of the edges (docs/links.md). None: combined with a graph, else cosine.
        graph: the graph of fit, for scores that learn from its edges; the last scorer is kept for it.
        relation: (source type, name, destination type), whose types the two ids are of, if there are several.
        """
        self._vectors  # noqa: B018 - so that one that is not fitted says so
        if graph is not None:
            relation = self._check_links(graph, relation)
        chosen = score or ("cosine" if graph is None else "combined")
        made = self._scorer(chosen, graph, relation)
        return made(pairs_by_id(self.nodes_, pairs, relation))

    def missing_edges(
        self,
        graph: Graph,
        node: Any = None,
        k: int = 10,
        type: str | None = None,
        *,
        relation: Relation | None = None,
        score: str | None = None,
    ) -> list[tuple[Any, ...]]:
        """The likeliest edges that a graph does not have: [(id, score)] of a node, [(id, id, score)] of a graph.

        graph: the graph of fit; its edges are left out. Not all pairs are looked at (pine.links.candidates).
        node: its id; None: edges anywhere.
        k: how many, at least 1; fewer come back where there are fewer candidates.
        type: the type of node, where its id alone does not tell.
        relation: whose edges are looked for; None: the only one there is.
        score: as in score_edges; None: combined.
        """
        vectors, k = self._vectors, check_k(k)
        relation = self._check_links(graph, relation)
        made = None if node is not None else candidates_everywhere(graph, relation, vectors)
        if made is None:
            type, (position,) = self.nodes_.find([node], type)
            if type not in relation[::2]:
                raise InputError(f"nodes of type {type!r} have no edges {'-'.join(relation)}; take another relation")
            made = candidates_of(graph, relation, self.nodes_.slice(type).start + int(position), vectors)
        scores = self._scorer(score or "combined", graph, relation)(made)
        best = np.lexsort([made[:, 1], made[:, 0], -scores])[:k]
        ids = [[self.nodes_.id_at(int(end)) for end in made[row]] for row in best]
        first = 0 if node is None else 1
        return [(*pair[first:], float(scores[row])) for pair, row in zip(ids, best, strict=True)]

    def _check_links(self, graph: Graph, relation: Relation | None) -> Relation:
        check_graph("missing_edges", graph)
        if not graph.nodes.equals(self.nodes_):
            raise InputError(
                f"the graph must have the {len(self.nodes_):,} nodes that this model was fitted on, in the same order, "
                f"got {graph}; give the graph of fit, or fit again"
            )
        return check_relation_of(graph, relation)

    def _scorer(self, score: str, graph: Graph | None, relation: Relation | None) -> PairScorer:
        """The last one is kept until the next fit; not pickled."""
        one_of("score", score, SCORERS)
        kept = self.__dict__.get("_last_scorer")
        if kept is not None and kept[0] == (score, relation) and kept[1] is graph:
            found: PairScorer = kept[2]
            return found
        model = LinkModel(self.pair_vectors(), graph, relation, lambda some: self._refitted(some).pair_vectors())
        made = scorer(score, model)
        self.__dict__["_last_scorer"] = ((score, relation), graph, made)
        return made

    def _forget_nearest(self) -> None:
        super()._forget_nearest()
        self.__dict__.pop("_last_scorer", None)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_last_scorer"}
