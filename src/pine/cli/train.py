"""`pine train`: the user's own files to a saved run; what was read and what it needs, then scores and choices."""

from __future__ import annotations

import json as json_module
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

import pine
from pine.cli.console import plain_console, print_lines
from pine.cli.fitting import check_out, fit, print_needs, remove_checkpoint
from pine.cli.graphs import EdgeColumns, attach_features, read_graph, read_labels_for
from pine.cli.options import (
    Directed,
    EdgeFile,
    FeatureFiles,
    Header,
    IdColumn,
    LabelColumn,
    LabelFile,
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
from pine.cli.run_files import next_commands, run_record, save_run
from pine.cli.scores import held_out_scores, shown
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
    label_type: LabelType = None,
    task: TaskName = "auto",
    separator: Separator = None,
    start_from: Annotated[
        Path | None, typer.Option(help="An earlier run; nodes that it knows begin where they were.", metavar="RUN")
    ] = None,
) -> None:
    """Train on your own graph and save the run.

    Example: pine train edges.csv --labels labels.csv --out run
    """
    console, begin = plain_console(stderr=json), time.perf_counter()
    if quick and (epochs is not None or method != "pine"):
        raise InputError("--quick is PINE without epochs; leave --epochs and --method out")
    named = {"dim": dim, "epochs": 0 if quick else epochs, "device": device, "threads": threads, "seed": seed}
    model = method_with(method, named, set, config)
    check_out(out, overwrite=overwrite)
    read = read_graph(
        edges, relation, EdgeColumns(source, target, weight, no_weight, header), directed, nodes, id_column
    )
    print_lines(console, read.lines)
    graph = attach_features(read.graph, features, console.print, id_column)
    files = dict(read.files) | {f"features {given}": Path(given.rpartition("=")[2]) for given in features or ()}
    known = None
    if labels is not None:
        columns = {"id_column": id_column, "label_column": label_column, "separator": separator}
        known = read_labels_for(graph, labels, label_type=label_type, task=task, **columns)  # type: ignore[arg-type]
        print_lines(console, known.lines)
        print_lines(plain_console(stderr=True), [f"warning: {each}" for each in known.warnings])
        files["labels"] = labels
    disk = print_needs(console, model, graph, labels=known is not None)
    pine.io.run_folder.check_place(out, disk)
    reading = time.perf_counter() - begin
    checkpoint = fit(model, graph, known, out, start_from, console)
    training = time.perf_counter() - begin - reading
    scores = held_out_scores(model, graph)
    record = run_record(model, graph, files, scores) | {"seconds": round(training, 2)}
    written = save_run(out, model, record)
    remove_checkpoint(checkpoint)  # only now: had the run not been saved, the same command would have gone on from it
    commands = next_commands(out, model)
    if json:
        sys.stdout.write(json_module.dumps({"run": str(out), **record, "files": written, "next": commands}) + "\n")
        return
    if record["choice"]:
        console.print("chosen: " + ", ".join(f"{name} {shown(value)}" for name, value in record["choice"].items()))
    print_lines(console, scores.lines())
    seconds = f"{reading:.1f} s before training, {training:.1f} s of it, {time.perf_counter() - begin:.1f} s in all"
    print_lines(
        console, [f"saved to {out}: {', '.join(written)}", seconds, "next:", *(f"  {each}" for each in commands)]
    )
