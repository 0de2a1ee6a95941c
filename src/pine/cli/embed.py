"""`pine embed`: vectors for all nodes of a graph that holds unseen ones, from a saved run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import pine
from pine.cli.console import plain_console, print_lines
from pine.cli.export import FormatName
from pine.cli.graphs import EdgeColumns, attach_features, read_graph
from pine.cli.options import (
    Directed,
    EdgeFile,
    FeatureFiles,
    Header,
    IdColumn,
    NodeFiles,
    NoWeight,
    Relations,
    RunFolder,
    SourceColumn,
    TargetColumn,
    WeightColumn,
)
from pine.cli.predict import trained_directed


def embed(
    run: RunFolder,
    edges: EdgeFile = None,
    out: Annotated[
        Path, typer.Option(help="File for the vectors; its ending says the format, as in export.", metavar="FILE")
    ] = ...,  # type: ignore[assignment]
    format: FormatName = None,
    relation: Relations = None,
    nodes: NodeFiles = None,
    features: FeatureFiles = None,
    directed: Directed = False,
    source: SourceColumn = None,
    target: TargetColumn = None,
    weight: WeightColumn = None,
    no_weight: NoWeight = False,
    header: Header = None,
    id_column: IdColumn = None,
) -> None:
    """Vectors for all nodes of a changed graph, without training; known nodes keep theirs.

    Example: pine embed run grown.csv --out vectors.parquet
    """
    form, console = pine.io.format_of(out, format), plain_console()
    model = pine.methods.load_run(run)
    columns = EdgeColumns(source, target, weight, no_weight, header)
    read = read_graph(edges, relation, columns, directed or trained_directed(model), nodes, id_column)
    print_lines(console, read.lines)
    graph = attach_features(read.graph, features, console.print, id_column)
    written = pine.io.export_vectors(out, form, graph.nodes, model.transform(graph))
    typer.echo(f"{graph.num_nodes:,} vectors in {' and '.join(map(str, written))}")
