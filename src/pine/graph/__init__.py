"""Graphs: node types with the users' own ids, relations as compressed rows, readers and converters."""

from pine.graph.check import check_graph
from pine.graph.csr import CSR
from pine.graph.graph import Graph
from pine.graph.groups import NeighborGroup
from pine.graph.nodes import EDGE, NODE

__all__ = ["CSR", "EDGE", "NODE", "Graph", "NeighborGroup", "check_graph"]
