"""neighbor_sum beside torch's own ways to add up neighbors' rows: seconds, and each as a multiple of neighbor_sum.

    python benchmarks/neighbor_sum.py --nodes 200000 --columns 64,32,16 --threads 2

The graph is a planted partition of average degree 10 in random node order. The ways take turns of three calls, so that
whatever else the machine does hits them alike while each finds its own threads and memory warm (torch's threads spin
for milliseconds after a call and hold up another's); the fastest call is kept. The number of threads is fixed.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from pine.graph.csr import CSR, build_csr
from pine.nn import Neighbors, neighbor_sum


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=200_000)
    parser.add_argument("--columns", default="64,32,16")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()

    torch.set_num_threads(chosen.threads)
    csr = planted_partition(chosen.nodes, np.random.default_rng(chosen.seed))
    print(
        f"{csr.num_rows:,} nodes, {csr.nnz:,} entries, float32, {chosen.threads} threads, best of {3 * chosen.rounds}"
    )
    print(f"{'columns':>8}  {'way':<30}{'forward':>10}{'ratio':>7}{'fwd+bwd':>12}{'ratio':>7}")
    for columns in map(int, chosen.columns.split(",")):
        x = torch.randn(chosen.nodes, columns, generator=torch.Generator().manual_seed(chosen.seed))
        times = measure(ways(csr, chosen.threads), x, chosen.rounds)
        ours = times["neighbor_sum"]
        for way, (forward, both) in times.items():
            print(
                f"{columns:>8}  {way:<30}{forward:>10.4f}{forward / ours[0]:>7.2f}{both:>12.4f}{both / ours[1]:>7.2f}"
            )


def planted_partition(num_nodes: int, rng: np.random.Generator, degree: int = 10, group: int = 1000) -> CSR:
    """Four fifths of the edges stay within a group of nodes; the numbering tells nothing about groups."""
    source = rng.integers(0, num_nodes, num_nodes * degree // 2)
    within = np.minimum(source // group * group + rng.integers(0, group, len(source)), num_nodes - 1)
    target = np.where(rng.random(len(source)) < 0.8, within, rng.integers(0, num_nodes, len(source)))
    order = rng.permutation(num_nodes)
    return build_csr(order[source], order[target], None, (num_nodes, num_nodes), mirror=True, drop_loops=True)


def ways(csr: CSR, threads: int) -> dict[str, Callable[[Tensor], Tensor]]:
    ours = Neighbors.of(csr, threads=threads)
    indptr, indices = torch.tensor(csr.indptr), torch.tensor(csr.indices.astype(np.int64))
    rows = torch.tensor(csr.rows().astype(np.int64))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says on each run that its CSR is in beta
        matrix = torch.sparse_csr_tensor(indptr, indices, torch.ones(csr.nnz), (csr.num_rows, csr.num_columns))
    return {
        "neighbor_sum": lambda x: neighbor_sum(x, ours),
        "embedding_bag": lambda x: torch.nn.functional.embedding_bag(indices, x, indptr[:-1], mode="sum"),
        "torch.sparse.mm": lambda x: torch.sparse.mm(matrix, x),
        "index_select, index_add": lambda x: torch.zeros_like(x).index_add(0, rows, x.index_select(0, indices)),
    }


def measure(ways: dict[str, Callable[[Tensor], Tensor]], x: Tensor, rounds: int) -> dict[str, tuple[float, float]]:
    """Forward seconds without a gradient, and seconds of a forward and backward pass, for each way."""
    upstream = torch.randn(x.shape, generator=torch.Generator().manual_seed(1))
    wanted = ways["neighbor_sum"](x)
    forward: dict[str, list[float]] = {way: [] for way in ways}
    both: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, total in ways.items():
            torch.testing.assert_close(total(x), wanted, rtol=1e-4, atol=1e-4)  # also compiles and warms up
            for _ in range(3):
                begin = time.perf_counter()
                total(x)
                forward[way].append(time.perf_counter() - begin)
            for _ in range(3):
                leaf = x.clone().requires_grad_()
                begin = time.perf_counter()
                total(leaf).backward(upstream)
                both[way].append(time.perf_counter() - begin)
    return {way: (min(forward[way]), min(both[way])) for way in ways}


if __name__ == "__main__":
    main()
