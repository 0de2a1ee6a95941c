"""A graph and its features from the files that `pine train` and `pine embed` are given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pine
from pine.errors import InputError


def read_graph(edges: Path | None, relations: Sequence[str], directed: bool) -> pine.Graph:
    """One file of edges, or relations given as SRC:REL:DST=FILE."""
    if (edges is None) == (not relations):
        raise InputError("give either one file of edges, or relations: --relation SRC:REL:DST=FILE")
    if edges is not None:
        return pine.Graph.from_edges(edges, directed=directed)
    files: dict[tuple[str, str, str], Path] = {}
    for relation in relations:
        triple, separator, file = relation.partition("=")
        parts = triple.split(":")
        if not separator or len(parts) != 3 or not all(parts):
            raise InputError(f"a relation is given as SRC:REL:DST=FILE, got {relation!r}")
        files[parts[0], parts[1], parts[2]] = Path(file)
    return pine.Graph.from_relations(files, directed=directed)


def attach_features(graph: pine.Graph, given: Sequence[str], say: Callable[[str], object]) -> pine.Graph:
    """The graph with features from files, FILE or TYPE=FILE each; says in a line what was read of each."""
    files: dict[str, Path] = {}
    for each in given:
        type, file = _typed(graph, each)
        if type in files:
            raise InputError(f"features of type {type!r} are given twice: {files[type]} and {file}")
        files[type] = file
    found = {type: pine.io.read_feature_file(file, graph, type) for type, file in files.items()}
    for type, (matrix, mask) in found.items():
        known = graph.count(type) if mask is None else int(mask.sum())
        of = "" if len(graph.node_types) == 1 else f" of type {type}"
        unknown = graph.count(type) - known
        say(f"features{of}: {matrix.shape[1]:,} columns, known for {known:,} nodes and unknown for {unknown:,}")
    if not found:
        return graph
    return graph.with_features(
        {type: matrix for type, (matrix, _) in found.items()},
        {type: mask for type, (_, mask) in found.items() if mask is not None},
    )


def _typed(graph: pine.Graph, given: str) -> tuple[str, Path]:
    """The type and the file of --features."""
    type, equals, file = given.partition("=")
    if equals and type in graph.node_types:
        return type, Path(file)
    if len(graph.node_types) > 1:
        types = ", ".join(graph.node_types)
        raise InputError(f"features of a typed graph are given as TYPE=FILE, with a type of {types}, got {given!r}")
    return graph.node_types[0], Path(given)
