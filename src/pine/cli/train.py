"""`pine train`: the user's own files to a saved run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import pine
from pine.cli.graphs import attach_features, read_graph
from pine.cli.options import FeatureFiles, Relations
from pine.cli.progress import progress_bar


def train(
    edges: Annotated[Path | None, typer.Argument(help="csv, tsv, space-separated or Parquet file of edges.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the trained run.", metavar="RUN")] = ...,  # type: ignore[assignment]
    labels: Annotated[Path | None, typer.Option(help="File of node id and label.", metavar="FILE")] = None,
    relation: Relations = None,
    features: FeatureFiles = None,
    label_type: Annotated[
        str | None, typer.Option(help="The node type that the labels are on.", metavar="TYPE")
    ] = None,
    method: Annotated[str, typer.Option(help="Method to train.")] = "pine",
    directed: Annotated[bool, typer.Option(help="Edges go one way.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    start_from: Annotated[
        Path | None, typer.Option(help="An earlier run; nodes that it knows begin where they were.", metavar="RUN")
    ] = None,
) -> None:
    """Train on your own graph and save the run."""
    console = Console()
    graph = read_graph(edges, relation, directed=directed).graph
    console.print(f"{graph}")
    graph = attach_features(graph, features or [], console.print)
    given = None if labels is None else pine.io.read_label_file(labels, graph, label_type)
    model = pine.methods.method_class(method)().set_params(seed=seed)
    # The same command, given again after an interruption, goes on from this file.
    checkpoint = out.with_name(f"{out.name}.unfinished") if model.keeps_checkpoints else None
    out.parent.mkdir(parents=True, exist_ok=True)
    with progress_bar(Console(stderr=True), model.name) as progress:
        model.fit(graph, given, start_from=start_from, checkpoint=checkpoint, progress=progress)
    model.save(out)
    console.print(f"saved to {out}")
