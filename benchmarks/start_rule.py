"""Which start for graphs of which size: NetMF, whitened propagation, or half the columns of each.

    python benchmarks/start_rule.py [--data cora,...] [--planted 4000,8000,20000] [--ratios .1,.5] [--splits 5]
                                    [--device auto] [--processes 1]

Accuracy on a fifth of the training labels that is held out, never on test nodes: of PINE untrained (logistic regression
on the start, no share of labels) and of PINE trained. NetMF is dense: above 10,000 nodes it wants a GPU or patience.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections import defaultdict
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from ablation import labeled

import pine.model.fitting
import pine.model.init.start as start_module
from pine import PINE
from pine.evaluation.protocol import hide, split

STARTS = ("NetMF", "half and half", "propagation")
structural_start = start_module.structural_start


def start_of(kind: str, adjacency: Any, dim: int, rng: np.random.Generator, **given: Any) -> Any:
    if kind == "half and half":
        halves = [start_of(one, adjacency, dim // 2, rng, **given) for one in ("NetMF", "propagation")]
        return np.concatenate(halves, axis=1)
    with patch.object(start_module, "EXACT_NODES", 10**9 if kind == "NetMF" else 0):
        return structural_start(adjacency, dim, rng, **given)


def score(job: tuple[str, float, int, str], device: str) -> tuple[str, float, str, float, float]:
    name, ratio, repeat, kind = job
    graph, labels = labeled(name)
    train = split(name, labels.known, ratio, repeat).train
    held, kept = np.split(np.random.default_rng(repeat).permutation(train), [len(train) // 5])
    seen = hide(labels, kept, graph.num_nodes)
    found = []
    with patch.object(pine.model.fitting, "structural_start", partial(start_of, kind)):
        for epochs in (0, 150):
            model = PINE(epochs=epochs, label_share=0.0, device=device, seed=repeat).fit(graph, seen)
            found.append(100 * float((model.predict() == labels.values)[held].mean()))
    return name, ratio, kind, found[0], found[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="email-eu,wikipedia,cora,citeseer,pubmed,facebook-pages")
    parser.add_argument("--planted", default="4000,8000,20000")
    parser.add_argument("--ratios", default=".1,.5")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    graphs = [*filter(None, given.data.split(","))]
    graphs += [f"lognormal-planted-{size}" for size in filter(None, given.planted.split(","))]
    jobs = [
        (name, ratio, repeat, kind)
        for repeat in range(given.splits)
        for name in reversed(graphs)
        for ratio in map(float, given.ratios.split(","))
        for kind in STARTS
    ]
    cells: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    with multiprocessing.get_context("spawn").Pool(given.processes) as pool:
        for name, _, kind, *both in pool.imap_unordered(partial(score, device=given.device), jobs):
            cells[name, kind].append((both[0], both[1]))
    print("| graph | nodes | " + " | ".join(f"{kind}: start, trained" for kind in STARTS) + " |")
    print("|---" * (2 + len(STARTS)) + "|")
    for name in graphs:
        means = [np.mean(cells[name, kind], axis=0) for kind in STARTS]
        shown = " | ".join(f"{start:.1f}, {trained:.1f}" for start, trained in means)
        print(f"| {name} | {labeled(name)[0].num_nodes:,} | {shown} |")


if __name__ == "__main__":
    main()
