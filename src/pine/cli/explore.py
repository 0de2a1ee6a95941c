"""`pine explore`: a run as a page to look at, served on 127.0.0.1 or written as one file."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

import pine
from pine._internal.files import atomic_write
from pine._internal.memory import format_bytes
from pine._internal.signals import advising
from pine.cli.console import plain_console, print_lines
from pine.cli.graphs import EdgeColumns, LabelColumns, read_graph, read_labels_for
from pine.cli.options import (
    Header,
    IdColumn,
    LabelColumn,
    LabelFile,
    LabelHeader,
    LabelType,
    NodeFiles,
    Relations,
    RunFolder,
    Separator,
    SourceColumn,
    TargetColumn,
    TaskName,
)
from pine.cli.recorded_files import recorded_files
from pine.errors import InputError, one_of, sentence

if TYPE_CHECKING:
    from pine.embedder import Embedder
    from pine.io.kept_map import KeptMap
    from pine.labels import Labels

WORTH_A_WORD = 2.0  # seconds of waiting


def explore(
    run: RunFolder,
    edges: Annotated[
        Path | None,
        typer.Argument(help="File of edges, for neighbors and degrees; otherwise those that the run was trained on."),
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="Port on 127.0.0.1; otherwise 8472, or a free one.", min=0, max=65535)
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write the page as one file, and serve nothing.", metavar="FILE")
    ] = None,
    map: Annotated[
        str | None,
        typer.Option(
            help="tsne, pca or umap; otherwise the map that the run has, or tsne up to 20,000 nodes and pca above.",
            metavar="NAME",
        ),
    ] = None,
    labels: LabelFile = None,
    relation: Relations = None,
    nodes: NodeFiles = None,
    source: SourceColumn = None,
    target: TargetColumn = None,
    header: Header = None,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    label_header: LabelHeader = None,
    label_type: LabelType = None,
    task: TaskName = "auto",
    separator: Separator = None,
) -> None:
    """Look at a run in the browser: a map of its vectors, predictions, mistakes, neighbors.

    Example: pine explore run --labels labels.csv
    """
    console = plain_console()
    if map is not None:
        one_of("--map", map, pine.explore.LAYOUTS)
        pine.explore.check_layout(map)
    if html is not None and port is not None:
        raise InputError("--html writes a file and serves nothing; leave --port out")
    model = pine.methods.load_run(run)
    columns = EdgeColumns(source, target, None, True, header)
    if edges is not None or relation:
        read = read_graph(edges, relation, columns, False, nodes, id_column)
        print_lines(console, read.lines)
        graph: pine.Graph | None = read.graph
    else:
        graph = _trained_graph(console, run, columns, nodes, id_column)
    known = None
    if labels is not None:
        columns_read = LabelColumns(id_column, label_column, label_type, label_header, separator)
        known = _labels(model, labels, columns_read, task, console)
    with advising(lambda: "nothing was written" if html is not None else "the page is no longer served"):
        made = _map(console, run, model, map)
        explored = pine.explore.explore_run(run.resolve().name, model, made, graph, known)
        print_lines(console, (f"  {note}" for note in explored.notes()))
        if html is not None:
            text = pine.explore.html_of(explored).encode()
            with atomic_write(html) as file:
                file.write(text)
            console.print(f"the page is in {html}, {format_bytes(len(text))}: it opens in any browser, and asks nobody")
            return
        with pine.explore.open_server(explored, port) as server:
            console.print(f"{shlex.quote(str(run))} is at {server.address} until Ctrl-C")
            server.serve_forever()


def _trained_graph(
    console: Console, run: Path, columns: EdgeColumns, nodes: list[str] | None, id_column: str | None
) -> pine.Graph | None:
    """The graph that the run was trained on, where its files are as they were; otherwise the page goes without."""
    try:
        files = recorded_files(run)
        read = read_graph(files.edges, files.relations, columns, False, nodes or files.nodes, id_column)
    except InputError as problem:
        print_lines(console, [f"{problem}: the page has no neighbors"])
        return None
    print_lines(console, read.lines)
    return read.graph


def _labels(model: Embedder, path: Path, columns: LabelColumns, task: str, console: Console) -> Labels:
    """The labels of a file, for the nodes of a run; what they are, the run says if it knows and nobody else does."""
    bare = pine.Graph.assemble(model.nodes_, {}, directed=False)
    if task == "auto" and model.labels_ is not None:
        task = model.labels_.task
    read = read_labels_for(bare, path, columns, task)
    print_lines(console, read.lines)
    print_lines(plain_console(stderr=True), [f"warning: {each}" for each in read.warnings])
    return pine.labels.read_labels(bare, read.labels, read.task)


def _map(console: Console, run: Path, model: Embedder, wanted: str | None) -> KeptMap:
    """The map that the run has, or a new one, which it then keeps."""
    vectors = model.fitted_.vectors
    kept = pine.io.read_map(run, vectors)
    if kept is not None and wanted in (None, kept.layout):
        return kept
    layout = wanted or pine.explore.default_layout(len(vectors))
    name, seconds = pine.explore.LAYOUT_NAMES[layout], pine.explore.seconds_needed(layout, len(vectors))
    about = f"; about {seconds:.0f} s, once" if seconds > WORTH_A_WORD else ""
    console.print(f"a map of {len(vectors):,} nodes by {name}{about} ...")
    begin = time.perf_counter()
    made = pine.io.KeptMap(pine.explore.lay_out(vectors, layout), layout)
    try:
        pine.io.write_map(run, vectors, made)
        console.print(f"made in {time.perf_counter() - begin:.1f} s, and kept in {run}")
    except OSError as problem:
        console.print(sentence(f"made, but it cannot be kept: {problem.strerror or problem}"))
    return made
