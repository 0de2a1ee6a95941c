"""What `pine evaluate` scores methods on: a data set by its name, or the user's own files; and which methods fit it."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

import pine
from pine.cli.console import print_lines
from pine.cli.graphs import GraphRead, LabelColumns, attach_features, read_labels_for
from pine.errors import InputError


def is_own(dataset: str | None, relations: Sequence[str] | None) -> bool:
    """Whether the user's own files are meant: relations, or a file that is there and is no data set's name."""
    if relations:
        return True
    return dataset is not None and dataset not in pine.datasets.CATALOG and _looks_like_a_file(dataset)


def _looks_like_a_file(word: str) -> bool:
    return Path(word).is_file() or Path(word).name != word or Path(word).suffix != ""


def own_data(
    read: GraphRead,
    labels: Path,
    columns: LabelColumns,
    task: str,
    features: Sequence[str] | None,
    console: Console,
) -> tuple[pine.datasets.Dataset, str]:
    """A data set of the user's own files, and its task; prints what was read."""
    graph = attach_features(read.graph, features, console.print, columns.ids)
    known = read_labels_for(graph, labels, columns, task)
    print_lines(console, [*read.lines, *known.lines, *(f"warning: {each}" for each in known.warnings)])
    name = next(iter(read.files.values())).stem
    return pine.datasets.Dataset(name, graph, known.labels, (), None, {}, "own files", {}), known.task


def those_that_fit(
    variants: Sequence[pine.evaluation.Variant], data: pine.datasets.Dataset, task: str
) -> list[pine.evaluation.Variant]:
    """The methods that can learn the labels of a data set: vectors alone predict no numbers."""
    labels, found = pine.labels.read_labels(data.graph, data.labels, task), []
    for variant in variants:
        with contextlib.suppress(InputError):
            pine.evaluation.run.check_fits(variant, data, labels)
            found.append(variant)
    return found
