"""`pine export`: the vectors of a saved run as a file for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import pine
from pine.cli.options import RunFolder

FormatName = Annotated[
    str | None,
    typer.Option(
        help="word2vec (.txt, .vec), parquet, npy (with ids beside it), csv, tsv, or projector (TensorBoard's pair "
        "of .tsv files); by default what the file's ending says.",
        metavar="NAME",
    ),
]


def export(
    run: RunFolder,
    out: Annotated[Path, typer.Option(help="File to write; its ending says the format.", metavar="FILE")],
    format: FormatName = None,
) -> None:
    """Write a run's vectors for other tools.

    Example: pine export run --out vectors.parquet
    """
    form = pine.io.format_of(out, format)
    model = pine.methods.load_run(run)
    written = pine.io.export_vectors(out, form, model.nodes_, model.embedding_)
    typer.echo(f"{len(model.nodes_):,} vectors in {' and '.join(map(str, written))}")
