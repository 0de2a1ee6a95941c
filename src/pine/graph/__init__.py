"""Graphs: node types with the users' own ids, relations as compressed rows, readers and converters."""

from pine.graph.csr import CSR
from pine.graph.graph import EDGE, NODE, Graph
from pine.graph.groups import NeighborGroup

__all__ = ["CSR", "EDGE", "NODE", "Graph", "NeighborGroup"]
