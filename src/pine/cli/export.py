"""`pine export`: the vectors of a saved run as a file for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import pine
from pine.cli.options import RunFolder


def export(
    run: RunFolder,
    out: Annotated[Path, typer.Option(help="File to write.", metavar="FILE")],
    format: Annotated[str, typer.Option(help="word2vec, parquet or npy.")] = "parquet",
) -> None:
    """Write a run's vectors for other tools."""
    model = pine.methods.load_run(run)
    pine.io.export_vectors(out, format, model.nodes_, model.embedding_)
    typer.echo(f"{len(model.nodes_):,} vectors in {out}")
