"""`pine evaluate`: methods on a data set or on the user's own files; tables of scores and differences, runs as JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import pine
from pine._internal.progress import ProgressCounter
from pine._internal.signals import advising
from pine.cli.console import print_lines
from pine.cli.evaluate_links import DEFAULT_LINK_METHODS, LinkOptions, evaluate_links
from pine.cli.evaluation_data import is_own, own_data, those_that_fit
from pine.cli.graphs import EdgeColumns, LabelColumns, read_graph
from pine.cli.options import (
    DataDir,
    Directed,
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
    WeightColumn,
)
from pine.cli.progress import progress_bar
from pine.cli.tables import differences_table, results_table
from pine.errors import InputError, one_of

DEFAULT_RATIOS = "0.1,0.5,0.9"
DEFAULT_METHODS = "pine,label-propagation"
DEFAULT_HELD_OUT = "0.1"  # of the edges
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
    ] = DEFAULT_METHODS,
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
    label_header: LabelHeader = None,
    label_type: LabelType = None,
    task: Annotated[
        str,
        typer.Option(
            help="What labels are; auto: by their values. link: held-out edges are predicted, without labels; --ratios "
            "are then the shares held out, by default 0.1, and methods have score=dot|cosine|bilinear|f|combined.",
            metavar="auto|classes|label-sets|numbers|link",
        ),
    ] = "auto",
    of: Annotated[
        str | None,
        typer.Option("--of", help="With --task link: the relation to hold edges out of.", metavar="SRC:REL:DST"),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(help="With --task link: hold out the latest edges, by this column of times.", metavar="NAME"),
    ] = None,
    separator: Separator = None,
) -> None:
    """Score methods on a data set, or on your own graph, by the paper's protocol: the same random splits for all.

    Example: pine evaluate edges.csv --labels labels.csv --methods quick --ratios 0.5
    """
    if task == "link":
        if split != "random" or labels is not None or features or feature_file:
            raise InputError("--task link holds out edges at random: leave --split, --labels and features out")
        named = DEFAULT_LINK_METHODS if methods in (DEFAULT_METHODS, "quick") else methods
        held_out = [_ratio(ratio) for ratio in dict.fromkeys((ratios or DEFAULT_HELD_OUT).split(","))]
        edge_columns = EdgeColumns(source, target, weight, no_weight, header)
        _evaluate_links(
            dataset, LinkOptions(named, held_out, repeats, json, resume, of, time), edge_columns, relation, directed,
            nodes, id_column, data_dir,
        )  # fmt: skip
        return
    if of is not None or time is not None:
        raise InputError("--of and --time are of --task link; add it, or leave them out")
    asked = QUICK if methods == "quick" else methods
    specs = dict.fromkeys(spec.strip() for spec in asked.split(","))
    variants = [pine.evaluation.variants.parse(spec) for spec in specs]
    shares = _ratios(split, ratios)
    path = None if json in (None, "-") else Path(json)
    _check_resume(resume, path)
    console = _console(json)
    if is_own(dataset, relation):
        if dataset is not None and not Path(dataset).is_file():
            raise InputError(f"cannot read {dataset}: there is no such file")
        if labels is None or features:
            missing = "--labels FILE" if labels is None else "--feature-file FILE in place of --features"
            raise InputError(f"a graph of your own is scored on labels and features of your own: give {missing}")
        columns = EdgeColumns(source, target, weight, no_weight, header)
        read = read_graph(None if dataset is None else Path(dataset), relation, columns, directed, nodes, id_column)
        label_columns = LabelColumns(id_column, label_column, label_type, label_header, separator)
        data, task = own_data(read, labels, label_columns, task, feature_file, console)
    elif dataset is None or labels is not None or feature_file:
        raise InputError(
            "give a data set of `pine datasets`, which has labels and features, or files of your own with --labels"
        )
    else:
        with progress_bar(console, dataset, in_bytes=True) as progress:
            data = pine.datasets.load(dataset, data_dir=data_dir, progress=progress)
    if methods == "quick":
        variants = those_that_fit(variants, data, task)
    results = pine.evaluation.results.read_results(path, data.name) if path is not None and resume else []
    with advising(lambda: _how_to_go_on(path, resume)):
        shown = _run(data, variants, shares, repeats, results, path, features, task)
    with_features = ", with features" if features or data.graph.features else ""
    console.print(results_table(f"{data.name}: {data.graph}{with_features}", shown))
    differences = differences_table(shown)
    if differences is not None:
        console.print(differences)
    if json == "-":
        sys.stdout.write(pine.evaluation.results.as_text(shown))


def _evaluate_links(
    dataset: str | None,
    options: LinkOptions,
    columns: EdgeColumns,
    relation: list[str] | None,
    directed: bool,
    nodes: list[str] | None,
    id_column: str | None,
    data_dir: Path | None,
) -> None:
    """--task link, on a data set or on files of the user's own."""
    path = None if options.json in (None, "-") else Path(str(options.json))
    _check_resume(options.resume, path)
    console, edges = _console(options.json), None
    if is_own(dataset, relation):
        edges = None if dataset is None else Path(dataset)
        if edges is not None and not edges.is_file():
            raise InputError(f"cannot read {dataset}: there is no such file")
        read = read_graph(edges, relation, columns, directed, nodes, id_column)
        print_lines(console, read.lines)
        name, graph = next(iter(read.files.values())).stem, read.graph
    elif dataset is None:
        raise InputError("give a data set of `pine datasets`, or a file of edges of your own")
    else:
        with progress_bar(console, dataset, in_bytes=True) as progress:
            graph = pine.datasets.load(dataset, data_dir=data_dir, progress=progress).graph
        name = dataset
    with advising(lambda: _how_to_go_on(path, options.resume)):
        evaluate_links(name, graph, options, console, edges, columns)


def _console(json: str | None) -> Console:
    """With --json - the runs are alone on standard output."""
    console = Console(stderr=json == "-", markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = 120  # a file or a pipe has no width of its own
    return console


def _check_resume(resume: bool, path: Path | None) -> None:
    if resume and path is None:
        raise InputError("--resume goes on with the runs in a file: name it with --json FILE")


def _run(
    data: pine.datasets.Dataset,
    variants: Sequence[pine.evaluation.Variant],
    ratios: Sequence[pine.evaluation.protocol.Ratio],
    repeats: int,
    results: list[pine.evaluation.Result],
    path: Path | None,
    features: bool,
    task: str,
) -> list[pine.evaluation.Result]:
    """All runs that are asked for, those among results and new ones; each is written to the file as it ends."""
    names = [variant.name for variant in variants]
    done = {result.key for result in results}
    runs = pine.evaluation.evaluate(data, variants, ratios, repeats, done, features, task)
    features = features or bool(data.graph.features)

    def wanted(result: pine.evaluation.Result) -> bool:
        method, ratio, repeat, featured = result.key
        return method in names and ratio in ratios and repeat < repeats and featured == features

    def order(result: pine.evaluation.Result) -> int:
        return names.index(result.method) if result.method in names else len(names)

    with progress_bar(Console(stderr=True), data.name) as progress:
        work = ProgressCounter(progress, data.name)
        work.plan(len(variants) * len(ratios) * repeats)
        work.advance(sum(map(wanted, results)))
        for result in runs:
            results.append(result)
            results.sort(key=order)  # those that shared a fit came together
            if path is not None:
                pine.evaluation.results.write_results(results, path)
            work.advance(1, f"{result.method} at {pine.evaluation.protocol.ratio_name(result.ratio)}")
    return [result for result in results if wanted(result)]


def _how_to_go_on(path: Path | None, resume: bool) -> str:
    """After a signal."""
    if path is None:
        return "with --json FILE the runs that have ended are kept, and --resume goes on"
    if not path.exists():
        return "no run has ended; repeat the command to begin anew"
    how = "repeat the command" if resume else "repeat the command with --resume"
    return f"the runs that have ended are kept in {path}: {how} to go on"


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
