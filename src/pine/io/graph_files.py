"""A graph from files of edges and of nodes, and which columns of them were read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pine.errors import InputError
from pine.graph import Graph
from pine.graph.nodes import EDGE, Relation
from pine.graph.read.columns import ReadColumns
from pine.graph.read.table import EdgeTable, column_names, edge_table
from pine.io.node_files import read_node_file


def read_graph_files(
    edges: Path | Mapping[Relation, Path],
    *,
    source: str | None = None,
    target: str | None = None,
    weights: str | None = "auto",
    header: bool | None = None,
    directed: bool = False,
    nodes: Mapping[str, Path] | None = None,
    id_column: str | None = None,
    mmap_dir: Path | None = None,
) -> tuple[Graph, list[ReadColumns]]:
    """A graph from one file of edges or one a relation, and the columns that were read of each file.

    source, target, weights and header are as in Graph.from_edges; a column that is named is read of those files that
    have it. nodes: {type: file of all ids}, for nodes without edges. id_column: names the column of ids in these.
    mmap_dir: as in Graph.from_edges, for one file of edges.
    """
    files = dict(edges) if isinstance(edges, Mapping) else {EDGE: edges}
    given = {type: read_node_file(file, id_column) for type, file in (nodes or {}).items()}
    if mmap_dir is not None:
        if isinstance(edges, Mapping):
            raise InputError("mmap_dir is for one file of edges: leave it out, or the relations")
        ids = next((ids for ids, _ in given.values()), None)
        graph = Graph.from_edges(
            edges, nodes=ids, weights=weights, source=source, target=target, directed=directed, mmap_dir=mmap_dir
        )
        read = edge_table(edges, weights, source, target).columns
        return graph, [*([] if read is None else [read]), *(columns for _, columns in given.values())]
    named = {"source": source, "target": target, "weights": None if weights == "auto" else weights}
    tables = _edge_tables(files, named, weights, header)
    graph = Graph.from_relations(tables, nodes={type: ids for type, (ids, _) in given.items()}, directed=directed)
    columns = [table.columns for table in tables.values() if table.columns is not None]
    return graph, columns + [read for _, read in given.values()]


def _edge_tables(
    files: Mapping[Relation, Path], named: Mapping[str, str | None], weights: str | None, header: bool | None
) -> dict[Relation, EdgeTable]:
    if len(files) == 1:
        return {
            key: edge_table(file, weights, named["source"], named["target"], header, key[::2])
            for key, file in files.items()
        }
    names = {key: column_names(file) for key, file in files.items()}
    for role, name in named.items():
        if name is not None and not any(name in each for each in names.values()):
            raise InputError(f"no file of a relation has a column {name!r} for {role}")
    tables = {}
    for key, file in files.items():
        source, target, weight = (name if name in names[key] else None for name in named.values())
        own = weight or (weights if named["weights"] is None else "auto")
        tables[key] = edge_table(file, own, source, target, header, key[::2])
    return tables
