"""Large graphs on one GPU: a training pass over every node and edge, the start, and whole fits.

    python benchmarks/large_gpu.py pass [--sizes 10000000:100000000,100000000:800000000] [--rounds 3]
    python benchmarks/large_gpu.py start [--sizes ...]
    python benchmarks/large_gpu.py fit [--sizes 50000000:500000000] [--labeled 0.01]

Sizes are nodes and undirected edges, which lie in the rows of both their ends. Graphs are made and sorted into rows on
the device: a node's chance to be an end of an edge falls with the square root of its rank, 10 classes, 60 % of edges
inside them, nodes in random order. A pass is forward, backward and update of everything, in blocks of nodes
(pine.model.block_objective), with the terms of 1 % labeled nodes; one floor is the fewest bytes that it must move, by
the bandwidth of a copy, the other its additions and multiplications by 400 TFLOP/s, three for each product of float32.
A fit is beside label propagation and its own start; accuracy is that of a million nodes without labels.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import gpu
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

import pine
from pine.graph import Graph
from pine.graph.csr import CSR
from pine.graph.ids.node_ids import NodeIds
from pine.graph.nodes import EDGE, NODE, Nodes
from pine.labels import read_labels
from pine.model.block_objective import BlockObjective
from pine.model.block_part import DevicePart
from pine.model.init.start import structural_start
from pine.model.neighborhoods import NeighborFunction, Neighborhoods
from pine.model.node_terms import VisibleTargets
from pine.model.settings import Form, FunctionSettings, Settings
from pine.model.training import adam_of
from pine.nn.targets import Targets
from pine.propagation import LabelPropagator

CLASSES, INSIDE, D = 10, 0.6, 64
# L, T and Q as printed, and the default's.
SIZES: tuple[dict[str, int], ...] = (
    {"hidden": 16, "projections": 32, "scales": 16},
    {"hidden": 128, "projections": 32, "scales": 8},
)
PRODUCTS_A_SECOND = 4e14  # of bfloat16, additions and multiplications; each product of float32 is three


def planted(nodes: int, edges: int, device: torch.device, seed: int = 0) -> tuple[Graph, NDArray[np.int64]]:
    """The graph, and the class of every node."""
    generator = torch.Generator(device).manual_seed(seed)

    def uniform(count: int) -> Tensor:
        return torch.rand(count, generator=generator, device=device, dtype=torch.float64)

    order = torch.randperm(nodes, generator=generator, device=device)
    classes = (uniform(nodes) * CLASSES).long()
    members = order[classes[order].argsort(stable=True)]  # class after class
    sizes = torch.bincount(classes, minlength=CLASSES)
    first = sizes.cumsum(0) - sizes
    keys = torch.empty(2 * edges, dtype=torch.int64, device=device)
    step = 1 << 26
    for lo in range(0, edges, step):
        count = min(step, edges - lo)
        source = order[(nodes * uniform(count).square_()).long()]
        target = order[(nodes * uniform(count).square_()).long()]
        own = classes[source]
        near = members[first[own] + (sizes[own] * uniform(count).square_()).long()]
        target = torch.where(uniform(count) < INSIDE, near, target)
        keys[lo : lo + count] = source * nodes + target
        keys[edges + lo : edges + lo + count] = target * nodes + source
    del order, members
    keys = keys.sort().values
    keys = keys[torch.cat([keys.new_ones(1, dtype=torch.bool), keys[1:] != keys[:-1]])]  # parallel edges are one
    indptr = torch.searchsorted(keys, torch.arange(nodes + 1, device=device) * nodes).cpu().numpy()
    indices = torch.cat([(each % nodes).int() for each in keys.split(step)]).cpu().numpy()
    del keys
    csr = CSR(indptr, indices, None, nodes, symmetric=True)
    graph = Graph.assemble(Nodes({NODE: NodeIds("int", np.arange(nodes))}), {EDGE: csr}, directed=False)
    return graph, classes.cpu().numpy()


def labeled(classes: NDArray[np.int64], share: float) -> NDArray[np.int64]:
    """The classes of a share of the nodes, -1 for the others."""
    known = np.random.default_rng(1).random(len(classes), dtype=np.float32) < share
    return np.where(known, classes, -1)


def training_pass(graph: Graph, labels: NDArray[np.int64], form: dict[str, Any], device: Any, rounds: int) -> Any:
    """Median seconds of a pass, and bytes at its peak."""
    settings = Settings(dim=D, device=str(device), function=FunctionSettings(**form))
    part, shape = DevicePart(graph, device), Form.of(settings)
    groups = list(shape.neighbor_groups(graph).values())
    neighborhoods = Neighborhoods.of(graph, groups, shape.function.scaling, device, None, part)
    f = NeighborFunction(shape, [neighborhoods], torch.Generator().manual_seed(0), dropout=settings.training.dropout)
    known = read_labels(graph, labels, "classes")
    visible = VisibleTargets(Targets.of(graph, known, device), torch.ones(len(known.known), device=device))
    lambdas = torch.tensor([3.0], device=device)
    places = [slice(0, graph.num_nodes)]
    objective = BlockObjective(f.to(device), places, lambdas, settings.training, visible, part=part)
    generator = torch.Generator(device).manual_seed(0)
    objective.x.data.normal_(generator=generator)
    optimizer, trust = adam_of(objective.train()), torch.tensor(0.5, device=device)
    optimizer.set_rate(0, 0.001)
    optimizer.set_rate(1, 0.001)

    def step() -> None:
        optimizer.zero_grad()
        objective.backward(generator, trust)
        optimizer.step()

    seconds = statistics.median(times(step, rounds, device))
    finite = bool(objective.x.detach()[:: max(1, graph.num_nodes // 1000)].isfinite().all())
    return seconds, torch.cuda.max_memory_allocated() if device.type == "cuda" else 0, finite


def floors(nodes: int, entries: int, form: dict[str, int], bandwidth: float) -> tuple[float, float]:
    """Seconds for the bytes of a pass, and for its products."""
    L, TQ, T = form["hidden"], form["projections"] * form["scales"], form["projections"]
    gathered = 2 * (entries * (4 + 4 * L) + nodes * (8 + 4 * L))
    # x in three passes, dx written, read and written; Adam reads x, dx and moments, and writes all but dx.
    between = 4 * nodes * ((3 + 3 + 7) * D + 4 * L)
    products = nodes * (6.0 * L * TQ + 8 * D * T + 6 * L * D + 12 * D * CLASSES)
    return (gathered + between) / bandwidth, 3 * products / PRODUCTS_A_SECOND


def times(work: Callable[[], object], rounds: int, device: torch.device) -> list[float]:
    """Seconds of each round, warmed up."""
    if device.type == "cpu":
        marks = [(work(), time.perf_counter())[1] for _ in range(rounds + 1)]
        return [b - a for a, b in pairwise(marks)]
    return gpu.times(work, rounds)


def passes(sizes: list[tuple[int, int]], device: torch.device, rounds: int) -> None:
    bandwidth = math.nan if device.type == "cpu" else gpu.copy_bandwidth()
    print(f"a copy: {bandwidth / 1e12:.2f} TB/s\n")
    print("| nodes | entries | L, T, Q | s | floor of bytes | of products | share | peak GiB |")
    print("|---|---|---|---|---|---|---|---|")
    for nodes, edges in sizes:
        graph, classes = planted(nodes, edges, device)
        labels, entries = labeled(classes, 0.01), graph.links().nnz
        for form in SIZES:
            empty_cache(device)
            name = ", ".join(map(str, form.values()))
            try:
                seconds, peak, finite = training_pass(graph, labels, form, device, rounds)
            except torch.OutOfMemoryError:
                print(f"| {nodes:,} | {entries:,} | {name} | no room | | | | |", flush=True)
                continue
            of_bytes, of_products = floors(nodes, entries, form, bandwidth)
            print(
                f"| {nodes:,} | {entries:,} | {name} | {seconds:.3f} | {of_bytes:.3f} | {of_products:.3f} "
                f"| {max(of_bytes, of_products) / seconds:.0%} | {peak / 2**30:.1f} |{'' if finite else ' not finite'}",
                flush=True,
            )


def starts(sizes: list[tuple[int, int]], device: torch.device) -> None:
    began = time.perf_counter()
    graph, _ = planted(10_000, 50_000, device)
    structural_start(graph.links(), D, np.random.default_rng(0), device=str(device), part=DevicePart(graph, device))
    print(f"a first, small one, for which kernels are compiled: {time.perf_counter() - began:.1f} s\n")
    print("| nodes | entries | s of a start | peak GiB |\n|---|---|---|---|")
    for nodes, edges in sizes:
        graph, _ = planted(nodes, edges, device)
        empty_cache(device)
        part = DevicePart(graph, device)
        began = time.perf_counter()
        x = structural_start(graph.links(), D, np.random.default_rng(0), device=str(device), part=part)
        seconds = time.perf_counter() - began
        peak = torch.cuda.max_memory_allocated() if device.type == "cuda" else 0
        assert np.isfinite(x[:: max(1, nodes // 1000)]).all()
        print(f"| {nodes:,} | {graph.links().nnz:,} | {seconds:.1f} | {peak / 2**30:.1f} |", flush=True)


def fits(nodes: int, edges: int, device: torch.device, share: float) -> None:
    began = time.perf_counter()
    graph, classes = planted(nodes, edges, device)
    made = time.perf_counter() - began
    labels = labeled(classes, share)
    hidden = np.flatnonzero(labels < 0)[:1_000_000]
    print(f"{nodes:,} nodes, {graph.links().nnz:,} entries, made in {made:.0f} s, {share:.0%} labeled\n")
    print("| method | accuracy | s | peak GiB | epochs |\n|---|---|---|---|---|", flush=True)
    ways: dict[str, Callable[[], tuple[Any, Any]]] = {
        "label propagation": lambda: propagated(graph, labels, device),
        "PINE's start": lambda: fitted(graph, labels, device, epochs=0, label_share=0.0),
        "PINE": lambda: fitted(graph, labels, device),
    }
    for name, way in ways.items():
        empty_cache(device)
        began = time.perf_counter()
        predicted, trained = way()
        seconds = time.perf_counter() - began
        peak = torch.cuda.max_memory_allocated() if device.type == "cuda" else 0
        accuracy = float((predicted[hidden] == classes[hidden]).mean())
        print(f"| {name} | {accuracy:.4f} | {seconds:.1f} | {peak / 2**30:.1f} | {trained} |", flush=True)


def propagated(graph: Graph, labels: NDArray[np.int64], device: torch.device) -> tuple[Any, Any]:
    known = read_labels(graph, labels, "classes")
    found = LabelPropagator(graph, NODE, device, None).propagate(known.known, known.targets())
    return found.labels.argmax(1), ""


def fitted(graph: Graph, labels: NDArray[np.int64], device: torch.device, **settings: Any) -> tuple[Any, Any]:
    """Predictions, and how many epochs were chosen."""
    model = pine.PINE(device=str(device), **settings).fit(graph, labels)
    return model.predict(), model.choice_["epochs"]


def empty_cache(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("pass", "start", "fit"))
    parser.add_argument("--sizes")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--labeled", type=float, default=0.01)
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    given = options.sizes or (
        "50000000:500000000" if options.what == "fit" else "10000000:100000000,100000000:800000000"
    )
    sizes = [(int(nodes), int(edges)) for nodes, edges in (size.split(":") for size in given.split(","))]
    device = torch.device(options.device)
    if options.what == "pass":
        passes(sizes, device, options.rounds)
    elif options.what == "start":
        starts(sizes, device)
    else:
        for nodes, edges in sizes:
            fits(nodes, edges, device, options.labeled)


if __name__ == "__main__":
    main()
