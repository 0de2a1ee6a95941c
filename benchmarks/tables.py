"""Tables of runs: what `pine evaluate --json` wrote, as Markdown.

    python benchmarks/tables.py results/evaluate/*.json [--of pine] [--timed results/evaluate/methods/cora.json]
        [--full results] [--into README.md benchmarks/README.md]

Files of one data set are merged; of a run that several hold (same data set, method, ratio and repeat), the last is
taken. One table for each data set and score, mean ± standard deviation over the splits, the best of each column in
bold. Then, over all data sets: in how many cells (data set and ratio) one method is ahead of each other one, and by how
much, on the splits that both ran; label sets count by micro F1. --into writes them into pages, between lines
<!-- tables: NAME --> and <!-- end -->: experiments, such as "homogeneous" and "ladder", and "not-measured" are of what
`pine reproduce all --out results` wrote (--full), "timed" is the table of the runs of --timed, with their seconds,
"all" is everything else.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pine.reproduce.overview import ladder, overview

SCORES = {"accuracy": "Accuracy", "micro_f1": "Micro F1", "macro_f1": "Macro F1", "rmse": "Root mean square error"}
LESS_IS_BETTER = {"rmse"}
NAMES = {
    "pine": "PINE",
    "propagation": "logistic regression on the start",
    "start": "logistic regression on the start",  # as kept results have it
    "label-propagation": "label propagation",
    "deepwalk": "DeepWalk",
    "graphwave": "GraphWave",
    "wys": "WYS",
    "mmdw": "MMDW",
    "planetoid": "Planetoid",
    "gcn": "GCN",
    "gat": "GAT",
    "graphsage": "GraphSAGE",
    "metapath2vec": "metapath2vec++",
}
# What a setting says in words; {} is its value.
PHRASES = {
    "lam=inf": ", agreement term off",
    "label_share=0": ", no share of carried labels",
    "spread": ", scores spread at prediction ({})",
    "labels=off": " without labels, logistic regression",
    "types=off": ", node types ignored",
    "groups=all": ", one group of neighbors",
    "groups=relation": ", a group of neighbors for each relation",
    "paper": ", as printed in the paper",
    "attributes=true": ", with attributes",
    "start=random": ", from a random start",
    "entropy=0": ", entropy term off",
    "supervise_f=false": ", labels on x alone",
    "dropout=0": ", no dropout",
    "epochs=0": " untrained: logistic regression on the start, a share of labels",
}
PEERS = ("gcn", "label-propagation")

Cells = dict[tuple[str, str, str, float], dict[int, float]]  # (data set, score, method, ratio): {repeat: value}


def row_name(spec: str) -> str:
    """A method's name in words; a spec with a setting that has no words stays as it is."""
    name, *pairs = spec.split(":")
    words = NAMES.get(name, name)
    for pair in pairs:
        key, _, value = pair.partition("=")
        phrase = PHRASES.get(pair, PHRASES.get(key))
        if phrase is None:
            return f"`{spec}`"
        words += phrase.format(value)
    return words


def read_cells(paths: Iterable[Path]) -> Cells:
    """All runs of all files, by cell and repeat."""
    cells: Cells = {}
    for path in paths:
        runs: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
        for run in runs:
            for score in SCORES.keys() & run.keys():
                cell = (run["dataset"], score, run["method"], run["ratio"])
                cells.setdefault(cell, {})[run["repeat"]] = run[score]
    return cells


def distinct(cells: Cells, field: int, **wanted: str) -> list[Any]:
    """The distinct values of one field of the cells, in order of appearance."""
    names = ("dataset", "score", "method", "ratio")
    return list(dict.fromkeys(cell[field] for cell in cells if all(cell[names.index(k)] == wanted[k] for k in wanted)))


def read_seconds(path: Path) -> dict[str, float]:
    """The mean seconds of each method's runs."""
    found: dict[str, list[float]] = {}
    for run in json.loads(path.read_text(encoding="utf-8")):
        found.setdefault(run["method"], []).append(run["seconds"])
    return {method: statistics.mean(seconds) for method, seconds in found.items()}


def table(cells: Cells, dataset: str, score: str, seconds: dict[str, float] | None = None) -> str:
    """The table of one data set and score, perhaps with a column of seconds."""
    methods = distinct(cells, 2, dataset=dataset, score=score)
    ratios = sorted(distinct(cells, 3, dataset=dataset, score=score))
    found = {(m, r): list(cells.get((dataset, score, m, r), {}).values()) for m in methods for r in ratios}
    splits = sorted({len(values) for values in found.values() if values})
    pick = min if score in LESS_IS_BETTER else max
    best = {r: pick(round(statistics.mean(found[m, r]), 3) for m in methods if found[m, r]) for r in ratios}

    def cell(method: str, ratio: float) -> str:
        values = found[method, ratio]
        if not values:
            return ""
        text = shown(statistics.mean(values))
        if len(values) > 1:
            text += f" ±{shown(statistics.stdev(values))}"
        if len(splits) > 1:
            text += f" ({len(values)})"
        return f"**{text}**" if round(statistics.mean(values), 3) == best[ratio] else text

    how_many = f"{splits[0]} splits" if len(splits) == 1 else "the number of splits in brackets"
    over = "one split" if splits == [1] else f"mean ± deviation over {how_many}"
    lines = [f"{SCORES[score]} on {dataset} by share of labeled nodes, {over}:", ""]
    rows = [["method", *(f"{100 * r:g} %" for r in ratios)]]
    rows += [[row_name(m), *(cell(m, r) for r in ratios)] for m in methods]
    if seconds is not None:
        rows = [[*row, last] for row, last in zip(rows, ["s", *(f"{seconds[m]:.1f}" for m in methods)], strict=True)]
    drawn = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines, drawn[0], "|---" * len(rows[0]) + "|", *drawn[1:]])


def gaps(cells: Cells, ours: str, peers: Sequence[str]) -> list[float]:
    """By how much a method is ahead of the best of its peers, on the splits that all ran: one number a cell."""
    found = []
    for (dataset, score, method, ratio), own in cells.items():
        if method != ours or score == "macro_f1":
            continue
        others = [cells.get((dataset, score, peer, ratio), {}) for peer in peers]
        common = set(own).intersection(*others)
        if common:
            sign = -1 if score in LESS_IS_BETTER else 1
            best = max(sign * statistics.mean(other[repeat] for repeat in common) for other in others)
            found.append(sign * statistics.mean(own[repeat] for repeat in common) - best)
    return found


def summary(cells: Cells, ours: str) -> str:
    """In how many cells a method is ahead of each other, and the average gap."""
    lines = []
    rows = [([method], row_name(method)) for method in distinct(cells, 2) if method != ours]
    rows.append((list(PEERS), f"the better of {' and '.join(map(row_name, PEERS))}"))
    for peers, words in rows:
        each = gaps(cells, ours, peers)
        if each:
            ahead = sum(gap > 0 for gap in each)
            lines.append(f"| {words} | {ahead} of {len(each)} cells | {signed(statistics.mean(each))} |")
    head = [f"| {row_name(ours)} beside | ahead in | average gap |", "|---|---|---|"]
    return "\n".join(head + lines) if lines else f"There is nothing to compare {ours} with."


def everything(cells: Cells, ours: str) -> str:
    """All tables, and in how many cells a method is ahead of the others."""
    parts = [
        table(cells, dataset, score)
        for dataset in distinct(cells, 0)
        for score in SCORES
        if known(cells, dataset, score)
    ]
    return "\n\n".join([*parts, summary(cells, ours)])


def known(cells: Cells, dataset: str, score: str) -> bool:
    return any(cell[:2] == (dataset, score) for cell in cells)


def timed(path: Path) -> str:
    """The table of one file, with seconds."""
    cells = read_cells([path])
    (dataset,) = distinct(cells, 0)
    score = next(score for score in SCORES if known(cells, dataset, score))
    return table(cells, dataset, score, read_seconds(path))


def filled(page: str, cells: Cells, ours: str, with_seconds: Path | None = None, full_run: Path | None = None) -> str:
    """A page with its tables made anew; those that are not at hand stay."""
    said = {"all": everything(cells, ours)}
    if with_seconds is not None:
        said["timed"] = timed(with_seconds)
    if full_run is not None:
        said |= overview(full_run) | {"ladder": ladder(full_run)}

    def block(found: re.Match[str]) -> str:
        return f"<!-- tables: {found[1]} -->\n\n{said[found[1]]}\n\n<!-- end -->" if found[1] in said else found[0]

    return re.sub(r"<!-- tables: ([\w-]+) -->.*?<!-- end -->", block, page, flags=re.DOTALL)


def shown(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def signed(value: float) -> str:
    return ("-" if value < 0 else "+") + shown(abs(value))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--of", default="pine", help="the method that the others are compared with")
    parser.add_argument("--timed", type=Path, help="runs whose seconds are shown too")
    parser.add_argument("--full", type=Path, help="what `pine reproduce all` wrote")
    parser.add_argument("--into", nargs="+", type=Path, default=[], help="pages with places for tables")
    given = parser.parse_args()
    cells = read_cells(given.files)
    for path in given.into:
        page = filled(path.read_text(encoding="utf-8"), cells, given.of, given.timed, given.full)
        path.write_text(page, encoding="utf-8")
    if not given.into:
        print(everything(cells, given.of))


if __name__ == "__main__":
    main()
