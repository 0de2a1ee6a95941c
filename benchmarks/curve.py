"""Accuracy against seconds on planted graphs: PINE from its start to all epochs, and the tools people take instead.

    python benchmarks/curve.py [--sizes 20000,200000,2000000] [--threads 2] [--limit 600]
                               [--kept benchmarks/curve.jsonl] [--figure benchmarks/curve.png]
    python benchmarks/curve.py --fit 200000 default --device cuda

The graphs are those of start.py: 50 classes, 51 % of edges inside, lognormal degrees, 10 on average; 10 % of the labels
are known, accuracy is that of 20,000 other nodes. PINE's seconds are those of a whole fit with labels, choices and
predictions included, from the start alone (0 epochs) to its default. Of the others, and of PINE's start ("whitened
propagation"), the vectors alone are timed; what follows, logistic regression on standardized vectors with all known
labels (C = .1 or 1, the better of the two at the test nodes, which is in their favor), is not. Each runs in a process
and an environment of its own, with as many threads; compiled code is warm. What is done is kept in a file, and not done
again.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import scipy.sparse as sp
from matplotlib import pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from start import PACKAGES, run

from pine import PINE
from pine.datasets import planted_classes
from pine.plots import COLORS
from pine.reproduce.figures.style import MARKERS

KNOWN, TEST_NODES = 0.1, 20_000
START = "whitened propagation"
PEERS = (START, "ProNE", "Cleora", "Cleora embed_fast", "randomized SVD", "Spectral", "node2vec")
LARGEST = {"node2vec": 20_000, "Spectral": 200_000}
EPOCHS: dict[int, tuple[int | None, ...]] = {20_000: (0, 20, 50, None), 200_000: (0, 10, None), 2_000_000: (0, None)}


def labels_of(size: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Classes, the nodes whose class is known, and those that are scored."""
    truth = planted_classes(size)[1]
    order = np.random.default_rng(1).permutation(size)
    count = round(KNOWN * size)
    return truth, order[:count], order[count : count + TEST_NODES]


def regressed(x: NDArray[Any], truth: NDArray[Any], known: NDArray[Any], test: NDArray[Any]) -> float:
    """The accuracy of logistic regression."""
    scaled = StandardScaler().fit(x[known]).transform(x).astype(np.float32)
    found = [LogisticRegression(C=C, max_iter=60).fit(scaled[known], truth[known]).score(scaled[test], truth[test])
             for C in (0.1, 1.0)]  # fmt: skip
    return float(max(found))


def fit_pine(size: int, epochs: int | None, threads: int, device: str) -> dict[str, float]:
    """One fit, in this process."""
    (graph, _), (truth, known, test) = planted_classes(size), labels_of(size)
    seen = np.full(size, -1)
    seen[known] = truth[known]
    PINE(epochs=1, threads=threads, device=device).fit(*planted_classes(5000))  # compiles
    graph.links()
    if device != "cpu":
        PINE(epochs=epochs, threads=threads, device=device).fit(graph, seen)  # compiles for sizes as these
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter(), time.process_time()
    model = PINE(epochs=epochs, threads=threads, device=device).fit(graph, seen)
    predicted = model.predict()
    spent = time.perf_counter() - begin[0], time.process_time() - begin[1]
    peak = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    choice = model.learned_.choice
    right = predicted == truth
    found = {"accuracy": float(right[test].mean()), "of all hidden": float(right[seen < 0].mean())}
    return {**found, "seconds": spent[0], "cpu": spent[1], "peak": peak, "trained": choice.epochs}


def measured(size: int, name: str, given: argparse.Namespace) -> dict[str, Any]:
    """A point of the curve."""
    if name.startswith("PINE"):
        what = ["--fit", str(size), name.partition(" ")[2], "--threads", str(given.threads)]
        command = [sys.executable, __file__, *what]
        limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(given.threads))
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | limits)
        if done.returncode:
            raise SystemExit(done.stderr[-2000:])
        return dict(json.loads(done.stdout.splitlines()[-1]))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        sp.save_npz(folder / "tiny.npz", planted_classes(1000)[0].links().to_scipy())
        sp.save_npz(folder / "graph.npz", planted_classes(size)[0].links().to_scipy(), compressed=False)
        x, spent = run(name, folder, "graph", given)
    return {} if x is None else {"accuracy": regressed(x, *labels_of(size)), **spent}


def is_ours(name: str) -> bool:
    return name == START or name.startswith("PINE")


def draw(points: list[dict[str, Any]], file: Path) -> None:
    """A panel a size; PINE's points are joined, the others in the order of their best. Below .5 nothing is drawn."""
    points = [p for p in points if p.get("accuracy", 0) > 0.5]
    mpl.use("Agg")
    sizes = sorted({point["size"] for point in points})
    figure, panels = plt.subplots(1, len(sizes), figsize=(3.8 * len(sizes), 3.6), squeeze=False, sharey=True)
    best = {p["name"]: p["accuracy"] for p in sorted(points, key=lambda p: p["accuracy"]) if not is_ours(p["name"])}
    peers = sorted(best, key=lambda name: -best[name])
    looks = dict(zip(peers, zip(COLORS[1:], MARKERS[1:], strict=False), strict=False))
    for panel, size in zip(panels[0], sizes, strict=True):
        here = [p for p in points if p["size"] == size]
        ours = sorted((p["seconds"], p["accuracy"]) for p in here if is_ours(p["name"]))
        panel.plot(*zip(*ours, strict=True), "o-", color=COLORS[0], label="PINE, from its start to all epochs")
        for p in here:
            if not is_ours(p["name"]):
                color, marker = looks[p["name"]]
                panel.plot(p["seconds"], p["accuracy"], marker, color=color, label=p["name"])
        panel.set_xscale("log")
        panel.set_title(f"{size:,} nodes, {5 * size:,} edges")
        panel.set_xlabel("seconds, 2 threads")
        panel.grid(alpha=0.3)
        panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.xaxis.set_major_formatter(FuncFormatter(lambda seconds, _: f"{seconds:g}"))
        panel.xaxis.set_minor_formatter(NullFormatter())
    panels[0][0].set_ylabel("accuracy, 10 % of labels known")
    panels[0][0].set_ylim(bottom=max(0.0, min(p["accuracy"] for p in points) - 0.02))
    handles: dict[str, Any] = {}
    for panel in panels[0]:
        handles |= dict(zip(*panel.get_legend_handles_labels()[::-1], strict=True))
    figure.tight_layout(rect=(0, 0.1, 1, 1))
    order = sorted(handles, key=lambda name: peers.index(name) if name in peers else -1)
    figure.legend([handles[name] for name in order], order, loc="lower center", ncols=len(handles), fontsize=9)
    figure.savefig(file, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="20000,200000,2000000")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=int, default=600, help="seconds that a method may take on a graph")
    parser.add_argument("--kept", type=Path, default=Path(__file__).with_suffix(".jsonl"))
    parser.add_argument("--figure", type=Path, default=Path(__file__).with_suffix(".png"))
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "pine-embedding" / "benchmarks")
    parser.add_argument("--fit", nargs=2, metavar=("SIZE", "EPOCHS"), help="one fit, in this process")
    parser.add_argument("--device", default="cpu", help="of --fit")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # nearly converged regressions
    if given.fit:
        size, epochs = int(given.fit[0]), None if given.fit[1] == "default" else int(given.fit[1])
        print(json.dumps(fit_pine(size, epochs, given.threads, given.device)))
        return
    points = [json.loads(line) for line in given.kept.read_text().splitlines()] if given.kept.exists() else []
    for size in map(int, given.sizes.split(",")):
        ours = [f"PINE {'default' if epochs is None else epochs}" for epochs in EPOCHS.get(size, (0, None))]
        peers = [name for name in PEERS if size <= LARGEST.get(name, size) and name in PACKAGES]
        for name in [*ours, *peers]:
            if not any((p["size"], p["name"]) == (size, name) for p in points):
                points.append({"size": size, "name": name, **measured(size, name, given)})
                with given.kept.open("a") as file:
                    print(json.dumps(points[-1]), file=file)
    print("| nodes | | accuracy | seconds | of the processor | memory above the graph, GB |\n|---|---|---|---|---|---|")
    for p in points:
        if "accuracy" in p:
            shown = f"{p['accuracy']:.3f} | {p['seconds']:.1f} | {p['cpu']:.1f} | {p['peak'] / 1e9:.2f}"
        else:
            shown = f"failed, or over {given.limit} s | | |"
        print(f"| {p['size']:,} | {p['name']} | {shown} |")
    draw(points, given.figure)


if __name__ == "__main__":
    main()
