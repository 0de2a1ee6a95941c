"""What each part of PINE that is not the paper's is worth: one thing changed, all else kept, the same splits.

    python benchmarks/ablation.py [--data cora,citeseer,wikipedia,email-eu,pubmed,dblp] [--planted 20000]
                                  [--ratios .1,.5] [--splits 20] [--large-splits 5] [--processes 1] [--device auto]
                                  [--kept ablation.jsonl]

The base is PINE without a share of propagated labels, and with a number of epochs that is given, so that nothing is
chosen. A cell is a row's accuracy (micro F1 for label sets) less the base's in points, averaged over splits and ratios;
the last columns are the mean over all graphs but dblp, and the p-value of a t-test over (graph, ratio) means. Large
graphs, of more than 10,000 nodes, have fewer splits. Two planted graphs: lognormal degrees (planted_classes), and equal
ones with groups of 400 nodes. facebook-pages, from PINE_DATA, can be asked for. What is done is kept in a file, and not
done again.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from collections import defaultdict
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from planted import as_graph, planted_graph
from scipy.stats import ttest_1samp

from pine import PINE, Graph
from pine.datasets import load, planted_classes
from pine.evaluation.protocol import hide, split
from pine.labels import Labels, read_labels
from pine.metrics import scores_of
from pine.model.neighborhoods import NeighborFunction

EPOCHS, LARGE = 150, 10_000
ROWS: dict[str, dict[str, Any]] = {
    "base": {},
    "no entropy": {"entropy": 0.0},
    "no dropout": {"dropout": 0.0},
    "plain sums": {"scaling": "sum"},
    "not conditioned, not centered": {"conditioned": False},
    "labels on x alone": {"supervise_f": False},
    "no agreement": {"lam": float("inf")},
    "f begins at random": {},
    "random start": {"start": "random"},
    "predictions of x alone": {},
    "default: chosen share, or no training": {"label_share": None, "epochs": None},
}
REPRODUCE = NeighborFunction.reproduce


@cache
def labeled(name: str) -> tuple[Graph, Labels]:
    """A data set, or a planted graph by its name and size."""
    if "-planted-" in name:
        kind, count = name.split("-planted-")
        if kind == "lognormal":
            graph, given = planted_classes(int(count))
        else:
            adjacency, given = planted_graph(int(count))
            graph = as_graph(adjacency)
    else:
        data = load(name)
        graph, given = data.graph, data.labels
    labels = read_labels(graph, given)
    assert labels is not None
    return graph, labels


def score(job: tuple[str, float, int, str], device: str) -> dict[str, Any]:
    name, ratio, repeat, row = job
    graph, labels = labeled(name)
    parts = split(name, labels.known, ratio, repeat)
    seen = hide(labels, parts.train, graph.count(labels.type))
    settings = {"label_share": 0.0, "epochs": EPOCHS, "device": device, "seed": repeat} | ROWS[row]
    NeighborFunction.reproduce = (lambda *_: None) if row == "f begins at random" else REPRODUCE  # type: ignore
    begin = time.perf_counter()
    model = PINE().set_params(**settings).fit(graph, seen if len(graph.node_types) == 1 else {labels.type: seen})
    seconds = time.perf_counter() - begin
    own = model.fitted_.scores
    assert own is not None
    assert model.labels_ is not None
    if row == "predictions of x alone":
        x = model.learned_.x
        own = model.learned_.predictions(labels.task, graph, labels.type, x, x, None)
    scores = np.zeros((len(own), labels.num_outputs))
    scores[:, model.labels_.classes if labels.task == "classes" else slice(None)] = own
    found = scores_of(labels, parts.test, scores)
    value = found.get("accuracy", found.get("micro_f1"))
    return {"data": name, "ratio": ratio, "repeat": repeat, "row": row, "score": value, "seconds": seconds}


def table(done: list[dict[str, Any]]) -> str:
    base = {(d["data"], d["ratio"], d["repeat"]): d["score"] for d in done if d["row"] == "base"}
    graphs = list(dict.fromkeys(d["data"] for d in done))
    lines = ["| changed | " + " | ".join(graphs) + " | mean | p |", "|---" * (len(graphs) + 3) + "|"]
    means = [100 * np.mean([score for (data, *_), score in base.items() if data == graph]) for graph in graphs]
    lines.append("| base | " + " | ".join(f"{mean:.1f}" for mean in means) + " | | |")
    for row in ROWS:
        cells: dict[tuple[str, float], list[float]] = defaultdict(list)
        for d in done:
            key = d["data"], d["ratio"], d["repeat"]
            if d["row"] == row != "base" and key in base:
                cells[key[:2]].append(100 * (d["score"] - base[key]))
        if not cells:
            continue
        of_cells = {cell: float(np.mean(each)) for cell, each in cells.items()}
        shown = [[mean for (data, _), mean in of_cells.items() if data == graph] for graph in graphs]
        counted = [mean for (data, _), mean in of_cells.items() if data != "dblp"]
        p = f"{ttest_1samp(counted, 0).pvalue:.3f}" if len(counted) > 2 else ""
        mean = f"{np.mean(counted):+.2f}" if counted else ""
        lines.append(
            f"| {row} | " + " | ".join(f"{np.mean(s):+.2f}" if s else "" for s in shown) + f" | {mean} | {p} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="cora,citeseer,wikipedia,email-eu,pubmed,dblp")
    parser.add_argument("--planted", type=int, default=20_000, help="nodes of both; 0: none")
    parser.add_argument("--ratios", default=".1,.5")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--large-splits", type=int, default=5)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--kept", type=Path, default=Path("ablation.jsonl"))
    given = parser.parse_args()
    graphs = [*filter(None, given.data.split(","))]
    if given.planted:
        graphs += [f"{kind}-planted-{given.planted}" for kind in ("lognormal", "equal")]
    done = [json.loads(line) for line in given.kept.read_text().splitlines()] if given.kept.exists() else []
    known = {(d["data"], d["ratio"], d["repeat"], d["row"]) for d in done}
    jobs_asked = [
        (name, ratio, repeat, row)
        for name in graphs
        for repeat in range(given.large_splits if labeled(name)[0].num_nodes > LARGE else given.splits)
        for ratio in map(float, given.ratios.split(","))
        for row in ROWS
    ]
    jobs = sorted({*jobs_asked} - known, key=lambda job: (job[2], job))
    with multiprocessing.get_context("spawn").Pool(given.processes) as pool, given.kept.open("a") as file:
        for one in pool.imap_unordered(partial(score, device=given.device), jobs):
            done.append(one)
            print(json.dumps(one), file=file, flush=True)
    wanted = {(name, ratio) for name, ratio, *_ in jobs_asked}
    print(table([one for one in done if (one["data"], one["ratio"]) in wanted]))


if __name__ == "__main__":
    main()
