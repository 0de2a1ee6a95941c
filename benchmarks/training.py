"""What training costs: an epoch beside its parts, on a busy machine, peak memory beside a count, and a whole fit.

    python benchmarks/training.py epoch [--data cora,200000] [--threads 2]
    python benchmarks/training.py busy [--data cora]
    python benchmarks/training.py beside [--data cora,pubmed,dblp]
    python benchmarks/training.py memory [--nodes 50000,200000] [--batch-size 10000]
    python benchmarks/training.py fit [--nodes 200000]
    python benchmarks/training.py cora [--device cuda]

A number of nodes stands for a planted graph of 5 edges a node and 10 classes, 10 % of them known.

epoch: one epoch of PINE, from one step of the optimizer to the next, over the sum of its parts timed alone: dropout,
W g(x), the sum over neighbors, h, all forward and backward, and a step of Adam. Epochs and parts take turns; the
fastest of each is kept. Limit: 1.3. In brackets a part is a multiple of its floor: its products as fast as torch's own
of that size, its other reads and writes as fast as a gather of rows (sums) or as c = a + b. Limit: 2.
busy: seconds of a fit beside two processes that keep two cores busy, over its seconds alone. Limit: 4.
beside: seconds of a fit of PINE with half of the labels over those of GCN, the default settings of both. Limit: 5.
memory: the peak of a fit above what Python holds after imports, in a fresh process each, over the count in `fit_bytes`;
once with freed arrays returned at once, and once as glibc does it, which keeps those below 32 MiB for later. With
--batch-size the first once more, for a fit in batches.
fit: PINE with all defaults on a planted graph, its minutes, and its accuracy beside label propagation's.
cora: seconds of PINE with all defaults on Cora with half of the labels, the first fit of a process and later ones.
Limit: 60 on two cores, 5 on a GPU.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
from numpy.typing import NDArray
from planted import as_graph, planted_graph

from pine import METHODS, PINE, Graph
from pine.datasets import load
from pine.evaluation.protocol import hide, split
from pine.graph.csr import CSR
from pine.labels import read_labels
from pine.nn import Neighbors, SetFunction, neighbor_sum
from pine.nn.adam import Adam
from pine.nn.messages import layer
from pine.nn.neighbor_dropout import neighbor_dropout
from pine.nn.threads import sleeping_threads

CLASSES, KNOWN = 10, 0.1
RETURNED = {"MALLOC_MMAP_THRESHOLD_": "1000000"}  # freed arrays of a megabyte or more go back to the system
FIXED: dict[str, Any] = {"lam": 10.0}  # nothing to choose: one training


def labeled(what: str) -> tuple[Graph, NDArray[np.int64], NDArray[np.int64]]:
    """A data set by name or a planted graph by size: the graph, labels with some hidden (-1), and all labels."""
    if what.isdigit():
        adjacency, truth = planted_graph(int(what), groups=CLASSES)
        graph = as_graph(adjacency)
    else:
        data = load(what)
        graph, truth = data.graph, np.asarray(data.labels)
    seen = np.where(np.random.default_rng(0).random(len(truth)) < KNOWN, truth, -1)
    return graph, seen, truth


# ---- an epoch and its parts ----


def parts_of_an_epoch(graph: Graph, model: PINE) -> dict[str, Callable[[], Any]]:
    """Each part alone, on fresh inputs of the right size."""
    draw = torch.Generator().manual_seed(0)
    n, d, sizes = graph.num_nodes, model.dim, model.function
    L, T, Q = sizes.hidden, sizes.projections, sizes.scales
    f = SetFunction([d], d, L=L, T=T, Q=Q, conditioned=True, centered=True, generator=draw)
    neighbors = Neighbors.of(graph.adjacency(), "sqrt", threads=model.threads)
    x = torch.nn.Parameter(torch.randn(n, d, generator=draw))
    x.grad = torch.randn(n, d, generator=draw)
    s = torch.randn(n, L, generator=draw)
    upstream = torch.randn(n, d, generator=draw)
    for parameter in f.parameters():
        parameter.grad = torch.zeros_like(parameter)
    adam = Adam([{"params": [x, *f.parameters()]}], lr=1e-9)

    def leaf(values: torch.Tensor) -> torch.Tensor:
        return values.detach().requires_grad_()

    return {
        "dropout": lambda: neighbor_dropout(leaf(x), model.training.dropout, draw).backward(upstream),
        "W g(x)": lambda: f.messages([leaf(x)])[0].backward(s),
        "sums": lambda: neighbor_sum(leaf(s), neighbors).backward(s),
        "h": lambda: layer(leaf(s), f.b, f.c, "tanh").backward(upstream),
        "Adam": adam.step,
    }


def floors_of_parts(graph: Graph, model: PINE) -> dict[str, float]:
    """Seconds that each part's products, and what else it reads and writes, take at least."""
    n, d, sizes, columns = graph.num_nodes, model.dim, model.function, graph.adjacency().indices
    L, T, Q = sizes.hidden, sizes.projections, sizes.scales
    z, W, x, a = torch.randn(n, T * Q), torch.randn(T * Q, L), torch.randn(n, d), torch.randn(d, T)
    y, c, index = torch.randn(n, L), torch.randn(L, d), torch.tensor(columns, dtype=torch.int64)
    gathered = torch.empty(min(len(index), n), L)

    def best(work: Callable[[], Any]) -> float:
        return min(timed(work) for _ in range(6))

    product, projection, last = best(lambda: z @ W), best(lambda: x @ a), best(lambda: y @ c)
    gather = best(lambda: torch.index_select(y, 0, index[: len(gathered)], out=gathered)) / (2 * len(gathered))
    stream = best(lambda: torch.add(x, x, out=x)) / 3  # an array of n x d read or written
    return {
        "dropout": 4 * stream,
        "W g(x)": 3 * product + 4 * projection,
        "sums": 2 * (len(index) + n) * gather,
        "h": 3 * last,
        "Adam": 7 * stream,
    }


def epoch_seconds(model: PINE, graph: Graph, seen: NDArray[np.int64]) -> list[float]:
    """The time from one step of the optimizer to the next."""
    steps: list[float] = []

    def step(adam: Adam) -> None:
        take(adam)
        steps.append(time.perf_counter())

    take = Adam.step
    with mock.patch.object(Adam, "step", step):
        model.fit(graph, seen)
    return np.diff(steps).tolist()


def report_epoch(what: str, threads: int, rounds: int) -> None:
    graph, seen, _ = labeled(what)
    epochs = 6 if graph.num_nodes > 20_000 else 50
    model = PINE(threads=threads, epochs=epochs, **FIXED).set_params(start="random")
    parts, floors = parts_of_an_epoch(graph, model), floors_of_parts(graph, model)
    alone: dict[str, list[float]] = {part: [] for part in parts}
    each: list[float] = []
    for _ in range(rounds):
        each += epoch_seconds(model, graph, seen)
        with sleeping_threads(threads):  # as in a fit
            for part, work in parts.items():
                work()  # warm
                alone[part] += [timed(work) for _ in range(5)]
        floors = {part: min(floors[part], seconds) for part, seconds in floors_of_parts(graph, model).items()}
    best = {part: min(seconds) for part, seconds in alone.items()}
    whole = sum(best.values())
    shares = ", ".join(
        f"{part} {100 * seconds / whole:.0f} % ({seconds / floors[part]:.1f})" for part, seconds in best.items()
    )
    print(f"| {what} | {min(each) / whole:.2f} (1.3) | {shares} | {1000 * min(each):.1f} ms |", flush=True)


def report_busy(what: str, threads: int, rounds: int) -> None:
    graph, seen, _ = labeled(what)
    fit = partial(PINE(threads=threads, epochs=100, **FIXED).fit, graph, seen)
    fit()  # compiles and warms up
    alone = min(timed(fit) for _ in range(rounds))
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        beside = min(timed(fit) for _ in range(rounds))
    finally:
        for other in others:
            other.kill()
            other.wait()
    print(f"| {what} | {alone:.1f} s | {beside / alone:.1f} (4) |", flush=True)


def timed(work: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


# ---- memory ----


def fit_bytes(model: PINE, nodes: int, edges: int) -> int:
    """Peak bytes of a fit: the graph and its training, of which the start takes less.

    Training peaks on the way back through h. There are then, of dim columns in float32: the start; x and Adam's two
    moments; what dropout leaves of x; f; the gradients of x and of f in the terms of the loss. Of L columns: the sums
    over neighbors, their gradient, and the messages that were summed.
    """
    d, L = model.dim, model.function.hidden
    graph = 2 * (4 * 2 * edges + 8 * nodes) + 16 * nodes  # both directions; ids and the scale of sums
    return graph + 4 * nodes * (8 * d + 3 * L)


def resident(field: str) -> int:
    """VmRSS or VmHWM of this process, in bytes."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return 1024 * int(line.split()[1])


def measure_fit(path: str, threads: int, batch_size: int | None) -> None:
    """Run by report_memory in a process of its own: prints the peak above the imports."""
    settings: dict[str, Any] = {"threads": threads, "epochs": 3, "batch_size": batch_size}
    small, seen, _ = labeled("6000")
    PINE(**settings).fit(small, seen)  # compiled code and thread pools are loaded before the count begins
    del small, seen
    before = resident("VmRSS")
    with np.load(path) as arrays:
        csr = CSR(arrays["indptr"], arrays["indices"], None, len(arrays["indptr"]) - 1)
        seen = arrays["seen"]
    PINE(**settings).fit(as_graph(csr), seen)
    print(resident("VmHWM") - before)


def report_memory(nodes: int, threads: int, folder: Path, batch_size: int | None) -> None:
    adjacency, truth = planted_graph(nodes, groups=CLASSES)
    seen = np.where(np.random.default_rng(0).random(nodes) < KNOWN, truth, -1)
    path = folder / f"planted-{nodes}.npz"
    np.savez(path, indptr=adjacency.indptr, indices=adjacency.indices, seen=seen)
    command = [sys.executable, __file__, "measure", "--path", str(path), "--threads", str(threads)]
    counted = fit_bytes(PINE(), nodes, adjacency.nnz // 2)
    row = f"| {nodes:,} | {adjacency.nnz // 2:,} | {counted / 2**20:.0f} MiB |"
    ways: list[tuple[dict[str, str], list[str]]] = [(RETURNED, []), ({}, [])]
    ways += [] if batch_size is None else [(RETURNED, ["--batch-size", str(batch_size)])]
    for habit, more in ways:
        done = subprocess.run(command + more, capture_output=True, text=True, check=True, env=os.environ | habit)
        row += f" {int(done.stdout) / counted:.2f} |"
    print(row, flush=True)
    path.unlink()


# ---- a whole fit ----


def report_beside(name: str, threads: int, rounds: int) -> None:
    data = load(name)
    labels = read_labels(data.graph, data.labels)
    assert labels is not None
    shown = hide(labels, split(name, labels.known, 0.5, 0).train, data.graph.count(labels.type))
    seen = shown if len(data.graph.node_types) == 1 else {labels.type: shown}
    both: dict[str, list[float]] = {"gcn": [], "pine": []}
    for _ in range(rounds):
        for each, seconds in both.items():
            seconds.append(timed(partial(METHODS[each]().set_params(threads=threads).fit, data.graph, seen)))
    gcn, ours = (float(np.median(seconds)) for seconds in both.values())
    print(f"| {name} | {gcn:.1f} | {ours:.1f} | {ours / gcn:.1f} (5) |", flush=True)


def report_fit(nodes: int, threads: int) -> None:
    graph, seen, truth = labeled(str(nodes))
    hidden = seen < 0
    for method in (METHODS["label-propagation"](), PINE(threads=threads)):
        seconds = timed(partial(method.fit, graph, seen))
        right = float((method.predict()[hidden] == truth[hidden]).mean())
        print(f"| {method.name} | {graph.num_nodes:,} | {graph.num_edges:,} | {seconds / 60:.1f} | {right:.3f} |")


def report_cora(threads: int, device: str, rounds: int) -> None:
    data = load("cora")
    truth = np.asarray(data.labels)
    train = split("cora", np.arange(len(truth)), 0.5, 0).train
    seen = np.full_like(truth, -1)
    seen[train] = truth[train]
    fits = [
        timed(partial(PINE(seed=seed, threads=threads, device=device).fit, data.graph, seen))
        for seed in range(rounds + 1)
    ]
    print(f"| {device} | {fits[0]:.1f} | {np.mean(fits[1:]):.1f} ± {np.std(fits[1:]):.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("epoch", "busy", "beside", "memory", "fit", "cora", "measure"))
    parser.add_argument("--data", help="default: cora,200000 for epoch, cora for busy")
    parser.add_argument("--nodes", default=None)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch-size", type=int)
    parser.add_argument("--path", help=argparse.SUPPRESS)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    if given.what == "measure":
        measure_fit(given.path, given.threads, given.batch_size)
    elif given.what == "epoch":
        print("| data | epoch / sum of its parts (limit) | the parts (over their floors) | an epoch here |")
        print("|---|---|---|---|")
        for name in (given.data or "cora,200000").split(","):
            report_epoch(name, given.threads, given.rounds)
    elif given.what == "busy":
        print("| data | a fit alone | beside two busy processes (limit) |\n|---|---|---|")
        for name in (given.data or "cora").split(","):
            report_busy(name, given.threads, given.rounds)
    elif given.what == "beside":
        PINE(epochs=1).fit(load("cora").graph, load("cora").labels)  # compiles
        METHODS["gcn"]().fit(load("cora").graph, load("cora").labels)
        print("| data | GCN, s | PINE, s | ratio (limit) |\n|---|---|---|---|")
        for name in (given.data or "cora,pubmed,dblp").split(","):
            report_beside(name, given.threads, given.rounds)
    elif given.what == "memory":
        last = "" if given.batch_size is None else f" in batches of {given.batch_size:,} |"
        print(f"| nodes | edges | counted | measured / counted | with glibc's habits |{last}")
        print("|---" * (6 if last else 5) + "|")
        with tempfile.TemporaryDirectory() as folder:
            for nodes in (given.nodes or "50000,200000").split(","):
                report_memory(int(nodes), given.threads, Path(folder), given.batch_size)
    elif given.what == "cora":
        print("| device | seconds of the first fit | of later fits |\n|---|---|---|")
        report_cora(given.threads, given.device, given.rounds)
    else:
        print("| method | nodes | edges | minutes | accuracy on hidden nodes |\n|---|---|---|---|---|")
        report_fit(int(given.nodes or 200_000), given.threads)


if __name__ == "__main__":
    main()
