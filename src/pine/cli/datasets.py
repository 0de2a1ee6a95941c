"""What `pine datasets` shows: every data set with its size, its source, and where it is or how to get it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from pine.datasets.catalog import CATALOG
from pine.datasets.entry import Entry
from pine.datasets.loading import available, how_to_get


def show_table(data_dir: Path | None) -> None:
    """Print the sizes as a table, and below it what takes sentences: source, license, how to get what is missing."""
    table = Table(
        title="Data sets, undirected and simple, as load gives them",
        caption="a + b: by node type or relation; sets: a node has a set of labels",
    )
    table.add_column("name", no_wrap=True)
    table.add_column("nodes", justify="right")
    table.add_column("edges", justify="right")
    table.add_column("classes", justify="right")
    table.add_column("here")
    places = {name: available(name, data_dir=data_dir) for name in CATALOG}
    for name, entry in CATALOG.items():
        here = "always" if entry.embedded else "yes" if places[name] else "no"
        classes = f"{entry.classes}{' sets' if entry.label_sets else ''}"
        table.add_row(name, _counts(entry.nodes), _counts(entry.edges), classes, here)
    console = Console(highlight=False)
    console.print(table)
    for name, entry in CATALOG.items():
        console.print(f"\n[bold]{name}[/bold]")
        console.print(Padding(_sentences(name, entry, places[name]), (0, 0, 0, 2)), markup=False)


def _counts(counts: Mapping[str, int]) -> str:
    return " + ".join(f"{count:,}" for count in counts.values())


def _sentences(name: str, entry: Entry, place: Path | None) -> str:
    said = f"Source: {entry.credit}."
    if entry.stand_in_for:
        said += f" A stand-in for {entry.stand_in_for}, which it never passes for."
    if entry.embedded:
        return f"{said}\nComes with the package."
    if len(entry.types) > 1:
        said += f" Node types: {', '.join(entry.types)}; relations: {', '.join(entry.edges)}."
    if place is not None:
        return f"{said}\nHere: {place}"
    if entry.originals:
        return f"{said}\nTo get it: load it, and it is downloaded and checked. {entry.where}"
    return f"{said}\nTo get it: {how_to_get(name)}"
