"""`pine train`: the user's own files to a saved run; what was read and what it needs, then scores and choices."""

from __future__ import annotations

import json as json_module
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import pine
from pine._internal.signals import advising
from pine.cli.console import plain_console, print_lines
from pine.cli.fitting import check_out, checkpoint_of, fit, how_to_go_on, print_needs, remove_checkpoint
from pine.cli.graphs import EdgeColumns, LabelColumns, attach_features, read_graph, read_labels_for
from pine.cli.interruption import saving_first
from pine.cli.options import (
    Directed,
    EdgeFile,
    FeatureFiles,
    Header,
    IdColumn,
    LabelColumn,
    LabelFile,
    LabelHeader,
    LabelType,
    NodeFiles,
    NoWeight,
    Relations,
    Separator,
    SourceColumn,
    TargetColumn,
    TaskName,
    WeightColumn,
)
from pine.cli.ranks import ranks_of
from pine.cli.run_files import next_commands, run_record, save_run
from pine.cli.scores import HeldOutScores, held_out_scores, shown
from pine.cli.settings import ConfigFile, SetOptions, method_with
from pine.errors import InputError


def train(
    edges: EdgeFile = None,
    out: Annotated[Path, typer.Option(help="Folder for the trained run.", metavar="RUN")] = ...,  # type: ignore[assignment]
    labels: LabelFile = None,
    quick: Annotated[bool, typer.Option("--quick", help="Without training: the start and propagated labels.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a run that is there already.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output, for scripts.")] = False,
    method: Annotated[str, typer.Option(help="Method to train.")] = "pine",
    dim: Annotated[int | None, typer.Option(help="Length of a vector.")] = None,
    epochs: Annotated[int | None, typer.Option(help="How long to train.")] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu or cuda.")] = None,
    threads: Annotated[int | None, typer.Option(help="Threads of the CPU; otherwise all cores.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything random.", min=0)] = 0,
    set: SetOptions = None,
    config: ConfigFile = None,
    relation: Relations = None,
    nodes: NodeFiles = None,
    features: FeatureFiles = None,
    directed: Directed = False,
    source: SourceColumn = None,
    target: TargetColumn = None,
    weight: WeightColumn = None,
    no_weight: NoWeight = False,
    header: Header = None,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    label_header: LabelHeader = None,
    label_type: LabelType = None,
    task: TaskName = "auto",
    separator: Separator = None,
    mmap_dir: Annotated[
        Path | None,
        typer.Option(help="A folder on a disk, for what is larger than memory; edges as Parquet.", metavar="FOLDER"),
    ] = None,
    start_from: Annotated[
        Path | None, typer.Option(help="An earlier run; nodes that it knows begin where they were.", metavar="RUN")
    ] = None,
) -> None:
    """Train on your own graph and save the run.

    Example: pine train edges.csv --labels labels.csv --out run
    On several processes or GPUs: torchrun --nproc-per-node 4 -m pine train edges.csv --labels labels.csv --out run
    """
    console, begin = plain_console(stderr=json), time.perf_counter()
    if quick and (epochs is not None or method != "pine"):
        raise InputError("--quick is PINE without epochs; leave --epochs and --method out")
    named = {"dim": dim, "epochs": 0 if quick else epochs, "device": device, "threads": threads, "seed": seed}
    model = method_with(method, named, set, config)
    check_out(out, overwrite=overwrite)
    checkpoint = checkpoint_of(model, out)
    with advising(lambda: how_to_go_on(checkpoint)), ranks_of(model) as ranks:
        if ranks.rank > 0:
            console = plain_console(quiet=True)
        # Each of several ranks has its nodes in memory; with the edges of all in files it holds its own alone.
        fit_dir = mmap_dir if ranks.size == 1 else None
        if fit_dir is not None:
            checkpoint = None
        read = read_graph(
            edges,
            relation,
            EdgeColumns(source, target, weight, no_weight, header),
            directed,
            nodes,
            id_column,
            mmap_dir,
        )
        print_lines(console, read.lines)
        graph = attach_features(read.graph, features, console.print, id_column)
        files = dict(read.files) | {f"features {given}": Path(given.rpartition("=")[2]) for given in features or ()}
        known = None
        if labels is not None:
            columns = LabelColumns(id_column, label_column, label_type, label_header, separator)
            known = read_labels_for(graph, labels, columns, task)
            print_lines(console, known.lines)
            print_lines(
                plain_console(stderr=True, quiet=ranks.rank > 0), [f"warning: {each}" for each in known.warnings]
            )
            files["labels"] = labels
        disk = print_needs(console, model, graph, known, fit_dir)
        pine.io.run_folder.check_place(out, disk)
        reading = time.perf_counter() - begin
        fit(model, graph, known, checkpoint, start_from, console, fit_dir)
        training = time.perf_counter() - begin - reading
        if ranks.rank > 0:  # the first has all that was learned
            return
        if ranks.traffic is not None:
            console.print(ranks.traffic.line)
        scores = held_out_scores(model, graph)
        record = run_record(model, graph, files, scores) | {"seconds": round(training, 2)}
        if ranks.traffic is not None:
            record["ranks"] = ranks.traffic.record()
        with saving_first(out):
            written = save_run(out, model, record)
            # Only now: had the run not been saved, the same command would have gone on from it.
            remove_checkpoint(checkpoint)
            about = {"run": str(out), **record, "files": written, "next": next_commands(out, model)}
            if json:
                sys.stdout.write(json_module.dumps(about) + "\n")
                sys.stdout.flush()
            else:
                print_lines(console, _lines(about, scores, [reading, training, time.perf_counter() - begin]))


def _lines(about: Mapping[str, Any], scores: HeldOutScores, seconds: Sequence[float]) -> Iterator[str]:
    """What came of it, for people; seconds before training, of it, and in all."""
    if about["choice"]:
        yield "chosen: " + ", ".join(f"{name} {shown(value)}" for name, value in about["choice"].items())
    yield from scores.lines()
    yield f"saved to {about['run']}: {', '.join(about['files'])}"
    yield "{:.1f} s before training, {:.1f} s of it, {:.1f} s in all".format(*seconds)
    yield "next:"
    yield from (f"  {command}" for command in about["next"])
