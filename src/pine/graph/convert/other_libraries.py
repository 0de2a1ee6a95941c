"""Graphs of other libraries, told by their looks: none of these has to be installed."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp


def way_in(given: Any) -> str | None:
    """The constructor for what is given, such as "Graph.from_networkx"; None for what is no graph of a library."""
    if hasattr(given, "is_directed") and hasattr(given, "adj"):
        return "Graph.from_networkx"
    if sp.issparse(given):
        return "Graph.from_scipy"
    if hasattr(given, "edge_index") or (hasattr(given, "node_types") and hasattr(given, "edge_types")):
        return "Graph.from_pyg"
    return None
