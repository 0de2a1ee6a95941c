"""What travels between ranks, counted from the partition and measured: python benchmarks/scale_traffic.py

    python benchmarks/scale_traffic.py [--nodes 20000,100000] [--ranks 2,4]

Planted graphs of 5 edges a node, each fitted by ranks of gloo that torchrun starts on this machine. A row is a round of
the start or a step of training, of all ranks:

counted: 4 bytes * boundary rows * columns (d in a round; L forward and L back in a step), and of sums what all_reduce
over a ring sends, 2 (ranks - 1) / ranks times what all ranks hand over (d + d^2 doubles in a round; the gradients of
what ranks share and the terms of the loss in a step). Boundary rows are pairs of a node and another rank that has a
neighbor of it, counted here from who owns what.
rows, sums: what pine.distributed.ranks has handed to torch.distributed, from two runs of different lengths.
loopback: what this machine has sent to itself meanwhile, by /proc/net/dev, with the headers of TCP, and with whatever
else went that way.
estimate: boundary rows, if all nodes had the average degree and cut edges were spread evenly, over the count.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from planted import as_graph, planted_graph
from scale import CLASSES, KNOWN, D, L, propagation

from pine import PINE, Graph
from pine.distributed.part import RankPart
from pine.distributed.partition import cut_edges
from pine.distributed.ranks import Ranks
from pine.distributed.torchrun import ranks_of_torchrun
from pine.graph.csr import CSR

SHORT, LONG = 3, 8  # rounds, epochs
TERMS = 5  # of the loss
FLOAT = 4  # bytes


def loopback() -> int:
    """Bytes that this machine has sent to itself."""
    lines = Path("/proc/net/dev").read_text().splitlines()
    return int(next(line for line in lines if line.strip().startswith("lo:")).split(":")[1].split()[0])


def sent(ranks: Ranks, run: Callable[[int], object]) -> NDArray[np.float64]:
    """Bytes of rows and sums of all ranks, and of the loopback, each time: run(k) does it k times."""
    found = []
    for times in (SHORT, LONG):
        before = ranks.bytes_exchanged, ranks.bytes_summed
        dist.barrier()
        begin = loopback()
        run(times)
        dist.barrier()
        passed = loopback() - begin
        own = [ranks.bytes_exchanged - before[0], ranks.bytes_summed - before[1]]
        found.append([*ranks.total(torch.tensor(own, dtype=torch.float64)).tolist(), passed])
    short, long = np.array(found)
    each: NDArray[np.float64] = (long - short) / (LONG - SHORT)
    return each


def boundary(links: CSR, owner: NDArray[np.int32]) -> int:
    """Pairs of a node and another rank that has a neighbor of it."""
    rows, columns = links.rows().astype(np.int64), links.indices
    crossing = owner[rows] != owner[columns]
    return len(np.unique(rows[crossing] * (int(owner.max()) + 1) + owner[columns][crossing]))


def boundary_rows(nodes: float, degree: float, ranks: int, cut: float) -> float:
    """Rows that ranks receive, if the cut share of each node's edges goes to the other ranks evenly."""
    return nodes * (ranks - 1) * (1 - (1 - cut / (ranks - 1)) ** degree) if ranks > 1 else 0.0


def report(graph: Graph, truth: NDArray[np.int64], ranks: Ranks) -> None:
    """What each rank runs; the first one prints."""
    part, links = RankPart(graph, ranks), graph.links()
    seen = np.where(np.random.default_rng(0).random(len(truth)) < KNOWN, truth, -1)

    def start(rounds: int) -> None:
        with mock.patch.object(propagation, "ROUNDS", rounds):
            propagation.whitened_propagation(
                links, links.strengths(), D, np.random.default_rng(0), threads=1, part=part
            )

    def fit(epochs: int) -> None:
        model = PINE(epochs=epochs, label_share=0.0, lam=10.0, threads=1, device="cpu")
        model.set_params(start="random").fit(graph, seen)

    measured = {"round": sent(ranks, start), "step": sent(ranks, fit)}
    if ranks.rank > 0:
        return
    k, n = ranks.size, graph.num_nodes
    rows, cut = boundary(links, part.owner), cut_edges(links, part.owner) / graph.num_edges
    shared = ranks.traffic.summed // (FLOAT * k)
    for work, columns, summed in (("round", D, 2 * FLOAT * (D + D**2)), ("step", 2 * L, FLOAT * (shared + TERMS))):
        counted = FLOAT * rows * columns + 2 * (k - 1) * summed
        of_rows, of_sums, passed = measured[work]
        estimate = boundary_rows(n, links.nnz / n, k, cut)
        print(
            f"| {n:,} | {k} | {cut:.1%} | {rows:,} ({estimate / rows:.2f}) | {work} | {counted / 1e6:.2f} | "
            f"{of_rows / 1e6:.2f} + {of_sums / 1e6:.2f} | {passed / 1e6:.2f} | {passed / counted:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", default="20000,100000")
    parser.add_argument("--ranks", default="2,4")
    options = parser.parse_args()
    if dist.is_torchelastic_launched():
        adjacency, classes = planted_graph(int(options.nodes), groups=CLASSES)
        with ranks_of_torchrun("cpu") as all_ranks:
            report(as_graph(adjacency), classes, all_ranks)
    else:
        print(
            "| nodes | ranks | cut | boundary rows (estimate) | a | counted, MB | rows + sums | loopback | / counted |"
        )
        print("|---" * 9 + "|", flush=True)
        for nodes in options.nodes.split(","):
            for size in options.ranks.split(","):
                torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", size]
                subprocess.run([*torchrun, __file__, "--nodes", nodes], check=True, stderr=subprocess.DEVNULL)
