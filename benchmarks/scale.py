"""What scale costs, in seconds by nodes and entries: python benchmarks/scale.py

    python benchmarks/scale.py [--nodes 20000,100000] [--edges 2,5,20] [--device cpu] [--threads 1]

A round of the start, an epoch, the scores of all nodes and a round of propagated labels, medians, on planted graphs of
so many nodes and edges a node; on a CPU seconds of the processor, which other work disturbs less. Each graph is a line
of scale.jsonl, which takes the place of an earlier one of its size; without --nodes nothing is measured. All lines of
the device are then fitted, with the smallest sum of squared relative errors and no constant below 0:

    seconds = once + a node * nodes + an entry * entries          (an undirected edge is two entries)

and stand beside what this predicts, those of the most nodes also beside a fit to the graphs with fewer nodes.
"""

from __future__ import annotations

import argparse
import importlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
from numpy.typing import NDArray
from planted import as_graph, planted_graph
from scipy.optimize import nnls

from pine import PINE, Graph
from pine.graph import NODE
from pine.nn.threads import sleeping_threads
from pine.propagation import SHARE_ROUNDS, LabelPropagator

KEPT = Path(__file__).with_name("scale.jsonl")
CLASSES, KNOWN = 10, 0.1
WORKS = ("a round of the start", "an epoch", "scores", "a round of labels")
ROUNDS, EPOCHS, REPEATS = 5, 3, 3  # that are timed, after one that is not
D, L = PINE().dim, PINE().function.hidden
propagation = importlib.import_module("pine.model.init.whitened_propagation")
training = importlib.import_module("pine.model.training")


def measured(graph: Graph, truth: NDArray[np.int64], device: str, threads: int) -> dict[str, float]:
    """Median seconds of each work."""
    seen = np.where(np.random.default_rng(0).random(len(truth)) < KNOWN, truth, -1)
    found = {"a round of the start": _rounds(graph, device, threads)}
    epochs: list[float] = []
    scores: list[float] = []
    train = training.train

    def timed_train(objective: Any, schedule: Any, generator: Any, **_: Any) -> Any:
        history = train(objective, schedule, generator, on_epoch=lambda _: epochs.append(now(device)))
        scores.extend(seconds_of(objective.predictions, device) for _ in range(REPEATS + 1))
        return history

    model = PINE(device=device, threads=threads, epochs=EPOCHS + 1, label_share=0.0, lam=10.0)
    with mock.patch.object(training, "train", timed_train):
        model.set_params(start="random").fit(graph, seen)
    found["an epoch"] = float(np.median(np.diff(epochs)[1:]))
    found["scores"] = float(np.median(scores[1:]))
    known = np.flatnonzero(seen >= 0)
    targets = np.eye(CLASSES)[seen[known]]
    with sleeping_threads(threads):
        propagator = LabelPropagator(graph, NODE, device, threads)
        times = [seconds_of(lambda: propagator.propagate(known, targets), device) for _ in range(REPEATS + 1)]
    return found | {"a round of labels": float(np.median(times[1:])) / SHARE_ROUNDS}


def _rounds(graph: Graph, device: str, threads: int) -> float:
    """Every round ends with the inverse root of a covariance, on the host."""
    stamps: list[float] = []
    root = propagation.inverse_root

    def stamped(covariance: NDArray[np.float64]) -> Any:
        stamps.append(now(device))
        return root(covariance)

    links, rng = graph.links(), np.random.default_rng(0)
    with (
        mock.patch.object(propagation, "inverse_root", stamped),
        mock.patch.object(propagation, "ROUNDS", ROUNDS + 1),
    ):
        propagation.whitened_propagation(links, links.strengths(), D, rng, threads=threads, device=device)
    return float(np.median(np.diff(stamps)))


def now(device: str) -> float:
    if device == "cpu":
        return time.process_time()
    torch.cuda.synchronize()
    return time.perf_counter()


def seconds_of(work: Callable[[], Any], device: str) -> float:
    begin = now(device)
    work()
    return now(device) - begin


def fitted(lines: list[dict[str, Any]], work: str) -> NDArray[np.float64]:
    """Seconds once, a node, an entry: (3,), none below 0."""
    terms = np.array([[1.0, line["nodes"], line["entries"]] for line in lines])
    seconds = np.array([line[work] for line in lines])
    found: NDArray[np.float64] = nnls(terms / seconds[:, None], np.ones(len(lines)))[0]
    return found


def predicted(constants: NDArray[np.float64], nodes: float, entries: float) -> float:
    return float(constants @ [1.0, nodes, entries])


def kept_lines(device: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []
    return [line for line in lines if line["device"] == device]


def keep(line: dict[str, Any]) -> None:
    """In the place of an earlier line of its size."""
    names = ("device", "nodes", "edges a node")
    lines = [json.loads(each) for each in KEPT.read_text().splitlines()] if KEPT.exists() else []
    lines = [each for each in lines if any(each[name] != line[name] for name in names)]
    lines.append(line)
    lines.sort(key=lambda each: [each[name] for name in names])
    KEPT.write_text("".join(json.dumps(each) + "\n" for each in lines))


def report(given: argparse.Namespace) -> None:
    for nodes in map(int, given.nodes.split(",") if given.nodes else ()):
        for edges in map(int, given.edges.split(",")):
            adjacency, truth = planted_graph(nodes, groups=CLASSES, edges=edges)
            size = {"device": given.device, "nodes": nodes, "edges a node": edges, "entries": adjacency.nnz}
            seconds = measured(as_graph(adjacency), truth, given.device, given.threads)
            keep(size | {"threads": given.threads} | {name: float(f"{each:.4g}") for name, each in seconds.items()})
    lines = kept_lines(given.device)
    most = max(line["nodes"] for line in lines)
    fits = {work: fitted(lines, work) for work in WORKS}
    print("| nodes | entries |" + "".join(f" {work}: measured, predicted |" for work in WORKS))
    print("|---" * (2 + len(WORKS)) + "|")
    for line in lines:
        pairs = [f"{line[work]:.3g}, {predicted(fits[work], line['nodes'], line['entries']):.3g}" for work in WORKS]
        print(f"| {line['nodes']:,} | {line['entries']:,} | " + " | ".join(pairs) + " |")
    print(f"\n| seconds of | once, ms | a node, ns | an entry, ns | most off | {most:,} nodes by fewer / measured |")
    print("|---" * 6 + "|")
    for work, constants in fits.items():
        off = max(abs(predicted(constants, line["nodes"], line["entries"]) / line[work] - 1) for line in lines)
        fewer = [line for line in lines if line["nodes"] < most]
        at_most = [line for line in lines if line["nodes"] == most and len(fewer) >= len(constants)]
        ratios = [predicted(fitted(fewer, work), most, line["entries"]) / line[work] for line in at_most]
        once, node, entry = (constants * [1e3, 1e9, 1e9]).tolist()
        cells = f"{once:.3g} | {node:.3g} | {entry:.3g} | {off:.0%} | " + " ".join(f"{each:.2f}" for each in ratios)
        print(f"| {work} | {cells} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", default="")
    parser.add_argument("--edges", default="2,5,20")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    report(parser.parse_args())
