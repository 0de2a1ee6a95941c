"""`pine evaluate`: methods on a data set or on the user's own files; tables of scores and differences, runs as JSON."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import pine
from pine._internal.progress import ProgressCounter
from pine.cli.console import print_lines
from pine.cli.graphs import EdgeColumns, attach_features, read_graph, read_labels_for
from pine.cli.options import (
    DataDir,
    Directed,
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
from pine.cli.progress import progress_bar
from pine.cli.tables import differences_table, results_table
from pine.errors import InputError, one_of

DEFAULT_RATIOS = "0.1,0.5,0.9"
QUICK = "pine:epochs=0,label-propagation,link-based,propagation"  # seconds each on 20,000 nodes, measured on pubmed


def evaluate(
    dataset: Annotated[
        str | None, typer.Argument(help="A name from `pine datasets`, or a file of edges, with --labels.")
    ] = None,
    methods: Annotated[
        str,
        typer.Option(
            help="Methods, separated by commas, or quick: those that take seconds. Settings as in pine:lam=inf; "
            "labels=off fits without labels, spread=0.5 spreads predictions along edges, types=off sees one node type, "
            "share=auto mixes in propagated labels, gcn:on=propagation takes another method's vectors as features.",
            metavar="NAME[:KEY=VALUE...],...",
        ),
    ] = "pine,label-propagation",
    ratios: Annotated[
        str | None, typer.Option(help="Shares of labeled nodes, separated by commas; by default 0.1,0.5,0.9.")
    ] = None,
    repeats: Annotated[int, typer.Option(help="Splits at each ratio; seeds on the public split.", min=1)] = 5,
    json: Annotated[
        str | None, typer.Option(help="Write every run as JSON, as it ends; - is standard output.", metavar="FILE|-")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Keep the runs that the JSON file holds already.")] = False,
    data_dir: DataDir = None,
    split: Annotated[
        str, typer.Option(help="random, or public: the split that the data set comes with.", metavar="random|public")
    ] = "random",
    features: Annotated[
        bool, typer.Option("--features", help="Give methods the node features of the data set, too.")
    ] = False,
    feature_file: Annotated[
        list[str] | None,
        typer.Option(help="Node features for a graph of your own, as --features of train.", metavar="[TYPE=]FILE"),
    ] = None,
    labels: LabelFile = None,
    relation: Relations = None,
    nodes: NodeFiles = None,
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
) -> None:
    """Score methods on a data set, or on your own graph, by the paper's protocol: the same random splits for all.

    Example: pine evaluate edges.csv --labels labels.csv --methods quick --ratios 0.5
    """
    specs = list(dict.fromkeys(spec.strip() for spec in (QUICK if methods == "quick" else methods).split(",")))
    variants = [pine.evaluation.variants.parse(spec) for spec in specs]
    shares = _ratios(split, ratios)
    path = None if json in (None, "-") else Path(json)
    if resume and path is None:
        raise InputError("--resume goes on with the runs in a file: name it with --json FILE")
    # With --json - the runs are alone on standard output.
    console = Console(stderr=json == "-", markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = 120  # a file or a pipe has no width of its own
    if _is_own(dataset, relation):
        if labels is None or features:
            missing = "--labels FILE" if labels is None else "--feature-file FILE in place of --features"
            raise InputError(f"a graph of your own is scored on labels and features of your own: give {missing}")
        columns = EdgeColumns(source, target, weight, no_weight, header)
        read = read_graph(None if dataset is None else Path(dataset), relation, columns, directed, nodes, id_column)
        graph = attach_features(read.graph, feature_file, console.print, id_column)
        names = {"id_column": id_column, "label_column": label_column, "separator": separator}
        known = read_labels_for(graph, labels, label_type=label_type, task=task, **names)  # type: ignore[arg-type]
        print_lines(console, [*read.lines, *known.lines, *(f"warning: {each}" for each in known.warnings)])
        name, task = Path(dataset or next(iter(read.files.values()))).stem, known.task
        data = pine.datasets.Dataset(name, graph, known.labels, (), None, {}, "own files", {})
    else:
        if dataset is None or labels is not None or feature_file:
            raise InputError(
                "give a data set of `pine datasets`, which has labels and features, or files of your own with --labels"
            )
        with progress_bar(console, dataset, in_bytes=True) as progress:
            data = pine.datasets.load(dataset, data_dir=data_dir, progress=progress)
        name = dataset
    if methods == "quick":
        variants = _fitting(variants, data, task)
        specs = [variant.name for variant in variants]
    results = pine.evaluation.results.read_results(path, name) if path is not None and resume else []
    done = {result.key for result in results}
    runs = pine.evaluation.evaluate(data, variants, shares, repeats, done, features, task)
    features = features or bool(data.graph.features)

    def wanted(result: pine.evaluation.Result) -> bool:
        method, ratio, repeat, featured = result.key
        return method in specs and ratio in shares and repeat < repeats and featured == features

    def order(result: pine.evaluation.Result) -> int:
        return specs.index(result.method) if result.method in specs else len(specs)

    with progress_bar(Console(stderr=True), name) as progress:
        work = ProgressCounter(progress, name)
        work.plan(len(variants) * len(shares) * repeats)
        work.advance(sum(map(wanted, results)))
        for result in runs:
            results.append(result)
            results.sort(key=order)  # those that shared a fit came together
            if path is not None:
                pine.evaluation.results.write_results(results, path)
            work.advance(1, f"{result.method} at {pine.evaluation.protocol.ratio_name(result.ratio)}")
    shown = [result for result in results if wanted(result)]
    console.print(results_table(f"{name}: {data.graph}{', with features' if features else ''}", shown))
    differences = differences_table(shown)
    if differences is not None:
        console.print(differences)
    if json == "-":
        sys.stdout.write(pine.evaluation.results.as_text(shown))


def _fitting(
    variants: list[pine.evaluation.Variant], data: pine.datasets.Dataset, task: str
) -> list[pine.evaluation.Variant]:
    """Those that can learn the labels of a data set: vectors alone predict no numbers."""
    labels, found = pine.labels.read_labels(data.graph, data.labels, task), []
    for variant in variants:
        with contextlib.suppress(InputError):
            pine.evaluation.run.check_fits(variant, data, labels)
            found.append(variant)
    return found


def _is_own(dataset: str | None, relations: list[str] | None) -> bool:
    """Whether the user's own files are meant: relations, or a file that is there and is no data set's name."""
    if relations:
        return True
    return dataset is not None and dataset not in pine.datasets.CATALOG and _looks_like_a_file(dataset)


def _looks_like_a_file(word: str) -> bool:
    return Path(word).is_file() or Path(word).name != word or Path(word).suffix != ""


def _ratios(split: str, ratios: str | None) -> list[pine.evaluation.protocol.Ratio]:
    """What to split at: shares of labeled nodes, or the public split."""
    one_of("--split", split, ("random", "public"))
    if split == "public" and ratios is not None:
        raise InputError("--ratios are of random splits; leave them out with --split public")
    if split == "public":
        return ["public"]
    return list(dict.fromkeys(_ratio(ratio) for ratio in (ratios or DEFAULT_RATIOS).split(",")))


def _ratio(text: str) -> float:
    try:
        ratio = float(text)
    except ValueError:
        ratio = 0.0
    if not 0 < ratio < 1:
        raise InputError(f"ratios must be numbers between 0 and 1 such as 0.1,0.5, got {text.strip()!r}")
    return ratio
