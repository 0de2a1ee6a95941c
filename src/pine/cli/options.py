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
