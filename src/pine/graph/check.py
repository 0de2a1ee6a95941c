"""What is given as a graph must be a Graph; anything else is told the way to one."""

from __future__ import annotations

from typing import Any

from pine.errors import InputError
from pine.graph.convert.other_libraries import way_in
from pine.graph.graph import Graph


def check_graph(what: str, given: Any) -> None:
    """what: the method that takes it, such as "fit"."""
    if isinstance(given, Graph):
        return
    name = type(given).__name__
    way = way_in(given)
    call = "Graph.from_edges(...)" if way is None else f"{way}(...), as in {what}(pine.{way}(graph))"
    raise InputError(f"{what} takes a pine.Graph, got {name}; build one with {call}")
