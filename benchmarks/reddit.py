"""The experiment on Reddit, on a generated graph of its size and shape: seconds an epoch and peak memory.

    python benchmarks/reddit.py make FOLDER [--scale 1]
    python benchmarks/reddit.py time FOLDER [--device cuda] [--epochs 3] [--specs SPEC,...]

make: files of the published form, FOLDER/reddit/: 232,965 posts, 57.3 million edges listed in both directions, 602
attributes, 41 classes. Posts are in planted groups, one a class: 70 % of the edges stay within a group, hubs have
most of them, attributes are Gaussian around a center of the group, and 95 % of the labels are the group. --scale .01
makes a hundredth of the posts, with as many edges each.
time: the files are read and the networks of `pine reproduce reddit` trained for some epochs on them, one after
another. An epoch is a pass over the training posts and a judgement on the validation posts. Memory is what PyTorch
held on the GPU at most, and what the process held at most from its beginning on.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch

from pine.datasets import Dataset, load
from pine.evaluation.specs import with_settings
from pine.labels import Labels, read_labels
from pine.reproduce.catalog import find
from pine.reproduce.inductive.run import learn
from pine.reproduce.inductive.settings import Setting, parse

POSTS, EDGES, ATTRIBUTES, GROUPS = 232_965, 57_307_946, 602, 41
TRAIN, VAL = 0.66, 0.10  # Reddit has 153,431, 23,831 and 55,703 posts
WITHIN, RIGHT, CENTER = 0.7, 0.95, 0.1


def make(folder: Path, scale: float) -> None:
    """Write both files."""
    rng = np.random.default_rng(0)
    count, wanted = int(POSTS * scale), int(EDGES * scale)
    group = np.sort(rng.integers(GROUPS, size=count))
    row, col = edges(group, wanted, rng)
    label = np.where(rng.random(count) < RIGHT, group, rng.integers(GROUPS, size=count))
    center = CENTER * rng.standard_normal((GROUPS, ATTRIBUTES), dtype=np.float32)
    feature = center[group] + rng.standard_normal((count, ATTRIBUTES), dtype=np.float32)
    node_types = 1 + np.searchsorted([TRAIN, TRAIN + VAL], rng.random(count))
    where = folder / "reddit"
    where.mkdir(parents=True, exist_ok=True)
    np.savez(where / "reddit_data.npz", feature=feature, label=label, node_types=node_types)
    both = (np.concatenate([row, col]), np.concatenate([col, row]))
    matrix = sp.coo_matrix((np.ones(2 * wanted, np.int8), both), shape=(count, count))
    sp.save_npz(where / "reddit_graph.npz", matrix, compressed=False)


def edges(group: np.ndarray, wanted: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """So many different pairs of posts; group is ascending."""
    count = len(group)
    total = np.concatenate([[0.0], np.cumsum(rng.lognormal(sigma=1.0, size=count))])  # posts are drawn by weight
    begins = np.searchsorted(group, np.arange(GROUPS + 1))
    kept = np.empty(0, np.int64)
    while len(kept) < wanted:
        size = int(1.2 * (wanted - len(kept))) + 1000
        u = drawn(total, rng.random(size))
        inside = rng.random(size) < WITHIN
        lo = np.where(inside, total[begins[group[u]]], 0.0)
        hi = np.where(inside, total[begins[group[u] + 1]], total[-1])
        v = drawn(total, (lo + (hi - lo) * rng.random(size)) / total[-1])
        keys = np.minimum(u, v) * count + np.maximum(u, v)
        kept = torch.unique(torch.from_numpy(np.concatenate([kept, keys[u != v]]))).numpy()
    kept = rng.permutation(kept)[:wanted]
    return (kept // count).astype(np.int32), (kept % count).astype(np.int32)


def drawn(total: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The posts in which shares of the whole weight fall."""
    return np.clip(np.searchsorted(total, at * total[-1], side="right") - 1, 0, len(total) - 2)


def timed(folder: Path, device: str, epochs: int, specs: list[str]) -> None:
    """Read the files, train, and print a line for each network."""
    begin = time.perf_counter()
    data = load("reddit", folder)
    labels = read_labels(data.graph, data.labels)
    print(f"{data.graph}: read in {time.perf_counter() - begin:.0f} s")
    print("| network | s an epoch | s in all | GiB on the GPU | GiB of the process | validation | test |")
    print("|---|---|---|---|---|---|---|")
    for spec in specs:
        print(line(spec, parse(with_settings(spec, [f"epochs={epochs}"])), data, labels, device), flush=True)


def line(spec: str, setting: Setting, data: Dataset, labels: Labels, device: str) -> str:
    """Train one network, and say what it took."""
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    ends: list[float] = []
    begin = time.perf_counter()
    found = learn(setting, data, labels, 0, device, on_epoch=lambda *_: ends.append(time.perf_counter()))
    took, epoch = time.perf_counter() - begin, np.median(np.diff(ends))
    gpu = torch.cuda.max_memory_allocated() / 2**30 if torch.cuda.is_available() else 0
    process = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    scores = f"{found.validation:.3f} | {found.test:.3f}"
    return f"| `{spec}` | {epoch:.2f} | {took:.0f} | {gpu:.1f} | {process:.1f} | {scores} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    making, timing = commands.add_parser("make"), commands.add_parser("time")
    for each in (making, timing):
        each.add_argument("folder", type=Path)
    making.add_argument("--scale", type=float, default=1.0)
    timing.add_argument("--device", default="auto")
    timing.add_argument("--epochs", type=int, default=3)
    timing.add_argument("--specs", default=",".join(method.spec for method in find("reddit").methods))
    asked = parser.parse_args()
    if asked.command == "make":
        make(asked.folder, asked.scale)
    else:
        timed(asked.folder, asked.device, asked.epochs, asked.specs.split(","))


if __name__ == "__main__":
    main()
