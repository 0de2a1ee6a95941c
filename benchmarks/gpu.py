"""The sum over neighbors and the set function on a GPU: milliseconds, beside what moving their bytes would take.

    python benchmarks/gpu.py [--sizes 200000:1000000,2000000:10000000,10000000:100000000] [--rounds 10]

Graphs have power-law degrees (a node's chance to be an end of an edge falls with the square root of its rank, in random
node order), each edge both ways; d = 64, scaling "sqrt" as PINE has it. The floor is the fewest bytes that a pass must
move, divided by the bandwidth of a device copy that is measured first: for the sum, every entry's index and row of x
read and the output written (rows that stay in the cache can beat it); for the set function the two sums and what lies
between its products: x, messages, sums, output and their gradients, each once. Medians; peak memory is above the graph.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pine.graph.csr import CSR
from pine.nn import Neighbors, SetFunction, neighbor_sum

D = 64
FORMS: tuple[dict[str, Any], ...] = ({"L": 16, "T": 32, "Q": 16}, {"L": 128, "T": 32, "Q": 8})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="200000:1000000,2000000:10000000,10000000:100000000")
    parser.add_argument("--rounds", type=int, default=10)
    chosen = parser.parse_args()

    bandwidth = copy_bandwidth()
    print(f"{torch.cuda.get_device_name()}, device copy {bandwidth / 1e12:.2f} TB/s; forward + backward")
    print(f"{'nodes':>11}{'entries':>12}  {'work':<38}{'ms':>8}{'floor':>8}{'share':>7}{'peak GiB':>10}")
    for nodes, edges in (map(int, size.split(":")) for size in chosen.sizes.split(",")):
        csr = power_law(nodes, edges)
        neighbors = Neighbors.of(csr, "sqrt", "cuda")
        for form in FORMS:
            L = form["L"]
            gathered = 2 * sum_bytes(csr, L)
            between = 4 * nodes * (3 * D + 3 * L + 4 * D)
            f = SetFunction([D], D, conditioned=True, centered=True, scaling="sqrt", device="cuda", **form)
            names = ", ".join(f"{name} = {value}" for name, value in form.items())
            for work, step, width, needed in (
                (f"neighbor_sum, {L} columns", partial(neighbor_sum, neighbors=neighbors), L, gathered),
                (f"SetFunction, {names}", lambda x, f=f, n=neighbors: f([x], [n]), D, gathered + between),
            ):
                seconds, peak = measure(step, torch.randn(nodes, width, device="cuda"), chosen.rounds)
                floor = needed / bandwidth
                print(
                    f"{nodes:>11,}{csr.nnz:>12,}  {work:<38}{1e3 * seconds:>8.2f}{1e3 * floor:>8.2f}"
                    f"{floor / seconds:>7.0%}{peak / 2**30:>10.2f}",
                    flush=True,
                )


def power_law(nodes: int, edges: int, seed: int = 0) -> CSR:
    """Made on the GPU: sorting 200 million entries takes a minute elsewhere."""
    generator = torch.Generator("cuda").manual_seed(seed)
    order = torch.randperm(nodes, generator=generator, device="cuda")
    rank = nodes * torch.rand(2, edges, generator=generator, device="cuda", dtype=torch.float64).square_()
    ends = order[rank.long().clamp_(max=nodes - 1)]
    entries = torch.cat([ends[0] * nodes + ends[1], ends[1] * nodes + ends[0]]).sort().values
    degrees = torch.bincount(entries // nodes, minlength=nodes)
    indptr = np.zeros(nodes + 1, np.int64)
    np.cumsum(degrees.cpu().numpy(), out=indptr[1:])
    csr = CSR(indptr, (entries % nodes).int().cpu().numpy(), None, nodes)
    csr.__dict__["transposed"] = csr  # every edge lies both ways
    return csr


def sum_bytes(csr: CSR, width: int) -> int:
    """One pass: indices and gathered rows read, offsets read, output written."""
    return csr.nnz * (csr.indices.itemsize + 4 * width) + csr.num_rows * (8 + 4 * width)


def copy_bandwidth() -> float:
    """Bytes read and written a second."""
    source = torch.randn(1 << 30, device="cuda")
    out = torch.empty_like(source)
    return 2 * source.nbytes / statistics.median(times(lambda: out.copy_(source), 10))


def measure(step: Callable[[Tensor], Tensor], x: Tensor, rounds: int) -> tuple[float, int]:
    """Median seconds of a forward and backward pass, and peak bytes above what lay there before."""
    x.requires_grad_()
    upstream = torch.randn_like(step(x))
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()

    def both() -> None:
        x.grad = None
        step(x).backward(upstream)

    seconds = statistics.median(times(both, rounds))
    return seconds, torch.cuda.max_memory_allocated() - before


def times(work: Callable[[], object], rounds: int) -> list[float]:
    """Seconds of each round, after two to warm up."""
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(rounds + 1)]
    for _ in range(2):
        work()
    marks[0].record()
    for mark in marks[1:]:
        work()
        mark.record()
    torch.cuda.synchronize()
    return [1e-3 * a.elapsed_time(b) for a, b in pairwise(marks)]


if __name__ == "__main__":
    main()
