"""How good and how fast the structural start is: exact and propagated, alone under logistic regression.

    python benchmarks/start.py [--data cora,citeseer,wikipedia,email-eu,pubmed,dblp] [--planted 200000] [--threads 1]

Data sets come from PINE_DATA. "held out" trains on 80 % of the training labels and scores on the other 20 %: choices
are made by it. "test" trains on all training labels and scores on the test nodes: for the record only. Accuracy in
percent (micro-F1 for label sets) at 10, 50 and 90 % labeled; C = 0.1 on scaled vectors, mean of three splits or more
draws. Times are multiples of scikit-learn's randomized_svd of the same adjacency to as many dimensions, measured beside
it; compiled code is warm. The planted graph has groups of 400 nodes, average degree 10 and 60 % of its edges inside
groups; its nodes are classified by the nearest group mean.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from planted import planted_graph
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils.extmath import randomized_svd

from pine.datasets import load
from pine.evaluation import split
from pine.graph.csr import CSR
from pine.labels import read_labels
from pine.model.init import start

DIM, RATIOS, REPEATS = 64, (0.1, 0.5, 0.9), 3
WAYS = {"exact": 10**12, "propagated": 0}  # up to how many nodes the start is exact
LIMIT = start.EXACT_NODES


def timed(make: Callable[[], NDArray[Any]]) -> tuple[NDArray[Any], float]:
    begin = time.perf_counter()
    return make(), time.perf_counter() - begin


def make_start(adjacency: CSR, way: str, threads: int | None) -> tuple[NDArray[Any], float]:
    """The start by one of its two ways, and its seconds."""
    start.EXACT_NODES = WAYS[way]
    return timed(lambda: start.structural_start(adjacency, DIM, np.random.default_rng(0), threads=threads))


def peer_seconds(adjacency: CSR) -> float:
    return timed(lambda: randomized_svd(adjacency.to_scipy(), DIM, random_state=0)[0])[1]


def score(x: NDArray[Any], y: NDArray[Any], train: NDArray[np.int64], test: NDArray[np.int64]) -> float:
    seen = x[train]
    center, scale = seen.mean(axis=0), seen.std()
    regression = LogisticRegression(C=0.1, max_iter=100)
    model = regression if y.ndim == 1 else OneVsRestClassifier(regression)
    predicted = model.fit((seen - center) / scale, y[train]).predict((x[test] - center) / scale)
    if y.ndim == 1:
        return 100 * float((predicted == y[test]).mean())
    return 100 * float(f1_score(y[test], predicted, average="micro", zero_division=0))


def scores(name: str, x: NDArray[Any], y: NDArray[Any], known: NDArray[np.int64]) -> tuple[str, str]:
    """Held-out and test scores at all ratios, as text."""
    held_out, test = [], []
    for ratio in RATIOS:
        parts = [split(name, known, ratio, repeat) for repeat in range(REPEATS)]
        test.append(np.mean([score(x, y, part.train, part.test) for part in parts]))
        held = []
        # Few labels make noisy scores: more draws where there are few.
        for draw in range(round(3 / ratio**0.5)):
            order = np.random.default_rng(draw).permutation(parts[draw % REPEATS].train)
            held.append(score(x, y, *np.split(order, [int(0.8 * len(order))])))
        held_out.append(np.mean(held))
    return " ".join(f"{value:.1f}" for value in held_out), " ".join(f"{value:.1f}" for value in test)


def report_data(name: str, threads: int | None) -> None:
    data = load(name)
    labels = read_labels(data.graph, data.labels)
    rows = data.graph.nodes.slice(labels.type)
    adjacency = data.graph.adjacency()
    y = np.zeros((data.graph.count(labels.type), *labels.values.shape[1:]), np.int64)
    y[labels.known] = labels.values
    peer = peer_seconds(adjacency)
    for way in WAYS:
        if way == "exact" and adjacency.num_rows > LIMIT:
            continue
        x, seconds = make_start(adjacency, way, threads)
        held_out, test = scores(name, x[rows], y, labels.known)
        print(f"| {name} | {adjacency.num_rows:,} | {way} | {held_out} | {test} | {seconds / peer:.1f} |", flush=True)


def report_planted(num_nodes: int, threads: int | None) -> None:
    adjacency, group = planted_graph(num_nodes)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    x, seconds = make_start(adjacency, "propagated", threads)
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**20
    x = StandardScaler().fit_transform(x)
    order = np.random.default_rng(1).permutation(num_nodes)
    test, found = order[-min(5_000, num_nodes // 2) :], []
    for ratio in (0.1, 0.5):
        train = order[: int(ratio * num_nodes)]
        means = np.zeros((group.max() + 1, DIM))
        np.add.at(means, group[train], x[train])
        means /= np.maximum(1, np.bincount(group[train], minlength=len(means)))[:, None]
        nearest = (np.square(means).sum(axis=1) - 2 * x[test] @ means.T).argmin(axis=1)
        found.append(100 * float((nearest == group[test]).mean()))
    ratio = seconds / peer_seconds(adjacency)
    share = " ".join(f"{value:.1f}" for value in found)
    print(f"\nplanted, {num_nodes:,} nodes, {adjacency.nnz // 2:,} edges, {group.max() + 1} groups:")
    print(f"{share} % at 10 and 50 % labeled; time {ratio:.1f}; {seconds:.0f} s here; peak memory +{peak:.2f} GiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="cora,citeseer,wikipedia,email-eu,pubmed,dblp")
    parser.add_argument("--planted", type=int, default=200_000)
    parser.add_argument("--threads", type=int, default=None)
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # nearly converged regressions
    make_start(planted_graph(800)[0], "propagated", given.threads)  # compile
    if given.planted:
        # First, so that its peak memory is its own.
        report_planted(given.planted, given.threads)
    print("\n| data | nodes | way | held out 10 50 90 % | test 10 50 90 % | time / randomized SVD |")
    print("|---|---|---|---|---|---|")
    for name in filter(None, given.data.split(",")):
        report_data(name, given.threads)


if __name__ == "__main__":
    main()
