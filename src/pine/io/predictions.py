"""Predictions to files: id, type, label and its probability, one node a row; csv, tsv, Parquet or JSON lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from pine._internal.files import atomic_write
from pine.errors import InputError, listed, quoted


@dataclass(frozen=True)
class Predictions:
    """One entry a node; a label set is a list of labels with a list of probabilities, numbers have none."""

    ids: Sequence[Any]
    type: str
    labels: Sequence[Any]
    probabilities: Sequence[Any] | None

    def columns(self) -> dict[str, list[Any]]:
        """By their names in files."""
        made = {
            "id": _alike(self.ids),
            "type": [self.type] * len(self.ids),
            "label": [_alike(each) for each in self.labels] if self.has_sets else _alike(self.labels),
        }
        return made if self.probabilities is None else made | {"probability": list(self.probabilities)}

    @property
    def has_sets(self) -> bool:
        """Whether labels are sets."""
        return bool(len(self.labels)) and isinstance(self.labels[0], list)


def check_predictions_file(path: Path) -> None:
    """Raise unless the name of a file says how to write it."""
    if path.suffix.lower() not in WRITERS:
        raise InputError(f"{path} must end in one of {listed(WRITERS)}, to say in which form predictions are written")
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file for the predictions")


def write_predictions(path: Path, predictions: Predictions, separator: str = ";") -> None:
    """Write in the form that the file's ending says; separator: between labels of one cell of csv and tsv."""
    check_predictions_file(path)
    with atomic_write(path) as file:
        WRITERS[path.suffix.lower()](file, predictions, separator)


def _alike(values: Sequence[Any]) -> list[Any]:
    """As they are where all are of one kind that files know, else as text."""
    plain = [value.item() if hasattr(value, "item") else value for value in values]
    kinds = {type(value) for value in plain}
    if kinds <= {int} or kinds <= {float} or kinds <= {str} or kinds <= {bool}:
        return plain
    return [str(value) for value in plain]


def _csv(file: IO[bytes], predictions: Predictions, separator: str, delimiter: str = ",") -> None:
    columns = predictions.columns()
    if predictions.has_sets:
        odd = next((name for names in columns["label"] for name in map(str, names) if separator in name), None)
        if odd is not None:
            raise InputError(
                f"the label {quoted(odd)} holds {separator!r}; choose another --separator, or write .parquet"
            )
        columns["label"] = [separator.join(map(str, names)) for names in columns["label"]]
        columns["probability"] = [separator.join(map(_number, each)) for each in columns["probability"]]
    elif "probability" in columns:
        columns["probability"] = [_number(each) for each in columns["probability"]]
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    text.detach()  # flushed, and left open


def _tsv(file: IO[bytes], predictions: Predictions, separator: str) -> None:
    _csv(file, predictions, separator, "\t")


def _number(value: float) -> str:
    return f"{value:.6g}"


def _json_lines(file: IO[bytes], predictions: Predictions, separator: str) -> None:
    columns = predictions.columns()
    for row in zip(*columns.values(), strict=True):
        file.write(json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False).encode() + b"\n")


def _parquet(file: IO[bytes], predictions: Predictions, separator: str) -> None:
    columns = predictions.columns()
    if predictions.has_sets:  # sets that are all empty have a type, too
        columns["label"] = pa.array([list(map(str, names)) for names in columns["label"]], pa.list_(pa.string()))
        columns["probability"] = pa.array(columns["probability"], pa.list_(pa.float32()))
    pq.write_table(pa.table(columns), file)


WRITERS: dict[str, Callable[[IO[bytes], Predictions, str], None]] = {
    ".csv": _csv,
    ".tsv": _tsv,
    ".parquet": _parquet,
    ".jsonl": _json_lines,
}
