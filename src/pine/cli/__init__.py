"""The command line: pine demo | train | embed | neighbors | export | evaluate | reproduce | datasets."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from pine._version import __version__
from pine.errors import InputError

app = typer.Typer(
    help="PINE: a vector for every node of a graph, learned from its neighbors alone.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
DataDir = Annotated[
    Path | None,
    typer.Option(help="Folder of data set files; otherwise PINE_DATA or the cache folder.", metavar="FOLDER"),
]


def main() -> None:
    """Run a command; what a user did wrong is said in one sentence, and the exit code is 2."""
    warnings.showwarning = _show_warning
    errors = Console(stderr=True, soft_wrap=True, highlight=False)
    try:
        app()
    except InputError as problem:
        errors.print(f"error: {problem}", markup=False)
        sys.exit(2)
    except BrokenPipeError:
        # Whoever read our output has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as problem:
        errors.print(f"error: {problem}", markup=False)
        sys.exit(2)
    except KeyboardInterrupt:
        errors.print("interrupted")
        sys.exit(130)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    Console(stderr=True, soft_wrap=True, highlight=False).print(f"warning: {message}", markup=False)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pine {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", callback=_show_version, help="Show the version.")] = False,
) -> None:
    pass


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture.", metavar="FOLDER")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Which half of the labels is hidden.")] = 0,
) -> None:
    """Train on the embedded Cora with half of the labels hidden, score, and draw."""
    from pine.cli.demo import run_demo

    run_demo(out, seed)


@app.command()
def train(
    edges: Annotated[Path | None, typer.Argument(help="csv, tsv, space-separated or Parquet file of edges.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the trained run.", metavar="RUN")] = ...,  # type: ignore[assignment]
    labels: Annotated[Path | None, typer.Option(help="File of node id and label.", metavar="FILE")] = None,
    relation: Annotated[
        list[str] | None, typer.Option(help="A relation of a typed graph; repeat it.", metavar="SRC:REL:DST=FILE")
    ] = None,
    label_type: Annotated[
        str | None, typer.Option(help="The node type that the labels are on.", metavar="TYPE")
    ] = None,
    method: Annotated[str, typer.Option(help="Method to train.")] = "pine",
    directed: Annotated[bool, typer.Option(help="Edges go one way.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    start_from: Annotated[
        Path | None, typer.Option(help="An earlier run; nodes that it knows begin where they were.", metavar="RUN")
    ] = None,
) -> None:
    """Train on your own graph and save the run."""
    from pine.cli.train import train_files

    train_files(edges, relation or [], labels, label_type, method, directed, seed, out, start_from)


@app.command()
def embed(
    run: Annotated[Path, typer.Argument(help="A folder that `pine train` wrote.", metavar="RUN")],
    edges: Annotated[Path, typer.Argument(help="File of edges of a graph that holds unseen nodes.")],
    out: Annotated[Path, typer.Option(help="File for the vectors: .parquet, .npy or .txt (word2vec).", metavar="FILE")],
) -> None:
    """Vectors for all nodes of a changed graph, without training; known nodes keep theirs."""
    from pine.graph import Graph
    from pine.io.exports import export_vectors, format_of
    from pine.methods import load_run

    form = format_of(out)
    model = load_run(run)
    graph = Graph.from_edges(edges)
    export_vectors(out, form, graph.nodes, model.transform(graph))
    typer.echo(f"{graph.num_nodes:,} vectors in {out}")


@app.command()
def neighbors(
    run: Annotated[Path, typer.Argument(help="A folder that `pine train` wrote.", metavar="RUN")],
    node: Annotated[str, typer.Argument(help="A node's id.")],
    k: Annotated[int, typer.Option("-k", help="How many.", min=1)] = 10,
    type: Annotated[str | None, typer.Option(help="The node's type, if its id occurs in several.")] = None,
) -> None:
    """The nodes whose vectors are nearest to a node's."""
    from pine.methods import load_run
    from pine.model import PINE

    model = load_run(run)
    if not isinstance(model, PINE):
        raise InputError(f"{run} was trained by {model.name}, and neighbors are for runs of pine")
    kinds = {model.nodes_.of(each).kind for each in ([type] if type else model.nodes_.types)}
    wanted: str | int = int(node) if kinds == {"int"} and node.lstrip("-").isdigit() else node
    for found, cosine in model.most_similar(wanted, k, type):
        typer.echo(f"{cosine:.4f}\t{found}")


@app.command()
def export(
    run: Annotated[Path, typer.Argument(help="A folder that `pine train` wrote.", metavar="RUN")],
    out: Annotated[Path, typer.Option(help="File to write.", metavar="FILE")],
    format: Annotated[str, typer.Option(help="word2vec, parquet or npy.")] = "parquet",
) -> None:
    """Write a run's vectors for other tools."""
    from pine.io.exports import export_vectors
    from pine.methods import load_run

    model = load_run(run)
    export_vectors(out, format, model.nodes_, model.embedding_)
    typer.echo(f"{len(model.nodes_):,} vectors in {out}")


@app.command()
def evaluate(
    dataset: Annotated[str, typer.Argument(help="A name from `pine datasets`.")],
    methods: Annotated[
        str,
        typer.Option(
            help="Methods, separated by commas, with settings as in pine:lam=inf; labels=off fits without labels, "
            "spread=0.5 spreads predictions along edges, types=off sees one node type.",
            metavar="NAME[:KEY=VALUE...],...",
        ),
    ] = "pine,label-propagation",
    ratios: Annotated[str, typer.Option(help="Shares of labelled nodes, separated by commas.")] = "0.1,0.5,0.9",
    repeats: Annotated[int, typer.Option(help="Splits at each ratio.", min=1)] = 5,
    json: Annotated[
        str | None, typer.Option(help="Write every run as JSON, as it ends; - is standard output.", metavar="FILE|-")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Keep the runs that the JSON file holds already.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Score methods on a data set by the paper's protocol."""
    from pine.cli.evaluate import evaluate_and_show

    evaluate_and_show(dataset, methods.split(","), ratios.split(","), repeats, json, data_dir, resume=resume)


@app.command()
def reproduce(
    names: Annotated[list[str] | None, typer.Argument(help="Experiments by name, or all.", metavar="NAME...")] = None,
    show: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A small slice of each, for a first look.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for tables, figures, report and results.", metavar="FOLDER")] = Path(
        "reproduced"
    ),
    processes: Annotated[int, typer.Option(help="Fits side by side.", min=1)] = 2,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    minutes: Annotated[float, typer.Option(help="The most that one fit may take.")] = 30,
    memory: Annotated[float, typer.Option(help="The most that one fit may take, in GiB.")] = 16,
    take: Annotated[
        list[Path] | None, typer.Option(help="A store of another folder to take results from.", metavar="FILE")
    ] = None,
    kept: Annotated[
        bool,
        typer.Option("--kept", help="Make nothing: show what there is, of this run and of earlier ones in the folder."),
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Make the paper's tables and figures anew; what was made before is not made again."""
    from pine.cli.reproduce import reproduce_and_show, show_list
    from pine.reproduce.reproduction import ReproduceOptions
    from pine.reproduce.tasks import Machine
    from pine.reproduce.workers import Limits

    if show or not names:
        show_list()
        return
    limits = Limits(60 * minutes, memory * 2**30)
    reproduce_and_show(
        ReproduceOptions(names, out, quick, Machine(data_dir, device), processes, limits, take or (), kept)
    )


@app.command()
def datasets(data_dir: DataDir = None) -> None:
    """List the data sets: size, source, licence, and where each is or how to get it."""
    from pine.cli.datasets import show_table

    show_table(data_dir)
