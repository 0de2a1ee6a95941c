"""Label propagation: F <- alpha S F + (1 - alpha) Y with S = D^-1/2 A D^-1/2 (Zhou et al., 2004), and its uses.

One formula serves classes, label sets and numbers: the propagated label of a node is the average of the known labels,
weighted by how much of each arrives there, F_v / (sum of arrivals). The baseline predicts it (propagate, normalize);
PINE blends a share of it into its predictions (LabelPropagator, PropagatedLabels); and with `predict(spread=...)` the
predicted scores themselves are smoothed along edges (smooth_scores). Features travel in the same way, each node keeping
its own too (FeaturePropagator).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from pine.distributed.part import Whole
from pine.errors import InputError, quoted
from pine.graph import Graph
from pine.graph.csr import CSR, build_csr
from pine.nn.neighbor_sum import Neighbors

Rows = Any  # an array, or a tensor

# How far labels travel in PINE's share: chosen on held-out training labels of cora, citeseer, pubmed, wikipedia and
# email-eu.
SHARE_ALPHA, SHARE_ROUNDS = 0.9, 30
SMOOTHING_ROUNDS = 30


def normalized_adjacency(graph: Graph) -> sp.csr_array:
    """S = D^-1/2 A D^-1/2 over all nodes, whatever their type; a directed edge carries scores both ways."""
    adjacency = graph.links().to_scipy().astype(np.float64)
    degrees = adjacency.sum(axis=1)
    scale = sp.diags_array(1 / np.sqrt(np.where(degrees > 0, degrees, 1)))
    return sp.csr_array(scale @ adjacency @ scale)


def looped_adjacency(graph: Graph, loop: float = 1.0) -> CSR:
    """S = D^-1/2 (A + I) D^-1/2, with D the degrees of A + I, as GCN and its successors have it.

    Directed edges go both ways. A loop that is there already keeps its weight, the others weigh as much as loop.
    """
    links, count = graph.links(), graph.num_nodes
    rows = links.rows()
    alone = np.setdiff1d(np.arange(count), rows[rows == links.indices])
    targets, sources = np.append(rows, alone), np.append(links.indices, alone)
    weights = np.append(np.ones(links.nnz) if links.weights is None else links.weights, np.full(len(alone), loop))
    degrees = np.bincount(targets, weights, count)
    scale = 1 / np.sqrt(np.where(degrees > 0, degrees, np.inf))
    values = (scale[targets] * weights * scale[sources]).astype(np.float32)
    return build_csr(targets, sources, values, (count, count), duplicates="sum")


def seed_matrix(count: int, positions: NDArray[np.int64], targets: NDArray[Any]) -> NDArray[Any]:
    """Y (count, num_outputs + 1) of known labels at some nodes; the last column is the mass of labels that travels."""
    seeds = np.zeros((count, targets.shape[1] + 1), targets.dtype)
    seeds[positions, :-1], seeds[positions, -1] = targets, 1
    return seeds


def propagate(times_s: Callable[[Rows], Rows], seeds: Rows, alpha: float, rounds: int) -> Rows:
    """F after so many rounds; times_s gives S F, in memory of its own."""
    arrived, kept = seeds, (1 - alpha) * seeds
    for _ in range(rounds):
        arrived = times_s(arrived)
        arrived *= alpha
        arrived += kept
    return arrived


def normalize(arrived: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The average label that arrives (count, num_outputs), and where one does (count, 1); zeros elsewhere."""
    mass = arrived[:, -1:]
    limits = np.finfo(arrived.dtype)
    reached = mass > limits.smallest_normal / limits.eps  # of less, a quotient would have no digits
    return arrived[:, :-1] / np.where(reached, mass, 1), reached


# ---- a share of PINE's predictions ----


@dataclass(frozen=True, eq=False)
class PropagatedLabels:
    """The average known label that reaches each node (count, num_outputs), and which nodes one reaches (count, 1)."""

    labels: NDArray[np.float32]
    reached: NDArray[np.bool_]

    def blend(self, scores: NDArray[np.float32], share: float) -> NDArray[np.float32]:
        """(1 - share) scores + share propagated; unreached nodes keep their scores."""
        mixed: NDArray[np.float32] = np.where(self.reached, (1 - share) * scores + share * self.labels, scores)
        return mixed


class LabelPropagator:
    """The graph on a device, for the labels of one node type.

    With H = D^-1/2 F a round is H <- alpha D^-1 A H + (1 - alpha) D^-1/2 Y, where a sum over neighbors has its scaling
    inside, and F_v / (sum of arrivals) is H_v / (sum of arrivals) too.
    """

    def __init__(
        self, graph: Graph, type: str, device: torch.device | str, threads: int | None, part: Whole | None = None
    ) -> None:
        self.first, self.part = graph.nodes.slice(type).start, part or Whole(graph.num_nodes, graph.nodes)
        self.type = type
        self.place, self.count = self.part.place(type), self.part.num_nodes
        self.neighbors = self.part.neighbors(graph.links(), None, "mean", torch.device(device), threads)
        assert self.neighbors.scale is not None
        self.root = torch.tensor(np.sqrt(self.neighbors.scale), dtype=torch.float32, device=device)[:, None]

    def propagate(
        self, known: NDArray[np.int64], targets: NDArray[np.float64], rounds: int = SHARE_ROUNDS
    ) -> PropagatedLabels:
        """Propagate labels (num_known, num_outputs) at some nodes of the type to all of them; on the first rank."""
        return _normalized(self.arrivals(known, targets, rounds))

    def arrivals(
        self, known: NDArray[np.int64], targets: NDArray[np.float64], rounds: int = SHARE_ROUNDS
    ) -> NDArray[np.float32]:
        """What arrives at the nodes of the type, not normalized yet, (count, num_outputs + 1); on the first rank."""
        return self._arrived(
            known, targets, rounds, lambda rows: self.part.gathered(rows[self.place], self.type).cpu().numpy()
        )

    def propagate_to(
        self, nodes: NDArray[np.int64], known: NDArray[np.int64], targets: NDArray[np.float64]
    ) -> PropagatedLabels:
        """The same to some nodes of the type alone, ascending; on every rank."""
        return _normalized(
            self._arrived(
                known, targets, SHARE_ROUNDS, lambda rows: self.part.at(self.first + nodes, rows).cpu().numpy()
            )
        )

    def _arrived(
        self,
        known: NDArray[np.int64],
        targets: NDArray[np.float64],
        rounds: int,
        keep: Callable[[torch.Tensor], NDArray[np.float32]],
    ) -> NDArray[np.float32]:
        """What keep takes of it. No column meets another, so that they may come one after the other."""
        here, positions = self.part.here(self.first + known)
        width, made = targets.shape[1] + 1, None
        for columns in self.part.column_slices(width):
            seeds = _seed_columns(self.count, positions, targets[:, columns][here].astype(np.float32), columns)
            start = torch.tensor(seeds, device=self.neighbors.device).mul_(self.root)
            del seeds
            rows = keep(propagate(lambda h: self.neighbors.total(h, transposed=False), start, SHARE_ALPHA, rounds))
            if columns == slice(0, width):
                return rows
            made = self.part.array(len(rows), width) if made is None else made
            made[:, columns] = rows
        assert made is not None
        return made


def _seed_columns(
    count: int, positions: NDArray[np.int64], targets: NDArray[np.float32], columns: slice
) -> NDArray[np.float32]:
    """Some columns of seed_matrix, from those of the targets that there are."""
    if targets.shape[1] < columns.stop - columns.start:
        return seed_matrix(count, positions, targets)
    seeds = np.zeros((count, targets.shape[1]), targets.dtype)
    seeds[positions] = targets
    return seeds


def _normalized(arrived: NDArray[np.float32]) -> PropagatedLabels:
    return PropagatedLabels(*normalize(arrived))


# ---- features ----


class FeaturePropagator:
    """(1 + S + ... + S^hops) H / (hops + 1) with S = D^-1/2 (A + I) D^-1/2, of a graph on a device.

    A loop weighs as much as the graph's average edge, so that the unit of the weights does not matter.
    """

    def __init__(self, graph: Graph, hops: int, device: torch.device | str, threads: int | None) -> None:
        weights = graph.links().weights
        loop = 1.0 if weights is None or not weights.any() else float(weights.mean(dtype=np.float64))
        self.hops, self.neighbors = hops, Neighbors.of(looped_adjacency(graph, loop), "sum", device, threads=threads)

    def propagate(self, rows: torch.Tensor) -> torch.Tensor:
        """(num_nodes, any) to the same, by Horner's rule. Without a gradient: S is symmetric, it travels likewise."""
        total = rows
        for _ in range(self.hops):
            total = self.neighbors.total(total, transposed=False).add_(rows)
        return total / (self.hops + 1)


# ---- scores smoothed along edges ----


def check_spread(spread: Any) -> float:
    """The share alpha of a score that comes from the neighbors, if it is one."""
    if isinstance(spread, bool) or not isinstance(spread, int | float | np.number) or not 0 <= spread < 1:
        raise InputError(f"spread must be a number of at least 0 and below 1, such as 0.5, got {quoted(spread)}")
    return float(spread)


def smooth_scores(
    graph: Graph,
    type: str,
    scores: NDArray[Any],
    known: NDArray[np.int64],
    targets: NDArray[Any],
    alpha: float,
    rounds: int = SMOOTHING_ROUNDS,
) -> NDArray[np.float32]:
    """Smooth the scores (count, num_outputs) of the nodes of one type: q <- alpha P q + (1 - alpha) q0.

    P is S with each row divided by its sum, so that q stays what q0 is: probabilities, or numbers between the smallest
    and the largest. Known positions of the type keep their targets (num_known, num_outputs): alpha is 0 there, and for
    nodes without neighbors. Nodes of other types have no score of their own: alpha is 1, and q0 is the average.
    """
    place = graph.nodes.slice(type)
    own = np.asarray(scores, np.float32).copy()
    own[known] = targets
    q0 = np.tile(own.mean(axis=0), (graph.num_nodes, 1))
    q0[place] = own
    matrix = normalized_adjacency(graph).astype(np.float32)
    sums = matrix.sum(axis=1)
    alphas = np.ones(graph.num_nodes, np.float32)
    alphas[place] = alpha
    alphas[place.start + known] = 0
    alphas[sums == 0] = 0
    step = sp.diags_array(alphas / np.where(sums > 0, sums, 1)) @ matrix
    kept = (1 - alphas)[:, None] * q0
    q = q0
    for _ in range(rounds):
        q = step @ q + kept
    return np.asarray(q[place], np.float32)
