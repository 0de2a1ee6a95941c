"""What `pine evaluate` shows: progress with the time left, a table of means and deviations, the runs as JSON."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pine.datasets import load
from pine.errors import InputError
from pine.evaluation.run import Result, evaluate
from pine.evaluation.variants import parse
from pine.files import atomic_write
from pine.progress import progress_bar


def evaluate_and_show(
    dataset: str,
    methods: Sequence[str],
    ratios: Sequence[str],
    repeats: int,
    json_to: str | None,
    data_dir: Path | None,
) -> None:
    """Evaluate and print; with json_to "-" the runs go to standard output and everything else to standard error."""
    specs = list(dict.fromkeys(spec.strip() for spec in methods))
    chosen = [parse(spec) for spec in specs]
    shares = [_ratio(ratio) for ratio in ratios]
    console = Console(stderr=json_to == "-")
    if not console.is_terminal:
        console.width = 120  # a file or a pipe has no width of its own
    data = load(dataset, data_dir=data_dir)
    runs = evaluate(data, chosen, shares, repeats)
    results: list[Result] = []
    with progress_bar(console) as progress:
        task = progress.add_task(dataset, total=len(chosen) * len(shares) * repeats)
        for result in runs:
            results.append(result)
            progress.update(task, advance=1, description=f"{result.method} at {result.ratio:.0%}")
    results.sort(key=lambda result: specs.index(result.method))  # those that shared a fit came together
    console.print(results_table(f"{dataset}: {data.graph}", results))
    if json_to is not None:
        text = json.dumps([result.as_json() for result in results], indent=1) + "\n"
        if json_to == "-":
            sys.stdout.write(text)
        else:
            with atomic_write(Path(json_to)) as file:
                file.write(text.encode())


def results_table(title: str, results: Sequence[Result]) -> Table:
    """One row a method and score, one column a ratio: mean and standard deviation over the repeats."""
    only = next(iter(results[0].scores)) if len(results[0].scores) == 1 else "score"
    table = Table(title=title, caption=f"{only} by share of labelled nodes, mean ± deviation; seconds a run")
    ratios = sorted({result.ratio for result in results})
    table.add_column("method", no_wrap=True)
    if len(results[0].scores) > 1:
        table.add_column("score", no_wrap=True)
    for ratio in ratios:
        table.add_column(f"{ratio:.0%}", justify="right")
    table.add_column("s", justify="right")
    for method in dict.fromkeys(result.method for result in results):
        own = [result for result in results if result.method == method]
        for row, score in enumerate(own[0].scores):
            cells = [_mean([r.scores[score] for r in own if r.ratio == ratio]) for ratio in ratios]
            seconds = f"{statistics.mean(result.seconds for result in own):.2f}" if row == 0 else ""
            names = [score.replace("_", "-")] if len(own[0].scores) > 1 else []
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
