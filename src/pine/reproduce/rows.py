"""The outcome of an experiment as flat rows, and the CSV file that keeps them: tables and figures come from rows alone.

Each kind of experiment has columns of its own (pine.reproduce.kinds).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pine._internal.files import atomic_write
from pine.errors import InputError
from pine.evaluation.protocol import PUBLIC

Row = dict[str, Any]
TEXT_COLUMNS = {"dataset", "method", "panel", "spec", "stopped", "target"}
INTEGER_COLUMNS = {"repeat", "size", "seed", "true", "predicted", "kept", "epochs", "alone"}


def as_csv(rows: Sequence[Row]) -> str:
    """Rows as CSV; what a row does not have is left empty."""
    text = io.StringIO()
    columns = list(dict.fromkeys(column for row in rows for column in row))
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _written(value) for key, value in row.items()} for row in rows)
    return text.getvalue()


def write_rows(rows: Sequence[Row], path: Path) -> None:
    with atomic_write(path) as file:
        file.write(as_csv(rows).encode())


def read_rows(path: Path) -> list[Row]:
    """The opposite of write_rows."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [{key: _read(key, text) for key, text in row.items()} for row in csv.DictReader(file)]
    except (OSError, ValueError, TypeError, csv.Error) as problem:
        raise InputError(f"{path} does not hold the rows of an experiment: {problem}") from None


def _written(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _read(column: str, text: str) -> Any:
    if column in TEXT_COLUMNS:
        return text
    if text == "":
        return None
    if column == "ratio" and text == PUBLIC:
        return text
    return int(text) if column in INTEGER_COLUMNS else float(text)
