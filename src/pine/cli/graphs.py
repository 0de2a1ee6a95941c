"""A graph, its features and its labels from the files that commands are given, and in words what was read."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pine
from pine.errors import InputError, shortened

SHOWN_CLASSES = 10


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
class LabelColumns:
    """What to read of a file of labels, as the options say; type: of the nodes that they are on."""

    ids: str | None = None
    labels: str | None = None
    type: str | None = None
    header: bool | None = None
    separator: str | None = None


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
    mmap_dir: Path | None = None,
) -> GraphRead:
    """One file of edges, or relations given as SRC:REL:DST=FILE; nodes are files of ids, FILE or TYPE=FILE."""
    relations, columns = relations or [], columns or EdgeColumns()
    if (edges is None) == (not relations):
        raise InputError("give either one file of edges, or relations: --relation SRC:REL:DST=FILE")
    files = _relation_files(relations)
    types = list(dict.fromkeys(type for source, _, target in files for type in (source, target))) or ["node"]
    listed_nodes = dict(_typed_files("nodes", types, nodes))
    graph, read = pine.io.read_graph_files(
        files if edges is None else edges,
        source=columns.source,
        target=columns.target,
        weights=columns.weights,
        header=columns.header,
        directed=directed,
        nodes=listed_nodes,
        id_column=id_column,
        mmap_dir=mmap_dir,
    )
    names = {"edges": edges} if edges is not None else {":".join(key): file for key, file in files.items()}
    names |= {"nodes" if edges is not None else f"nodes {type}": file for type, file in listed_nodes.items()}
    weighted = any(each.weighted for each in read)
    return GraphRead(graph, [*map(str, read), describe_graph(graph, weighted)], names)


def describe_graph(graph: pine.Graph, weighted: bool) -> str:
    """Nodes, edges, types, directed or not, weighted or not, in a line."""
    kind = f"{'directed' if graph.directed else 'undirected'}, {'weighted' if weighted else 'not weighted'}"
    if graph.node_types == ("node",):
        return f"graph: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges, {kind}"
    nodes = ", ".join(f"{graph.count(type):,} {type}" for type in graph.node_types)
    edges = ", ".join(f"{graph.edge_count(each):,} {'-'.join(each)}" for each in graph.relations)
    return f"graph: {graph.num_nodes:,} nodes ({nodes}), {graph.num_edges:,} edges ({edges}), {kind}"


def _relation_files(relations: Sequence[str]) -> dict[tuple[str, str, str], Path]:
    files: dict[tuple[str, str, str], Path] = {}
    for relation in relations:
        triple, separator, file = relation.partition("=")
        parts = triple.split(":")
        if not separator or len(parts) != 3 or not all(parts):
            raise InputError(f"a relation is given as SRC:REL:DST=FILE, got {relation!r}")
        key = (parts[0], parts[1], parts[2])
        if key in files:
            raise InputError(f"relation {triple} is given twice: {files[key]} and {file}")
        files[key] = Path(file)
    return files


def read_labels_for(graph: pine.Graph, path: Path, columns: LabelColumns, task: str = "auto") -> LabelsRead:
    """The labels of a file, for fit(graph, read.labels, task=read.task)."""
    table = pine.io.read_label_table(
        path, graph, columns.type, columns.ids, columns.labels, columns.header, columns.separator
    )
    given = table.labels if len(graph.node_types) == 1 else {table.type: table.labels}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fit says it again
        labels = pine.labels.read_labels(graph, given, task)
    said = pine.io.label_warnings(table)
    if task == "auto" and labels.task == "numbers" and (labels.values == labels.values.round()).all():
        said.append(f"{path}: labels are whole numbers such as {labels.values[0]:g}; for classes, say --task classes")
    empty = f", {table.num_unknown:,} empty" if table.num_unknown else ""
    of = "" if len(graph.node_types) == 1 else f" {labels.type}"
    known = f"known for {len(labels.known):,} of {graph.count(labels.type):,}{of} nodes{empty}"
    return LabelsRead(given, labels.task, [str(table.columns), f"labels: {_described(labels)}; {known}"], said)


def _described(labels: pine.labels.Labels) -> str:
    """The task, and classes with their counts or the range of numbers."""
    if labels.classes is None:
        return f"numbers from {labels.values.min():g} to {labels.values.max():g}"
    counts = labels.targets().sum(axis=0).astype(int)
    order = (-counts).argsort(kind="stable")[:SHOWN_CLASSES]
    shown = ", ".join(f"{shortened(str(labels.classes[i]))} {counts[i]:,}" for i in order)
    rest = ", ..." if len(counts) > len(order) else ""
    kind = "classes" if labels.task == "classes" else "labels, several a node"
    return f"{len(counts):,} {kind} ({shown}{rest})"


def attach_features(
    graph: pine.Graph, given: Sequence[str] | None, say: Callable[[str], object], id_column: str | None = None
) -> pine.Graph:
    """The graph with features from files, FILE or TYPE=FILE each; says in a line what was read of each."""
    files = dict(_typed_files("features", graph.node_types, given))
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


def _typed_files(what: str, types: Sequence[str], given: Sequence[str] | None) -> list[tuple[str, Path]]:
    """The types and files of an option that is given as FILE, or TYPE=FILE where there are several types."""
    files: dict[str, Path] = {}
    for each in given or ():
        type, equals, file = each.partition("=")
        if not equals or type not in types:
            if len(types) > 1:
                raise InputError(
                    f"{what} of a typed graph are given as TYPE=FILE, with a type of {', '.join(types)}, got {each!r}"
                )
            type, file = types[0], each
        if type in files:
            raise InputError(f"{what} of type {type!r} are given twice: {files[type]} and {file}")
        files[type] = Path(file)
    return list(files.items())
