"""Node features where one side fails, or where there are no edges; numbers, label sets, and graphs never seen.

    python benchmarks/features.py [--cases useless-features,useless-edges,new-nodes,numbers,label-sets,new-graphs]
                                  [--repeats 3] [--first 0] [--device auto] [--out features.jsonl]

useless-features  every node has the features of another, drawn at random: PINE should be what it is without features
useless-edges     one end of every edge is another node, drawn at random: PINE should be what features alone are
new-nodes         a tenth of the nodes is not there when a method learns, from the labels of a tenth of the others or of
                  all of them, and has no edge when it predicts them
numbers           chameleon: the logarithm of visits, R2
label-sets        ppi, whose labels are rebuilt from public annotations: nodes of all its graphs, micro F1
new-graphs        the same, learned from its training graphs, on its test graphs

Each fit learns from the same labels; repeats are splits, counted from the first. What is done is kept in a file, and
not done again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from pine import Graph
from pine.datasets import Dataset, load
from pine.evaluation.protocol import Part, Split, hide, ratio_name, split
from pine.evaluation.run import scored
from pine.evaluation.variants import Variant, parse
from pine.graph import NODE
from pine.labels import read_labels
from pine.metrics import accuracy, micro_f1

CITATIONS = ("cora-planetoid", "citeseer-planetoid", "pubmed")
WITHOUT = "pine:features=false"
METRICS = {"classes": "accuracy", "label-sets": "micro_f1", "numbers": "r2"}
dataset = cache(load)


@dataclass(frozen=True)
class Case:
    """Data sets, methods, and shares of labeled nodes; later: of those that are there, and others are predicted."""

    data: tuple[str, ...]
    methods: tuple[str, ...]
    ratios: tuple[float, ...]
    later: bool = False


CASES = {
    "useless-features": Case(CITATIONS, ("pine", WITHOUT), (0.1, 0.5)),
    "useless-edges": Case(CITATIONS, ("pine", WITHOUT, "logistic-regression", "mlp", "gcn"), (0.1, 0.5)),
    "new-nodes": Case(CITATIONS, ("pine", "logistic-regression", "mlp", "gcn"), (0.1, 1.0), later=True),
    "numbers": Case(("chameleon",), ("pine", WITHOUT, "mlp", "gcn", "sgc"), (0.1, 0.5)),
    "label-sets": Case(("ppi",), ("pine", WITHOUT, "logistic-regression", "mlp", "gcn", "sgc"), (0.1, 0.5)),
    "new-graphs": Case(("ppi",), ("pine", "logistic-regression", "mlp", "gcn", "sgc"), (1.0,), later=True),
}
Run = tuple[str, str, float, int, str]  # case, data set, ratio, repeat, spec


def with_edges_of_others(graph: Graph, rng: np.random.Generator) -> Graph:
    """Every node keeps its number of neighbors, about; who they are is chance."""
    edges = np.stack(sp.triu(graph.to_scipy()).nonzero(), axis=1)
    shuffled = np.stack([edges[:, 0], rng.permutation(edges[:, 1])], axis=1)
    return Graph.from_edges(shuffled[shuffled[:, 0] != shuffled[:, 1]], nodes=range(graph.num_nodes))


def changed(case: str, data: Dataset, repeat: int) -> Dataset:
    """A data set as a case has it, with the features in its graph."""
    rng = np.random.default_rng(repeat)
    if case == "useless-edges":
        data = replace(data, graph=with_edges_of_others(data.graph, rng))
    if case == "useless-features":
        data = replace(data, features=data.features[rng.permutation(data.graph.num_nodes)])
    return replace(data, graph=data.with_features())


def of_nodes(graph: Graph, nodes: Any, *, edges: bool = True) -> Graph:
    """Some nodes of a graph, by their numbers, with the edges between them or none."""
    matrix = sp.csr_array(graph.to_scipy())[nodes][:, nodes]
    made = Graph.from_scipy(matrix if edges else sp.csr_array(matrix.shape), ids=nodes)
    return made.with_features(graph.features[NODE][nodes])


def predicted_later(case: str, data: Dataset, variant: Variant, ratio: float, repeat: int) -> tuple[float, float]:
    """Score and seconds at nodes that are not there when a method learns."""
    graph, truth = data.graph, np.asarray(data.labels)
    nodes = Split(data.splits["train"], data.splits["test"])
    if case == "new-nodes":
        nodes = split(data.name, np.flatnonzero(truth >= 0), 0.9, repeat)
    there, count = of_nodes(graph, nodes.train), len(nodes.train)
    labeled = np.flatnonzero(np.random.default_rng(repeat).permutation(count) < ratio * count)
    shown = hide(read_labels(there, truth[nodes.train]), labeled, count)
    begin = time.perf_counter()
    model = variant.new(repeat).fit(there, shown)
    seconds = time.perf_counter() - begin
    later = of_nodes(graph, nodes.test, edges=case == "new-graphs")
    given = np.asarray(model.predict(graph=later))
    return (accuracy if truth.ndim == 1 else micro_f1)(truth[nodes.test], given), seconds


def measured(run: Run, device: str) -> dict[str, Any]:
    case, name, ratio, repeat, spec = run
    variant = parse(spec)
    variant = replace(variant, settings=variant.settings | {"device": device})
    data = changed(case, dataset(name), repeat)
    if CASES[case].later:
        score, seconds = predicted_later(case, data, variant, ratio, repeat)
    else:
        labels = read_labels(data.graph, data.labels)
        ((_, _, scores, seconds),) = scored(data, labels, {Part(ratio, repeat): [variant]}, seed=repeat)
        score = scores[METRICS[labels.task]]
    about = {"case": case, "data": name, "ratio": ratio, "repeat": repeat, "spec": spec}
    return about | {"score": round(score, 5), "seconds": round(seconds, 2)}


def runs(cases: list[str], repeats: range) -> Iterator[Run]:
    """All that is measured, every case once before any comes again."""
    for repeat in repeats:
        for case in cases:
            for name in CASES[case].data:
                for ratio in CASES[case].ratios:
                    for spec in CASES[case].methods:
                        yield case, name, ratio, repeat, spec


def show(cases: list[str], done: dict[Run, dict[str, Any]]) -> None:
    """A table for each case."""
    groups = defaultdict(list)
    for (case, name, ratio, _, spec), each in done.items():
        groups[case, name, ratio, spec].append((each["score"], each["seconds"]))
    for case in cases:
        columns = [(name, ratio) for name in CASES[case].data for ratio in CASES[case].ratios]
        heads = [f"{name} {ratio_name(ratio)}" for name, ratio in columns]
        print(f"\n**{case}**\n\n| method | {' | '.join(heads)} | s |\n|---{'|---' * len(columns)}|---|")
        for spec in CASES[case].methods:
            cells, seconds = [], []
            for name, ratio in columns:
                found = groups[case, name, ratio, spec]
                score = 100 * np.array([each[0] for each in found])
                seconds += [each[1] for each in found]
                cells.append(f"{score.mean():.1f} ±{score.std(ddof=min(1, len(score) - 1)):.1f}" if found else "")
            print(f"| {spec} | {' | '.join(cells)} | {np.mean(seconds):.1f} |" if seconds else f"| {spec} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, default=Path("features.jsonl"))
    given = parser.parse_args()
    cases = given.cases.split(",")
    done: dict[Run, dict[str, Any]] = {}
    for line in given.out.read_text().splitlines() if given.out.exists() else []:
        each = json.loads(line)
        done[each["case"], each["data"], each["ratio"], each["repeat"], each["spec"]] = each
    with given.out.open("a") as out:
        for run in runs(cases, range(given.first, given.first + given.repeats)):
            if run not in done:
                done[run] = measured(run, given.device)
                print(json.dumps(done[run]), file=out, flush=True)
                print(*run, done[run]["score"], f"{done[run]['seconds']} s", flush=True)
    show(cases, done)


if __name__ == "__main__":
    main()
