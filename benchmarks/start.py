"""How good and how fast the start of large graphs is, beside ProNE, Cleora, randomized SVD and spectral embedding.

    python benchmarks/start.py [--planted 20000,200000,2000000] [--data pubmed,dblp,facebook-pages,...] [--star 100000]
                               [--methods "whitened propagation,ProNE,Cleora"] [--threads 2] [--limit 900]

Every method runs in a process and an environment of its own (made once under --cache, by pip), with the same graph from
a file and as many threads, all to 64 dimensions and with their own defaults; what is compiled is warm. Accuracy (micro
F1 for label sets): logistic regression (C = 0.1, standardized), 10 and 50 % of the labels seen; of planted graphs,
20,000 nodes.
"/ faster peer" is the time over that of the faster of ProNE and Cleora; cpu the processor's seconds, which a busy
machine lengthens less; memory the peak above the graph, in arrays of nodes x 64 floats. Data sets come from PINE_DATA.
Planted graphs are those of planted_classes: 50 classes, 51 % of edges inside, lognormal degrees, 10 on average.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler

from pine.datasets import load, planted_classes
from pine.graph.csr import CSR, build_csr
from pine.labels import read_labels

DIM, RATIOS, PLANTED_NODES = 64, (0.1, 0.5), 20_000
SKLEARN = ("scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1")
# What each method's environment has; none: the one that runs this.
PACKAGES: dict[str, tuple[str, ...]] = {
    "whitened propagation": (),
    "ProNE": ("nodevectors==0.1.23", "gensim==4.4.0", "numba==0.68.1", *SKLEARN),
    "Cleora": ("pycleora==3.2.1", *SKLEARN),
    "Cleora embed_fast": ("pycleora==3.2.1", *SKLEARN),
    "randomized SVD": SKLEARN,
    "Spectral": ("scikit-network==0.33.5", *SKLEARN[1:]),
    "node2vec": (),
}
COMPARED = ("ProNE", "Cleora")
Labeled = tuple[CSR, NDArray[np.int64], NDArray[np.int64]]  # adjacency, nodes with labels, their labels


def python_with(packages: tuple[str, ...], cache: Path) -> str:
    """The interpreter of an environment with these packages, made if it is not there."""
    if not packages:
        return sys.executable
    folder = cache / "-".join(package.replace("==", "-") for package in packages)
    python, done = folder / "bin" / "python", folder / "installed"
    if not done.exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
        done.touch()
    return str(python)


def run(name: str, folder: Path, graph: str, given: argparse.Namespace) -> tuple[NDArray[Any] | None, dict[str, float]]:
    """A method's vectors of a graph in the folder and what they took; nothing if it failed or took too long."""
    threads = str(given.threads)
    limits = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS"), threads
    )
    paths = [str(folder / file) for file in (f"{graph}.npz", "tiny.npz", "out.npy")]
    script = str(Path(__file__).with_name("start_peers.py"))
    command = [python_with(PACKAGES[name], given.cache), script, name, *paths, threads]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=given.limit, env=os.environ | limits)
    except subprocess.TimeoutExpired:
        return None, {}
    if done.returncode != 0:
        print(done.stderr[-2000:], file=sys.stderr)
        return None, {}
    return np.load(paths[-1]), json.loads(done.stdout.splitlines()[-1])


def score(x: NDArray[Any], y: NDArray[Any], most: int | None) -> str:
    """At both ratios; the same nodes for every method."""
    order = np.random.default_rng(1).permutation(len(y))[:most]
    x, y, found = x[order], y[order], []
    for ratio in RATIOS:
        count = int(ratio * len(order))
        scaled = StandardScaler().fit(x[:count]).transform(x)
        regression = LogisticRegression(C=0.1, max_iter=100)
        model = regression if y.ndim == 1 else OneVsRestClassifier(regression)
        predicted, truth = model.fit(scaled[:count], y[:count]).predict(scaled[count:]), y[count:]
        right = (predicted == truth).mean() if y.ndim == 1 else f1_score(truth, predicted, average="micro")
        found.append(f"{right:.3f}")
    return " ".join(found)


def dataset(name: str) -> Labeled:
    """From the catalog."""
    data = load(name)
    labels = read_labels(data.graph, data.labels)
    assert labels is not None
    return data.graph.links(), data.graph.nodes.slice(labels.type).start + labels.known, labels.values


def planted(num_nodes: int) -> Labeled:
    graph, y = planted_classes(num_nodes)
    return graph.links(), np.arange(num_nodes), y


def star(leaves: int) -> CSR:
    return build_csr(np.zeros(leaves, np.int64), np.arange(1, leaves + 1), None, (leaves + 1, leaves + 1), mirror=True)


def report(
    graph: str, adjacency: CSR, labeled: Labeled | None, methods: list[str], folder: Path, given: argparse.Namespace
) -> None:
    sp.save_npz(folder / f"{graph}.npz", adjacency.to_scipy(), compressed=False)
    rows, seconds = [], {}
    for name in methods:
        x, spent = run(name, folder, graph, given)
        if x is None:
            rows.append((name, f"| {graph} | {name} | failed, or over {given.limit} s | | | | |"))
            continue
        seconds[name] = spent["seconds"]
        scores = (
            ""
            if labeled is None
            else score(x[labeled[1]], labeled[2], PLANTED_NODES if graph.startswith("planted") else None)
        )
        memory = f"{spent['peak'] / (4 * x.size):.1f}"
        row = f"| {graph} | {name} | {scores} | {spent['seconds']:.2f} | {spent['cpu']:.2f} | {{ratio}} | {memory} |"
        rows.append((name, row))
    fastest = min((seconds[name] for name in COMPARED if name in seconds), default=np.nan)
    for name, row in rows:
        print(row.format(ratio=f"{seconds.get(name, np.nan) / fastest:.2f}"), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--planted", default="20000,200000,2000000")
    parser.add_argument("--data", default="pubmed,dblp,facebook-pages,blogcatalog-hetero-standin")
    parser.add_argument("--star", type=int, default=100_000)
    parser.add_argument("--methods", default=",".join(PACKAGES))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=int, default=900, help="seconds that a method may take on a graph")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "pine-embedding" / "benchmarks")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # nearly converged regressions
    print("| graph | method | accuracy at 10 50 % | seconds | cpu | / faster peer | memory |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        folder, methods = Path(place), given.methods.split(",")
        sp.save_npz(folder / "tiny.npz", planted_classes(1000)[0].links().to_scipy())
        if given.star:
            report(f"star-{given.star}", star(given.star), None, methods[:1], folder, given)
        for name in filter(None, given.data.split(",")):
            labeled = dataset(name)
            report(name, labeled[0], labeled, methods, folder, given)
        for nodes in filter(None, given.planted.split(",")):
            labeled = planted(int(nodes))
            report(f"planted-{nodes}", labeled[0], labeled, methods, folder, given)


if __name__ == "__main__":
    main()
