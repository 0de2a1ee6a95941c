"""`pine evaluate`: progress with the time left, a table of means and deviations, the runs as JSON."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

import pine
from pine._internal.progress import ProgressCounter
from pine.cli.options import DataDir
from pine.cli.progress import progress_bar
from pine.errors import InputError, one_of

DEFAULT_RATIOS = "0.1,0.5,0.9"


def evaluate(
    dataset: Annotated[str, typer.Argument(help="A name from `pine datasets`.")],
    methods: Annotated[
        str,
        typer.Option(
            help="Methods, separated by commas, with settings as in pine:lam=inf; labels=off fits without labels, "
            "spread=0.5 spreads predictions along edges, types=off sees one node type, share=auto mixes in propagated "
            "labels, gcn:on=propagation takes another method's vectors as features.",
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
    features: Annotated[bool, typer.Option("--features", help="Give methods the node features, too.")] = False,
) -> None:
    """Score methods on a data set by the paper's protocol."""
    specs = list(dict.fromkeys(spec.strip() for spec in methods.split(",")))
    variants = [pine.evaluation.variants.parse(spec) for spec in specs]
    shares = _ratios(split, ratios)
    path = None if json in (None, "-") else Path(json)
    if resume and path is None:
        raise InputError("--resume goes on with the runs in a file: name it with --json FILE")
    # With --json - the runs are alone on standard output.
    console = Console(stderr=json == "-")
    if not console.is_terminal:
        console.width = 120  # a file or a pipe has no width of its own
    with progress_bar(console, dataset, in_bytes=True) as progress:
        data = pine.datasets.load(dataset, data_dir=data_dir, progress=progress)
    results = pine.evaluation.results.read_results(path, dataset) if path is not None and resume else []
    runs = pine.evaluation.evaluate(data, variants, shares, repeats, {result.key for result in results}, features)

    def wanted(result: pine.evaluation.Result) -> bool:
        method, ratio, repeat, featured = result.key
        return method in specs and ratio in shares and repeat < repeats and featured == features

    def order(result: pine.evaluation.Result) -> int:
        return specs.index(result.method) if result.method in specs else len(specs)

    with progress_bar(console, dataset) as progress:
        work = ProgressCounter(progress, dataset)
        work.plan(len(variants) * len(shares) * repeats)
        work.advance(sum(map(wanted, results)))
        for result in runs:
            results.append(result)
            results.sort(key=order)  # those that shared a fit came together
            if path is not None:
                pine.evaluation.results.write_results(results, path)
            work.advance(1, f"{result.method} at {pine.evaluation.protocol.ratio_name(result.ratio)}")
    shown = [result for result in results if wanted(result)]
    console.print(results_table(f"{dataset}: {data.graph}{', with features' if features else ''}", shown))
    if json == "-":
        sys.stdout.write(pine.evaluation.results.as_text(shown))


def results_table(title: str, results: Sequence[pine.evaluation.Result]) -> Table:
    """One row a method and score, one column a ratio: mean and standard deviation over the repeats."""
    # Runs of an earlier version may have fewer.
    scores = [score for score in results[0].scores if all(score in result.scores for result in results)]
    only = scores[0] if len(scores) == 1 else "score"
    ratios = sorted({result.ratio for result in results}, key=pine.evaluation.protocol.ratio_order)
    by = "on the public split" if ratios == ["public"] else "by share of labeled nodes"
    table = Table(title=title, caption=f"{only} {by}, mean ± deviation; seconds a run")
    table.add_column("method", no_wrap=True)
    if len(scores) > 1:
        table.add_column("score", no_wrap=True)
    for ratio in ratios:
        table.add_column(pine.evaluation.protocol.ratio_name(ratio), justify="right")
    table.add_column("s", justify="right")
    for method in dict.fromkeys(result.method for result in results):
        own = [result for result in results if result.method == method]
        for row, score in enumerate(scores):
            cells = [_mean([r.scores[score] for r in own if r.ratio == ratio]) for ratio in ratios]
            seconds = f"{statistics.mean(result.seconds for result in own):.2f}" if row == 0 else ""
            names = [score.replace("_", "-")] if len(scores) > 1 else []
            table.add_row(method if row == 0 else "", *names, *cells, seconds)
    return table


def _mean(values: Sequence[float]) -> str:
    deviation = f" ±{statistics.stdev(values):.3f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.3f}{deviation}"


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
