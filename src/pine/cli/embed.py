"""`pine embed`: vectors for all nodes of a graph that holds unseen ones, from a saved run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import pine
from pine.cli.graphs import attach_features, read_graph
from pine.cli.options import FeatureFiles, Relations, RunFolder


def embed(
    run: RunFolder,
    edges: Annotated[Path | None, typer.Argument(help="File of edges of a graph that holds unseen nodes.")] = None,
    out: Annotated[
        Path, typer.Option(help="File for the vectors: .parquet, .npy or .txt (word2vec).", metavar="FILE")
    ] = ...,  # type: ignore[assignment]
    relation: Relations = None,
    features: FeatureFiles = None,
) -> None:
    """Vectors for all nodes of a changed graph, without training; known nodes keep theirs."""
    format = pine.io.format_of(out)
    model = pine.methods.load_run(run)
    graph = attach_features(read_graph(edges, relation).graph, features, typer.echo)
    pine.io.export_vectors(out, format, graph.nodes, model.transform(graph))
    typer.echo(f"{graph.num_nodes:,} vectors in {out}")
