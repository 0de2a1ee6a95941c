"""`pine train`: the user's own files to a saved run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from pine.cli.progress import progress_bar
from pine.errors import InputError
from pine.graph import Graph
from pine.graph.ids.column import column
from pine.graph.read.dialect import sniff
from pine.graph.read.text import read_columns
from pine.methods import method_class


def train_files(
    edges: Path | None,
    relations: Sequence[str],
    labels: Path | None,
    label_type: str | None,
    method: str,
    directed: bool,
    seed: int,
    out: Path,
    start_from: Path | None = None,
) -> None:
    """Read, train, save, and say what was done; an interrupted training goes on when it is asked for again."""
    console = Console()
    graph = read_graph(edges, relations, directed)
    console.print(f"{graph}")
    given = None if labels is None else read_label_file(labels, graph, label_type)
    model = method_class(method)().set_params(seed=seed)
    checkpoint = unfinished(out) if model.keeps_checkpoints else None
    out.parent.mkdir(parents=True, exist_ok=True)
    with progress_bar(Console(stderr=True), model.name) as progress:
        model.fit(graph, given, start_from=start_from, checkpoint=checkpoint, progress=progress)
    model.save(out)
    console.print(f"saved to {out}")


def unfinished(out: Path) -> Path:
    """Where an interrupted training leaves its state: the same command goes on from it."""
    return out.with_name(f"{out.name}.unfinished")


def read_graph(edges: Path | None, relations: Sequence[str], directed: bool) -> Graph:
    """One file of edges, or relations given as SRC:REL:DST=FILE."""
    if (edges is None) == (not relations):
        raise InputError("give either one file of edges, or relations: --relation SRC:REL:DST=FILE")
    if edges is not None:
        return Graph.from_edges(edges, directed=directed)
    files: dict[tuple[str, str, str], Path] = {}
    for relation in relations:
        said, separator, file = relation.partition("=")
        parts = said.split(":")
        if not separator or len(parts) != 3 or not all(parts):
            raise InputError(f"a relation is given as SRC:REL:DST=FILE, got {relation!r}")
        files[parts[0], parts[1], parts[2]] = Path(file)
    return Graph.from_relations(files, directed=directed)


def read_label_file(path: Path, graph: Graph, label_type: str | None) -> Any:
    """Node id and label a line; an id on several lines has a set of labels."""
    type = graph.nodes.check_type(label_type)
    text = sniff(path)
    found: dict[Any, list[str]] = {}
    row = 0
    known = graph.nodes.of(type)
    for ids, names in read_columns(text, [0], text=[1]):
        nodes = ids.objects() if known.kind != "str" else [str(node) for node in ids.objects()]
        positions = known.find(column(nodes))
        for position, node, name in zip(positions.tolist(), nodes, names, strict=True):
            if position < 0:
                raise InputError(f"{text.where(row)}: there is no node {node!r} of type {type!r} in the graph")
            if not name:
                raise InputError(f"{text.where(row)}: the label is empty; leave out nodes without a label")
            found.setdefault(node, []).append(name)
            row += 1
    sets = any(len(set(names)) > 1 for names in found.values())
    labels = {node: set(names) if sets else names[0] for node, names in found.items()}
    return labels if len(graph.node_types) == 1 else {type: labels}
