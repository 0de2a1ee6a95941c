"""How long and how much memory a csv of 10M edges over 1M ids needs to become a Graph, beside pyarrow reading the file.

    python benchmarks/reading.py [--edges 10000000] [--nodes 1000000] [--rounds 5]

Each measurement runs in a process of its own with warm compiled kernels; the two readers take turns, and the ratio is
that of the medians. Peak memory is the growth of the resident set over its size before reading.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

MEASURE = """
import json, resource, sys, threading, time
import pyarrow.csv
from pine import Graph
reader, path, warm = sys.argv[1:]
if reader == "graph":
    Graph.from_edges(warm)
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
before = resident()
# The peak is reset, so that it speaks of this read alone.
open("/proc/self/clear_refs", "w").write("5")
start = time.perf_counter()
result = pyarrow.csv.read_csv(path) if reader == "pyarrow" else Graph.from_edges(path)
seconds = time.perf_counter() - start
peak = next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps({"seconds": seconds, "peak": peak - before, "size": result.nbytes}))
"""
LIMITS = {"integers": 4, "scattered integers": 4, "strings": 8}


def write_files(folder: Path, edges: int, nodes: int) -> dict[str, Path]:
    """Write the same random graph with ids of three kinds."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv

    rng = np.random.default_rng(0)
    ends = rng.integers(0, nodes, (edges, 2))
    kinds = {
        "integers": pa.array(np.arange(nodes)),
        "scattered integers": pa.array(rng.integers(0, 2**62, nodes)),
        "strings": pa.array([f"user_{i:x}" for i in rng.integers(0, 2**40, nodes)]),
    }
    paths = {}
    for kind, ids in kinds.items():
        paths[kind] = folder / f"{kind.replace(' ', '-')}-{edges}.csv"
        columns = {"source": ids.take(pa.array(ends[:, 0])), "target": ids.take(pa.array(ends[:, 1]))}
        pa.csv.write_csv(pa.table(columns), paths[kind])
    return paths


def measure(reader: str, path: Path, warm: Path) -> dict[str, float]:
    """Read a file once in a fresh process."""
    command = [sys.executable, "-c", MEASURE, reader, str(path), str(warm)]
    answer: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return answer


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--edges", type=int, default=10_000_000)
    options.add_argument("--nodes", type=int, default=1_000_000)
    options.add_argument("--rounds", type=int, default=5)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        paths = write_files(Path(folder), given.edges, given.nodes)
        small = write_files(Path(folder), 1000, 100)
        print(f"{given.edges:,} edges, {given.nodes:,} ids; medians of {given.rounds} runs")
        print()
        print("| ids | time / pyarrow's (limit) | peak memory / size of the Graph (limit 6) |")
        print("|---|---|---|")
        for kind, path in paths.items():
            runs: dict[str, list[dict[str, float]]] = {"pyarrow": [], "graph": []}
            for _ in range(given.rounds):
                for reader, done in runs.items():
                    done.append(measure(reader, path, small[kind]))
            seconds = {reader: statistics.median(run["seconds"] for run in done) for reader, done in runs.items()}
            memory = statistics.median(run["peak"] / run["size"] for run in runs["graph"])
            ratio = seconds["graph"] / seconds["pyarrow"]
            print(f"| {kind} | {ratio:.1f} ({LIMITS[kind]}) | {memory:.1f} |")


if __name__ == "__main__":
    main()
