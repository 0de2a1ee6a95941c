"""Seconds that the nearest of many vectors take: exact, in plain NumPy, and by an index where usearch is installed.

    python benchmarks/nearest.py [--nodes 100000,1000000] [--dim 64] [--queries 1,100,1000] [-k 10] [--device cpu|cuda]

Vectors are drawn around 1,000 centers. For an index, the share of the exact neighbors that it finds stands beside.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pine.errors import InputError
from pine.similarity import ExactNeighbors, UsearchIndex, unit_rows

CENTERS, NOISE = 1_000, 0.7
REPEATS, ENOUGH = 5, 3.0  # of a question, after a first one that is not counted; or so many seconds of them


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", default="100000,1000000")
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--queries", default="1,100,1000")
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    many = [int(each) for each in given.queries.split(",")]
    print(f"| nodes | by | to prepare, s |{''.join(f' {each:,} asked, s |' for each in many)} found |")
    print(f"|---|---|---|{'---|' * len(many)}---|")
    for num_nodes in map(int, given.nodes.split(",")):
        measure(drawn(num_nodes, given.dim), many, given.k, torch.device(given.device))


def drawn(num_nodes: int, dim: int) -> NDArray[np.float32]:
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((CENTERS, dim), np.float32)
    vectors: NDArray[np.float32] = centers[rng.integers(CENTERS, size=num_nodes)]
    vectors += NOISE * rng.standard_normal((num_nodes, dim), np.float32)
    return vectors


def measure(vectors: NDArray[np.float32], many: list[int], k: int, device: torch.device) -> None:
    asked = unit_rows(vectors[np.random.default_rng(1).choice(len(vectors), max(many), replace=False)])
    unit, seconds = timed(lambda: unit_rows(vectors))
    exact, more = timed(lambda: ExactNeighbors(unit, device))
    true = exact.nearest(asked, k)[0]
    ways: list[tuple[str, float, Callable[[NDArray[np.float32]], NDArray[Any]]]] = [
        (f"exact, {device}", seconds + more, lambda queries: exact.nearest(queries, k)[0]),
        ("all cosines in NumPy", seconds, lambda queries: by_numpy(unit, queries, k)),
    ]
    try:
        index, more = timed(lambda: UsearchIndex(unit))
        ways.append(("usearch", seconds + more, lambda queries: index.nearest(queries, k)[0]))
    except InputError as problem:
        print(f"(no index: {problem})")
    for name, prepared, ask in ways:
        found = ask(asked)
        times = [least_seconds(partial(ask, asked[:count])) for count in many]
        share = np.mean([len(np.intersect1d(*each)) / k for each in zip(found, true, strict=True)])
        shown = "".join(f" {each:.3g} |" for each in times)
        print(f"| {len(vectors):,} | {name} | {prepared:.2g} |{shown} {share:.1%} |", flush=True)


def by_numpy(unit: NDArray[np.float32], queries: NDArray[np.float32], k: int) -> NDArray[Any]:
    """Query after query: all of them at once would be a matrix of queries and nodes."""
    return np.array([np.argpartition(-(unit @ each), k)[:k] for each in queries])


def least_seconds(ask: Callable[[], Any]) -> float:
    taken: list[float] = []
    while len(taken) < REPEATS and sum(taken) < ENOUGH:
        taken.append(timed(ask)[1])
    return min(taken)


def timed(make: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    made = make()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return made, time.perf_counter() - start


if __name__ == "__main__":
    main()
