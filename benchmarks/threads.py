"""Whether the number of threads changes a bit, method by method: python benchmarks/threads.py [METHOD ...]

Each fit is a process of its own: 1, 2 and 3 threads, and None. Methods without a setting for threads have the number of
torch's and BLAS's set by OMP_NUM_THREADS. Prints "same bits", or the largest difference over the largest entry.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

NODES, WIDTH = 2_000, 50
THREADS = (None, 1, 2, 3)
FEWER = {"epochs": 20, "walks": 5, "label_steps": 100, "steps": 200, "layers": 4}


def fit(name: str, threads: int | None, file: Path) -> None:
    import pine
    from pine.datasets import planted_classes

    method = pine.METHODS[name]
    graph, classes = planted_classes(NODES, classes=5)
    rng = np.random.default_rng(0)
    graph = graph.with_features((rng.random((NODES, WIDTH)) < 0.1 + 0.1 * np.eye(5, WIDTH)[classes]).astype(np.float32))
    model = method()
    has = model.get_params()
    model.set_params(**{key: value for key, value in FEWER.items() if key in has})
    if "threads" in has:
        model.set_params(threads=threads)
    model.fit(graph, np.where(rng.random(NODES) < 0.3, classes, -1) if method.supervised else None)
    np.save(file, model.embedding_)


def compare(name: str) -> str:
    """Of all numbers of threads with the first."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for threads in THREADS:
            file = Path(folder) / f"{threads}.npy"
            environment = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
            if threads is not None:
                environment["OMP_NUM_THREADS"] = str(threads)
            command = [sys.executable, __file__, "--file", str(file), "--threads", str(threads or 0), name]
            subprocess.run(command, check=True, env=environment, stderr=subprocess.DEVNULL)
            found.append(np.load(file))
    if all(np.array_equal(found[0], each) for each in found):
        return "same bits"
    return f"{max(abs(found[0] - each).max() for each in found) / abs(found[0]).max():.1e}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="*")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--file", type=Path)
    options = parser.parse_args()
    if options.file:
        fit(options.methods[0], options.threads or None, options.file)
    else:
        import pine

        for name in options.methods or pine.METHODS:
            try:
                print(f"{name:20} {compare(name)}", flush=True)
            except subprocess.CalledProcessError:
                print(f"{name:20} failed", flush=True)
