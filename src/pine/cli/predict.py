"""`pine predict`: every node's predicted label and its probability, from a saved run, as a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

import pine
from pine.cli.console import plain_console, print_lines
from pine.cli.graphs import EdgeColumns, attach_features, read_graph
from pine.cli.options import (
    Directed,
    FeatureFiles,
    Header,
    IdColumn,
    NodeFiles,
    NoWeight,
    Relations,
    RunFolder,
    SourceColumn,
    TargetColumn,
    WeightColumn,
)

if TYPE_CHECKING:
    from pine.embedder import Embedder


def predict(
    run: RunFolder,
    edges: Annotated[
        Path | None,
        typer.Argument(help="File of edges of a graph that holds unseen nodes; without it, those of the run."),
    ] = None,
    out: Annotated[Path, typer.Option(help="File to write: .csv, .tsv, .parquet or .jsonl.", metavar="FILE")] = ...,  # type: ignore[assignment]
    unlabeled: Annotated[
        bool, typer.Option("--unlabeled", help="Only nodes whose label the run did not know.")
    ] = False,
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
    separator: Annotated[str, typer.Option(help="Between the labels of a set, in csv and tsv.", metavar="TEXT")] = ";",
) -> None:
    """Write the predicted label of every node, and its probability.

    Example: pine predict run --unlabeled --out predicted.csv
    """
    pine.io.predictions.check_predictions_file(out)
    model = pine.methods.load_run(run)
    model._check_predicts()
    graph, console = None, plain_console()
    if edges is not None or relation:
        columns = EdgeColumns(source, target, weight, no_weight, header)
        read = read_graph(edges, relation, columns, directed or trained_directed(model), nodes, id_column)
        print_lines(console, read.lines)
        graph = attach_features(read.graph, features, console.print, id_column)
    made = predictions_of(model, graph, unlabeled=unlabeled)
    pine.io.predictions.write_predictions(out, made, separator)
    typer.echo(f"{len(made.ids):,} predictions in {out}")


def trained_directed(model: Embedder) -> bool:
    """Whether a run was trained on a directed graph: a graph with unseen nodes is one, too."""
    return bool(getattr(getattr(model, "learned_", None), "directed", False))


def predictions_of(
    model: Embedder, graph: pine.Graph | None = None, *, unlabeled: bool = False
) -> pine.io.predictions.Predictions:
    """The predictions for the nodes of the labeled type, or for those without a known label."""
    labels = model.labels_
    assert labels is not None
    ids = (model.nodes_ if graph is None else graph.nodes).of(labels.type)
    chosen = np.ones(len(ids), bool)
    if unlabeled:
        here = ids.find(model.nodes_.of(labels.type).as_column())[labels.known]
        chosen[here[here >= 0]] = False
    kept = np.flatnonzero(chosen)
    names = [ids[int(i)] for i in kept]
    if labels.task == "numbers":
        numbers = np.asarray(model.predict(graph=graph))[kept]
        return pine.io.predictions.Predictions(names, labels.type, numbers.astype(float).tolist(), None)
    assert labels.classes is not None
    scores = model.predict_proba(graph=graph)[kept]
    classes: list[Any] = labels.classes.tolist()
    if labels.task == "classes":
        best = scores.argmax(axis=1) if len(kept) else np.empty(0, int)
        found = [classes[i] for i in best]
        return pine.io.predictions.Predictions(names, labels.type, found, scores.max(axis=1, initial=0).tolist())
    given = [np.flatnonzero(row >= 0.5) for row in scores]
    sets = [[classes[i] for i in row] for row in given]
    chances = [[float(row[i]) for i in own] for row, own in zip(scores, given, strict=True)]
    return pine.io.predictions.Predictions(names, labels.type, sets, chances)
