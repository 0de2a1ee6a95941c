"""What a graph would need that is too large to try here: machines, hours and money, an extrapolation.

    python benchmarks/scale_forecast.py [--graph 1000000000:100000000000] [--memory 512] [--cores 64]
        [--least 200000] [--network 100] [--cuts 0.05,0.2,0.5] [--epochs 28] [--price 5]

By the fit of benchmarks/scale.py to the graphs of scale.jsonl that have so many nodes at least, by what
pine.model.needs counts, and by the rows that ranks hold for each other, which it does not. It takes for granted that
work and rows divide evenly, one rank a machine, that cores work side by side as fast as the one that was measured, that
ranks compute and send by turns, and a share of cut edges. Not in it: reading, the partition, regressions, what goes to
the first rank. memory: GB of a machine. network: Gbit/s of a machine. epochs: 20, and 2 times 4 on held-out labels.
price: of a machine-hour.
"""

from __future__ import annotations

import argparse
from functools import partial
from itertools import count

import numpy as np
from numpy.typing import NDArray
from planted import as_graph, planted_graph
from scale import CLASSES, WORKS, D, L, fitted, kept_lines, predicted, propagation
from scale_traffic import FLOAT, boundary_rows

from pine import PINE
from pine.model.needs import memory_needed
from pine.propagation import SHARE_ROUNDS

# Columns that travel for each boundary row.
COLUMNS = {"a round of the start": D, "an epoch": 2 * L, "scores": L, "a round of labels": CLASSES + 1}


def bytes_needed(ranks: int) -> NDArray[np.float64]:
    """What pine.model.needs counts for the first of some ranks, a node and an edge: (2,)."""
    settings, sizes = PINE(device="cpu"), ((5_000, 2), (5_000, 5), (10_000, 5))
    graphs = [as_graph(planted_graph(nodes, groups=CLASSES, edges=edges)[0]) for nodes, edges in sizes]
    terms = [[1.0, graph.num_nodes, graph.num_edges] for graph in graphs]
    needs = [memory_needed(settings, graph, CLASSES, ranks).host for graph in graphs]
    found: NDArray[np.float64] = np.asarray(np.linalg.solve(terms, needs), np.float64)
    return found[1:]


def report_machines(nodes: int, edges: int, given: argparse.Namespace) -> None:
    divided, on_two = bytes_needed(1), bytes_needed(2)
    arrays, kept = divided @ [nodes, edges], (on_two - divided / 2) @ [nodes, edges]
    lines = [line for line in kept_lines(given.device) if line["nodes"] >= given.least]
    times = dict(zip(WORKS, (propagation.ROUNDS, given.epochs, 1, SHARE_ROUNDS), strict=True))
    core_hours = {work: predicted(fitted(lines, work), nodes, 2.0 * edges) / 3600 for work in WORKS}
    columns = sum(COLUMNS[work] * times[work] for work in WORKS)
    print(f"An extrapolation: {nodes:,} nodes, {edges:,} edges, d = {D}, L = {L}, {CLASSES} classes.\n")
    print("| work | times | core-hours each |\n|---|---|---|")
    for work in WORKS:
        print(f"| {work} | {times[work]} | {core_hours[work]:.2f} |")
    print(f"\n{divided[0]:,.0f} bytes a node and {divided[1]:.0f} an edge: {arrays / 1e12:.1f} TB of arrays. Besides,")
    print(f"the first rank has the whole graph and the results, {kept / 1e12:.1f} TB: left out below.\n")
    shares = "GB of arrays, of others' rows | TB sent, an epoch | hours computing, sending"
    print(f"| cut | machines | {shares} | price, at {given.price:g} an hour |")
    print("|---" * 6 + "|")
    for cut in map(float, given.cuts.split(",")):
        travel = partial(boundary_rows, nodes, 2 * edges / nodes, cut=cut)
        machines = next(k for k in count(2) if arrays + halo_bytes(travel(k)) <= k * given.memory * 1e9)
        rows = travel(machines)
        each = [f"{total / machines / 1e9:.0f}" for total in (arrays, halo_bytes(rows))]
        computing = sum(core_hours[work] * times[work] for work in WORKS) / (machines * given.cores)
        sending = FLOAT * columns * rows / machines / (given.network * 1e9 / 8) / 3600
        print(
            f"| {cut:.0%} | {machines} | {each[0]}, {each[1]} | {FLOAT * COLUMNS['an epoch'] * rows / 1e12:.1f} | "
            f"{computing:.2f}, {sending:.2f} | {(computing + sending) * machines * given.price:,.0f} |"
        )


def halo_bytes(rows: float) -> float:
    """Messages of boundary nodes for a sum, on all ranks: as they come, and as they are sent or below a rank's own."""
    return 2 * FLOAT * L * rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", default="1000000000:100000000000", help="nodes:edges")
    parser.add_argument("--device", default="cpu", help="whose lines of scale.jsonl are fitted")
    parser.add_argument("--least", type=int, default=200_000)
    parser.add_argument("--memory", type=float, default=512)
    parser.add_argument("--cores", type=int, default=64)
    parser.add_argument("--network", type=float, default=100)
    parser.add_argument("--cuts", default="0.05,0.2,0.5")
    parser.add_argument("--epochs", type=int, default=28)
    parser.add_argument("--price", type=float, default=5)
    options = parser.parse_args()
    all_nodes, all_edges = map(int, options.graph.split(":"))
    report_machines(all_nodes, all_edges, options)
