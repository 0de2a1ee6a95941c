"""A structural start: what x is before training, from the graph alone.

Up to EXACT_NODES nodes it is NetMF (init/netmf), above whitened propagation (init/whitened_propagation).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from pine._internal.settings import Count
from pine.distributed.part import Whole
from pine.embedder import Embedder, Fitted, Seed
from pine.graph import Graph
from pine.graph.csr import CSR
from pine.labels import Labels
from pine.model.init.netmf import netmf
from pine.model.init.whitened_propagation import whitened_propagation
from pine.nn.training import device_of, torch_threads

EXACT_NODES = 4_000


def structural_start(
    adjacency: CSR,
    dim: int,
    rng: np.random.Generator,
    *,
    threads: int | None = None,
    device: str = "cpu",
    part: Whole | None = None,
) -> NDArray[np.float32]:
    """A vector for every node from a symmetric adjacency alone: (num_nodes, dim), unit standard deviation over all.

    Nodes without neighbors are zero; so are, up to EXACT_NODES nodes, the columns beyond the rank of M. Above, time and
    memory are linear in nodes and edges. device says where the work is done. part: the nodes whose vectors are made
    here.
    """
    degree = adjacency.strengths()
    connected = np.flatnonzero(degree > 0)
    if len(connected) > EXACT_NODES and dim > 0:
        return whitened_propagation(adjacency, degree, dim, rng, threads=threads, device=device, part=part)
    start = _exact_start(adjacency, connected, dim, rng, threads, device)
    if part is None:
        return start
    part.ranks.share_first([torch.from_numpy(start)])  # of other processors, the signs of columns could be others
    return part.rows(start)


def _exact_start(
    adjacency: CSR,
    connected: NDArray[np.int64],
    dim: int,
    rng: np.random.Generator,
    threads: int | None,
    device: str,
) -> NDArray[np.float32]:
    start = np.zeros((adjacency.num_rows, dim), np.float32)
    if len(connected) == 0 or dim == 0:
        return start
    with torch_threads(threads):
        start[connected] = netmf(_part(adjacency, connected), dim, rng, device_of(device))
    deviation = start.std(dtype=np.float64)
    return start / np.float32(deviation) if deviation > 0 else start


def _part(adjacency: CSR, nodes: NDArray[np.int64]) -> CSR:
    """The adjacency among the given nodes."""
    if len(nodes) == adjacency.num_rows:
        return adjacency
    matrix = adjacency.to_scipy()[nodes][:, nodes]
    return CSR(matrix.indptr.astype(np.int64), matrix.indices, matrix.data, len(nodes))


@dataclass
class Propagation(Embedder):
    """embedding_ is PINE's x before training, for the same dim and seed: what training adds is measured against it.

    Whitened propagation on graphs of more than EXACT_NODES connected nodes, NetMF's factorization below.

    dim: the length of a vector.
    seed: a number of at least 0, a NumPy generator, or None for a new draw each time.
    device: "cpu", "cuda", or "auto", a GPU where there is one.
    threads: of the CPU; None: all cores.
    """

    name: ClassVar[str] = "propagation"
    former_names: ClassVar[tuple[str, ...]] = ("start",)
    revision: ClassVar[int] = 3
    supervised: ClassVar[bool] = False

    dim: Count = 64
    seed: Seed = 0
    device: str = "auto"
    threads: Count | None = None

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        return Fitted(structural_start(graph.links(), self.dim, rng, threads=self.threads, device=self.device))
