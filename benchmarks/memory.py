"""Peak memory of fits, each in a process of its own, beside what pine.model.needs counts: python benchmarks/memory.py

python benchmarks/memory.py [--most-nodes 200000] [--device cpu]    a table: case, measured, counted, their quotient

With --device cuda the memory of the GPU, which nobody else may use meanwhile: the most that PyTorch held, and what lies
there beside it (CUDA itself, its libraries and kernels); and that of the host.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

CASES = ("plain", "features", "typed", "unlabeled", "quick")
SIZES = (1_000, 20_000, 200_000, 1_000_000)
LARGEST_ALL = 200_000  # nodes; above it the plain case alone


def measured(kind: str, nodes: int, device: str = "cpu") -> dict[str, Any]:
    """A case in a process of its own: bytes measured and counted."""
    command = [sys.executable, __file__, "--kind", kind, "--nodes", str(nodes), "--device", device]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def cases(most: int) -> Iterator[tuple[str, int]]:
    for nodes in SIZES:
        if nodes <= most:
            yield from ((kind, nodes) for kind in CASES if kind == "plain" or nodes <= LARGEST_ALL)


def fit(kind: str, nodes: int, device: str) -> dict[str, Any]:
    """Fit, then say what the process held at its peak, on the host or on the GPU."""
    import pine
    from pine.datasets import planted_classes
    from pine.model.needs import memory_needed

    rng = np.random.default_rng(0)
    graph, classes = planted_classes(nodes)
    labels: Any = np.where(rng.random(nodes) < 0.1, classes, -1)
    if kind == "features":
        graph = graph.with_features(rng.standard_normal((nodes, 100), np.float32))
    if kind == "typed":
        half = nodes // 2
        sides = {("a", "knows", "a"): (half, half), ("a", "has", "b"): (half, half)}
        edges = {name: rng.integers(0, ends, (5 * half, 2)) for name, ends in sides.items()}
        graph = pine.Graph.from_relations(edges, nodes={"a": np.arange(half), "b": np.arange(half)})
        labels = {"a": labels[:half]}
    # Five epochs hold what 150 do.
    model = pine.PINE(threads=1, epochs=0 if kind == "quick" else 5, device=device)
    model.fit(graph, None if kind == "unlabeled" else labels)
    outputs = None if model.labels_ is None else model.labels_.num_outputs
    need = memory_needed(model, graph, outputs)
    if device == "cpu":
        return {"measured": _peak(), "counted": need.host}
    return {
        "measured": _gpu_peak(),
        "counted": need.gpu,
        "measured on the host": _peak(),
        "counted on the host": need.host,
    }


def _peak() -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def _gpu_peak() -> int:
    import torch

    free, total = torch.cuda.mem_get_info()
    return total - free - torch.cuda.memory_reserved() + torch.cuda.max_memory_reserved()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most-nodes", type=int, default=LARGEST_ALL)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--kind", choices=CASES)
    parser.add_argument("--nodes", type=int)
    options = parser.parse_args()
    if options.kind:
        print(json.dumps(fit(options.kind, options.nodes, options.device)))
    else:
        print(f"{'case':10} {'nodes':>9} {'measured':>9} {'counted':>9} {'quotient':>8}")
        for kind, nodes in cases(options.most_nodes):
            found = measured(kind, nodes, options.device)
            for where in ("", " on the host"):
                if f"measured{where}" in found:
                    theirs, ours = found[f"measured{where}"], found[f"counted{where}"]
                    cells = f"{theirs / 1e6:6.0f} MB {ours / 1e6:6.0f} MB {ours / theirs:8.2f}"
                    print(f"{kind:10} {nodes:9,} {cells}{where}", flush=True)
