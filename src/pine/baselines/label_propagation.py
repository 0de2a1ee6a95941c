"""Label propagation (Zhou et al., 2004): see pine.propagation. Where no label arrives, the prediction is the average of
all known ones.

Along one relation alone, a relation between two types goes there and back: labels of authors travel over the terms that
authors share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from pine._internal.settings import Count, Range, SeedNumber
from pine.embedder import Embedder, Fitted
from pine.errors import InputError, listed, quoted
from pine.graph import Graph
from pine.labels import Labels
from pine.propagation import normalize, normalized_adjacency, propagate, seed_matrix


@dataclass
class LabelPropagation(Embedder):
    """embedding_ is the class scores, for the nodes of every type.

    alpha: how far labels travel; the default is the usual choice.
    rounds: how many; .9 ** 100 < 3e-5, so that what is left out changes nothing.
    relation: the name of the relation whose edges labels travel along; None: all edges.
    seed: nothing here is random; kept so that every method takes one.
    """

    name: ClassVar[str] = "label-propagation"
    revision: ClassVar[int] = 1
    supervised: ClassVar[bool] = True

    alpha: Annotated[float, Range(0, 1, with_low=False)] = 0.9
    rounds: Count = 100
    relation: str | None = None
    seed: SeedNumber | None = None

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        assert labels is not None
        nodes = graph.nodes.slice(labels.type)
        normalized = normalized_adjacency(along(graph, self.relation, labels.type))
        seeds = seed_matrix(graph.num_nodes, nodes.start + labels.known, labels.targets())
        averages, reached = normalize(propagate(lambda f: normalized @ f, seeds, self.alpha, self.rounds))
        scores = np.where(reached, averages, labels.targets().mean(axis=0)).astype(np.float32)
        return Fitted(scores, scores[nodes])


def along(graph: Graph, relation: str | None, type: str) -> Graph:
    """The graph with the edges of one relation alone, which must be one of nodes of a type; None: with all edges."""
    if relation is None:
        return graph
    names = dict.fromkeys(name for source, name, target in graph.relations if type in (source, target))
    if relation not in names:
        raise InputError(
            f"relation {quoted(relation)} does not exist for nodes of type {type!r}, where labels are; "
            f"there are {listed(names, len(names))}"
        )
    chosen = {each: graph.matrix(each) for each in graph.relations if each[1] == relation}
    return Graph.assemble(graph.nodes, chosen, directed=graph.directed)
