"""Tables of `pine evaluate`: means and deviations, and what a paired test says of the differences."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from rich.table import Table

import pine


def results_table(title: str, results: Sequence[pine.evaluation.Result], by: str | None = None) -> Table:
    """One row a method and score, one column a ratio: mean and standard deviation over the repeats; by: of what."""
    # Runs of an earlier version may have fewer.
    scores = [score for score in results[0].scores if all(score in result.scores for result in results)]
    only = scores[0] if len(scores) == 1 else "score"
    ratios = sorted({result.ratio for result in results}, key=pine.evaluation.protocol.ratio_order)
    by = by or ("on the public split" if ratios == ["public"] else "by share of labeled nodes")
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


def differences_table(results: Sequence[pine.evaluation.Result], *, held_out: bool = False) -> Table | None:
    """How far each method is from the first, on the same splits, and how often chance alone makes it so (p).

    Random splits share nodes: the test is Nadeau and Bengio's, the p values of a column are Holm's. None where there is
    one method, or one run of each. held_out: ratios are shares of what is tested on, not of what is learned from.
    """
    paired_test, name = pine.evaluation.paired_test, next(iter(results[0].scores))
    methods = list(dict.fromkeys(result.method for result in results))
    ratios = sorted({result.ratio for result in results}, key=pine.evaluation.protocol.ratio_order)
    columns: list[list[str]] = []
    for ratio in ratios:
        runs = {
            method: {r.repeat: r.scores[name] for r in results if (r.method, r.ratio) == (method, ratio)}
            for method in methods
        }
        shared = sorted(set.intersection(*map(set, runs.values())))
        if len(methods) < 2 or len(shared) < 2:
            return None
        first = [runs[methods[0]][repeat] for repeat in shared]
        others = [[runs[method][repeat] for repeat in shared] for method in methods[1:]]
        learned = 1.0 if isinstance(ratio, str) else 1 - ratio if held_out else ratio
        overlap = (1 - learned) / learned
        p_values = paired_test.holm([paired_test.paired_p_value(each, first, overlap) for each in others])
        means = [statistics.mean(each) - statistics.mean(first) for each in others]
        columns.append([f"{mean:+.3f}  p {p:.2f}" for mean, p in zip(means, p_values, strict=True)])
    table = Table(title=f"{name.replace('_', '-')} beside {methods[0]}", caption="paired t-test on the same splits")
    table.add_column("method", no_wrap=True)
    for ratio in ratios:
        table.add_column(pine.evaluation.protocol.ratio_name(ratio), justify="right")
    for row, method in enumerate(methods[1:]):
        table.add_row(method, *(column[row] for column in columns))
    return table
