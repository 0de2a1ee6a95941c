"""A graph, its features and its labels from the files that commands are given, and in words what was read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pine
from pine.errors import InputError


@dataclass(frozen=True)
class EdgeColumns:
    """Which columns of files of edges to read, as the options say: names, and whether there is a header."""

    source: str | None = None
    target: str | None = None
    weight: str | None = None
    no_weight: bool = False
    header: bool | None = None

    def __post_init__(self) -> None:
        if self.weight is not None and self.no_weight:
            raise InputError("give either --weight NAME or --no-weight")

    @property
    def weights(self) -> str | None:
        """As Graph.from_edges takes it."""
        return None if self.no_weight else self.weight or "auto"


@dataclass(frozen=True)
class GraphRead:
    """A graph, and lines that say what was read of which file and what was left out."""

    graph: pine.Graph
    lines: list[str]
    files: Mapping[str, Path] = field(default_factory=dict)  # by name: "edges", "SRC:REL:DST", "nodes TYPE"


@dataclass(frozen=True)
class LabelsRead:
    """Labels as fit takes them, lines that say what was read, and warnings to show."""

    labels: Any
    task: str
    lines: list[str]
    warnings: list[str]


def read_graph(
    edges: Path | None,
    relations: Sequence[str] | None,
    columns: EdgeColumns | None = None,
    directed: bool = False,
    nodes: Sequence[str] | None = None,
    id_column: str | None = None,
) -> GraphRead:
    """One file of edges, or relations given as SRC:REL:DST=FILE; nodes are files of ids, FILE or TYPE=FILE."""
    relations, columns = relations or [], columns or EdgeColumns()
    if (edges is None) == (not relations):
        raise InputError("give either one file of edges, or relations: --relation SRC:REL:DST=FILE")
    named: dict[str, Any] = {"source": columns.source, "target": columns.target, "header": columns.header}
    if edges is not None:
        graph = pine.Graph.from_edges(edges, weights=columns.weights, directed=directed, **named)
        return GraphRead(graph, [f"{edges}: {graph}"], {"edges": edges})
    files: dict[tuple[str, str, str], Path] = {}
    for relation in relations:
        triple, separator, file = relation.partition("=")
        parts = triple.split(":")
        if not separator or len(parts) != 3 or not all(parts):
            raise InputError(f"a relation is given as SRC:REL:DST=FILE, got {relation!r}")
        files[parts[0], parts[1], parts[2]] = Path(file)
    weights = dict.fromkeys(files, columns.weights)
    graph = pine.Graph.from_relations(files, weights=weights, directed=directed, **named)
    return GraphRead(graph, [f"{graph}"], {":".join(key): file for key, file in files.items()})


def read_labels_for(
    graph: pine.Graph,
    path: Path,
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    label_type: str | None = None,
    header: bool | None = None,
    separator: str | None = None,
    task: str = "auto",
) -> LabelsRead:
    """The labels of a file, for fit(graph, read.labels, task=read.task)."""
    labels = pine.io.read_label_file(path, graph, label_type)
    return LabelsRead(labels, task, [f"{path}: labels"], [])


def attach_features(
    graph: pine.Graph, given: Sequence[str] | None, say: Callable[[str], object], id_column: str | None = None
) -> pine.Graph:
    """The graph with features from files, FILE or TYPE=FILE each; says in a line what was read of each."""
    files: dict[str, Path] = {}
    for each in given or ():
        type, file = _typed(graph, each)
        if type in files:
            raise InputError(f"features of type {type!r} are given twice: {files[type]} and {file}")
        files[type] = file
    found = {type: pine.io.read_feature_file(file, graph, type, id_column=id_column) for type, file in files.items()}
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
