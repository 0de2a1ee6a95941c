"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DataDir = Annotated[
    Path | None,
    typer.Option(help="Folder of data set files; otherwise PINE_DATA or the cache folder.", metavar="FOLDER"),
]
RunFolder = Annotated[Path, typer.Argument(help="A folder that `pine train` wrote.", metavar="RUN")]
Relations = Annotated[
    list[str] | None, typer.Option(help="A relation of a typed graph; repeat it.", metavar="SRC:REL:DST=FILE")
]
FeatureFiles = Annotated[
    list[str] | None,
    typer.Option(
        help="Node features: csv, tsv or Parquet by id, npy or npz in node order; repeat it for several types.",
        metavar="[TYPE=]FILE",
    ),
]
