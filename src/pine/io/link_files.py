"""Likely edges to files: source, target and score, one a row; csv or tsv."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pine._internal.files import atomic_write
from pine.errors import InputError

DELIMITERS = {".csv": ",", ".tsv": "\t"}


def check_links_file(path: Path) -> None:
    """Raise unless its ending says how to write it."""
    if path.suffix not in DELIMITERS:
        raise InputError(f"links are written to .csv or .tsv files, got {str(path)!r}")


def write_links(path: Path, rows: Sequence[tuple[Any, Any, float]]) -> None:
    """Write rows of source, target and score; the file is there whole or not at all."""
    check_links_file(path)
    text = io.StringIO()
    writer = csv.writer(text, delimiter=DELIMITERS[path.suffix], lineterminator="\n")
    writer.writerow(("source", "target", "score"))
    writer.writerows((source, target, f"{score:.6g}") for source, target, score in rows)
    with atomic_write(path) as file:
        file.write(text.getvalue().encode())
