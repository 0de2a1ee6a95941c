"""A typed graph seen as one type: what knowing the types is worth is the difference to this."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pine.graph import EDGE, NODE, Graph
from pine.graph.ids.node_ids import ids_from
from pine.graph.nodes import Nodes
from pine.labels import Labels


def untyped(graph: Graph, labels: Labels) -> tuple[Graph, Labels]:
    """All nodes as one type, with their numbers over all types as ids; labels stay on their nodes.

    PINE's groups="all" sums over one group too, but it still gives every type its own share of the agreement.
    """
    nodes = Nodes({NODE: ids_from(np.arange(graph.num_nodes))})
    plain = Graph.assemble(nodes, {EDGE: graph.adjacency()}, directed=graph.directed)
    return plain, replace(labels, type=NODE, known=labels.known + graph.nodes.slice(labels.type).start)
