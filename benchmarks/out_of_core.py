"""A graph whose fit needs many times the memory that there is: python benchmarks/out_of_core.py

python benchmarks/out_of_core.py [--nodes 1000000] [--times 10] [--epochs N] [--folder FOLDER]

A planted graph as a Parquet file, a tenth of its labels known, fitted in processes of their own: as always, and with
mmap_dir within a hard limit. The limit is what a fit of 1,000 nodes holds, Python and libraries, and a tenth (--times)
of what the first fit held beyond that. It is that of a control group where one can be made, which counts cached files
too, else RLIMIT_DATA.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

LABELED, SMALL = 0.1, 1_000
# Where control groups are: the file of the limit and that of the highest usage.
GROUPS = {
    Path("/sys/fs/cgroup/memory"): ("memory.limit_in_bytes", "memory.max_usage_in_bytes"),
    Path("/sys/fs/cgroup"): ("memory.max", "memory.peak"),
}


@contextlib.contextmanager
def limited(size: int) -> Iterator[tuple[Path | None, str]]:
    """A control group with a limit, if one can be made: its folder and the file that tells its peak."""
    for top, (limit, peak) in GROUPS.items():
        group = top / f"pine-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / limit).write_text(str(size))
            yield group, peak
            return
        except OSError:
            continue
        finally:
            time.sleep(1)  # until the process in it is gone
            with contextlib.suppress(OSError):
                group.rmdir()
    yield None, ""


def write(nodes: int, folder: Path) -> None:
    """The edges as Parquet, the classes and which are known as npy."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from pine.datasets import planted_classes

    graph, classes = planted_classes(nodes)
    links = graph.links()
    rows = links.rows()
    once = rows < links.indices
    order = np.random.default_rng(1).permutation(int(once.sum()))  # not in the order of rows, as files are not
    pairs = {"source": rows[once][order], "target": links.indices[once][order]}
    pq.write_table(pa.table(pairs), folder / "edges.parquet", row_group_size=1 << 20)
    known = np.random.default_rng(0).random(nodes) < LABELED
    np.save(folder / "classes.npy", classes)
    np.save(folder / "known.npy", known)


def fit(folder: Path, nodes: int, epochs: int | None, group: Path | None, limit: int | None, mapped: bool) -> None:
    """In a process of its own: read, fit, say how it went."""
    if group is not None:
        (group / "cgroup.procs").write_text(str(os.getpid()))
    elif limit is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    import pine

    classes, known = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("classes", "known"))
    began = time.perf_counter()
    place = folder / "arrays" if mapped else None
    graph = pine.Graph.from_edges(folder / "edges.parquet", nodes=range(nodes), mmap_dir=place)
    read = time.perf_counter() - began
    model = pine.PINE(threads=2, epochs=epochs).fit(graph, np.where(known, classes, -1), mmap_dir=place)
    hidden = ~known
    found = {
        "accuracy": float((model.predict()[hidden] == classes[hidden]).mean()),
        "chosen": model.choice_,
        "seconds of reading": round(read, 1),
        "seconds": round(time.perf_counter() - began, 1),
        "peak": _peak("VmHWM"),
    }
    print(json.dumps(found))


def _peak(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def run(folder: Path, nodes: int, epochs: int | None, *more: str) -> dict[str, Any]:
    """A fit in a process of its own."""
    command = [sys.executable, __file__, "--child", "--folder", str(folder), "--nodes", str(nodes), *more]
    if epochs is not None:
        command += ["--epochs", str(epochs)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"the fit ended with code {done.returncode}: {done.stderr[-500:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--times", type=float, default=10.0)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--mapped", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--group", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--limit", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        fit(options.folder, options.nodes, options.epochs, options.group, options.limit, options.mapped)
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        small = folder / "small"
        small.mkdir()
        write(SMALL, small)
        base = run(small, SMALL, options.epochs)["peak"]
        write(options.nodes, folder)
        whole = run(folder, options.nodes, options.epochs)
        limit = int(base + (whole["peak"] - base) / options.times)
        with limited(limit) as (group, peak):
            where = ["--limit", str(limit)] if group is None else ["--group", str(group)]
            mapped = run(folder, options.nodes, options.epochs, "--mapped", *where)
            mapped["peak"] = mapped["peak"] if group is None else int((group / peak).read_text())
    kind = "RLIMIT_DATA" if group is None else "a control group"
    found = {"nodes": options.nodes, "base": base, "limit": limit, "limit by": kind}
    found |= {"in memory": whole, "in files": mapped}
    if options.json:
        print(json.dumps(found))
        return
    print(f"{options.nodes:,} nodes; limit {limit / 1e6:.0f} MB by {kind}, of which {base / 1e6:.0f} are libraries\n")
    print("| | accuracy | seconds | of them reading | peak MB | chosen epochs |\n|---|---|---|---|---|---|")
    for title in ("in memory", "in files"):
        row: Any = found[title]
        print(
            f"| {title} | {row['accuracy']:.4f} | {row['seconds']:.0f} | {row['seconds of reading']:.0f} "
            f"| {row['peak'] / 1e6:.0f} | {row['chosen']['epochs']} |"
        )


if __name__ == "__main__":
    main()
