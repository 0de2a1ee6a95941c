"""`pine datasets`: every data set with its size, its source, and where it is or how to get it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

import pine
from pine.cli.options import DataDir


def datasets(data_dir: DataDir = None) -> None:
    """List the data sets: size, source, license, and where each is or how to get it.

    Example: pine datasets --data-dir ~/graphs
    """
    catalog = pine.datasets.CATALOG
    table = Table(
        title="Data sets, undirected and simple, as load gives them",
        caption="a + b: by node type or relation; sets: a node has a set of labels; numbers: it has a number",
    )
    table.add_column("name", no_wrap=True)
    table.add_column("nodes", justify="right")
    table.add_column("edges", justify="right")
    table.add_column("classes", justify="right")
    table.add_column("here")
    places = {name: pine.datasets.available(name, data_dir=data_dir) for name in catalog}
    for name, entry in catalog.items():
        here = "always" if entry.embedded else "yes" if places[name] else "no"
        classes = "numbers" if entry.numbers else f"{entry.classes}{' sets' if entry.label_sets else ''}"
        table.add_row(name, _counts(entry.nodes), _counts(entry.edges), classes, here)
    console = Console(highlight=False)
    console.print(table)
    for name, entry in catalog.items():
        console.print(f"\n[bold]{name}[/bold]")
        console.print(Padding(_description(name, entry, places[name]), (0, 0, 0, 2)), markup=False)


def _counts(counts: Mapping[str, int]) -> str:
    return " + ".join(f"{count:,}" for count in counts.values())


def _description(name: str, entry: pine.datasets.Entry, place: Path | None) -> str:
    text = f"Source: {entry.credit}."
    if entry.stand_in_for:
        text += f" A stand-in for {entry.stand_in_for}, which it never passes for."
    if entry.untouched:
        text += " Used for no choice: nothing in PINE was ever tuned on it."
    if entry.embedded:
        return f"{text}\nComes with the package."
    if len(entry.types) > 1:
        text += f" Node types: {', '.join(entry.types)}; relations: {', '.join(entry.edges)}."
    if place is not None:
        return f"{text}\nHere: {place}"
    if entry.originals:
        return f"{text}\nTo get it: load it, and it is downloaded and checked. {entry.where}"
    return f"{text}\nTo get it: {pine.datasets.how_to_get(name)}"
