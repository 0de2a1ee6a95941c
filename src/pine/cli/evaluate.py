"""What `pine evaluate` shows: progress with the time left, a table of means and deviations, the runs as JSON."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pine._internal.progress import ProgressCounter
from pine.cli.progress import progress_bar
from pine.datasets import load
from pine.errors import InputError
from pine.evaluation.results import Result, as_text, read_results, write_results
from pine.evaluation.run import evaluate
from pine.evaluation.variants import parse


def evaluate_and_show(
    dataset: str,
    methods: Sequence[str],
    ratios: Sequence[str],
    repeats: int,
    json_to: str | None,
    data_dir: Path | None,
    *,
    resume: bool = False,
) -> None:
    """Evaluate and print; with json_to "-" the runs go to standard output and everything else to standard error.

    A file is written after every run. resume: the runs that it holds already are not made again.
    """
    specs = list(dict.fromkeys(spec.strip() for spec in methods))
    chosen = [parse(spec) for spec in specs]
    shares = list(dict.fromkeys(_ratio(ratio) for ratio in ratios))
    path = None if json_to in (None, "-") else Path(json_to)
    if resume and path is None:
        raise InputError("--resume goes on with the runs in a file: name it with --json FILE")
    console = Console(stderr=json_to == "-")
    if not console.is_terminal:
        console.width = 120  # a file or a pipe has no width of its own
    data = load(dataset, data_dir=data_dir)
    kept = read_results(path, dataset) if path is not None and resume else []
    runs = evaluate(data, chosen, shares, repeats, done={result.key for result in kept})

    def asked(result: Result) -> bool:
        return result.method in specs and result.ratio in shares and result.repeat < repeats

    def order(result: Result) -> int:
        return specs.index(result.method) if result.method in specs else len(specs)

    with progress_bar(console, dataset) as progress:
        work = ProgressCounter(progress, dataset)
        work.plan(len(chosen) * len(shares) * repeats)
        work.advance(sum(map(asked, kept)))
        for result in runs:
            kept.append(result)
            kept.sort(key=order)  # those that shared a fit came together
            if path is not None:
                write_results(kept, path)
            work.advance(1, f"{result.method} at {result.ratio:.0%}")
    shown = [result for result in kept if asked(result)]
    console.print(results_table(f"{dataset}: {data.graph}", shown))
    if json_to == "-":
        sys.stdout.write(as_text(shown))


def results_table(title: str, results: Sequence[Result]) -> Table:
    """One row a method and score, one column a ratio: mean and standard deviation over the repeats."""
    # Runs of an earlier version may have fewer.
    scores = [score for score in results[0].scores if all(score in result.scores for result in results)]
    only = scores[0] if len(scores) == 1 else "score"
    table = Table(title=title, caption=f"{only} by share of labelled nodes, mean ± deviation; seconds a run")
    ratios = sorted({result.ratio for result in results})
    table.add_column("method", no_wrap=True)
    if len(scores) > 1:
        table.add_column("score", no_wrap=True)
    for ratio in ratios:
        table.add_column(f"{ratio:.0%}", justify="right")
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


def _ratio(text: str) -> float:
    try:
        ratio = float(text)
    except ValueError:
        ratio = 0.0
    if not 0 < ratio < 1:
        raise InputError(f"ratios must be numbers between 0 and 1 such as 0.1,0.5, got {text.strip()!r}")
    return ratio
