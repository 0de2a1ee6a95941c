"""What links say about a node: who its neighbors are, and which known labels are near it.

The features of all nodes of one type are blocks side by side. A block is a product of matrices that is never written
out, such as (mean over coauthors) (their terms): a hub costs as much as it has edges, not their square.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pine.graph import Graph
from pine.labels import Labels
from pine.propagation import seed_matrix

Matrix = Any  # a sparse matrix, or an array
LEAST_MASS = 1e-12  # of labels that arrive: what is below is rounding


@dataclass(frozen=True, eq=False)
class Product:
    """A matrix as the factors whose product it is."""

    factors: tuple[Matrix, ...]

    @property
    def num_columns(self) -> int:
        return int(self.factors[-1].shape[1])

    def rows(self, chosen: NDArray[np.int64]) -> Product:
        """Some of its rows."""
        return Product((self.factors[0][chosen], *self.factors[1:]))

    def times(self, right: NDArray[Any]) -> NDArray[Any]:
        """Its product with an array."""
        for factor in reversed(self.factors):
            right = factor @ right
        return right

    def transposed_times(self, right: NDArray[Any]) -> NDArray[Any]:
        """The product of its transpose with an array."""
        for factor in self.factors:
            right = factor.T @ right
        return right

    def diagonal(self) -> NDArray[np.float64]:
        """Of a square product of one or two sparse factors."""
        if len(self.factors) == 1:
            return np.asarray(self.factors[0].diagonal())
        there, back = self.factors
        return np.asarray(there.multiply(back.T).sum(axis=1)).ravel()


@dataclass(frozen=True, eq=False)
class NeighborSide:
    """A relation seen from the nodes of one type: (count, number of nodes of the neighbors' type)."""

    type: str  # of the neighbors
    counts: sp.csr_array

    @cached_property
    def unit(self) -> sp.csr_array:
        """Rows of length 1, as for bags of words: one penalty then fits nodes with few neighbors and with many."""
        return _divided(self.counts, np.sqrt(self.counts.multiply(self.counts).sum(axis=1)))

    @cached_property
    def mean(self) -> sp.csr_array:
        """Rows that sum to 1: the mean over a node's neighbors."""
        return _divided(self.counts, self.counts.sum(axis=1))

    @cached_property
    def mean_back(self) -> sp.csr_array:
        """The same, seen from the neighbors."""
        back = sp.csr_array(self.counts.T)
        return _divided(back, back.sum(axis=1))


def neighbor_sides(graph: Graph, type: str) -> list[NeighborSide]:
    """The relations of nodes of a type; a directed one has two sides."""
    rows, sides = graph.nodes.slice(type), []
    for group in graph.groups("relation", "split" if graph.directed else None):
        own = group.matrix.some_rows(rows)
        if own.nnz:
            assert group.type is not None  # a relation and a side have one
            counts = own.some_columns(graph.nodes.slice(group.type)).to_scipy().astype(np.float64)
            counts.sum_duplicates()  # of parallel edges
            sides.append(NeighborSide(group.type, counts))
    return sides


def _divided(counts: sp.csr_array, sizes: Any) -> sp.csr_array:
    """Rows divided by their sizes; rows without entries stay so."""
    sizes = np.asarray(sizes).ravel()
    return sp.csr_array(sp.diags_array(1 / np.where(sizes > 0, sizes, 1)) @ counts)


def neighbor_counts(sides: Sequence[NeighborSide], type: str) -> list[Product]:
    """Who the neighbors are, side by side, and then for neighbors of the same type who theirs of other types are.

    Neighbors' neighbors of the same type are not counted by id; their known labels are (label_shares).
    """
    direct = [Product((side.unit,)) for side in sides]
    same, others = ([side for side in sides if (side.type == type) == wanted] for wanted in (True, False))
    return direct + [Product((near.mean, far.unit)) for near in same for far in others]


def label_shares(sides: Sequence[NeighborSide], type: str, labels: Labels, count: int) -> NDArray[np.float64]:
    """The average of the known labels among neighbors of the same type, and among nodes with a neighbor in common.

    (count, num_outputs for each side and distance). A node's own label is left out of its own averages; where no label
    is known, the average is that of all known labels.
    """
    near = [Product((side.mean,)) for side in sides if side.type == type]
    common = [Product((side.mean, side.mean_back)) for side in sides]
    return np.hstack([np.empty((count, 0)), *(_shares(ways, labels, count) for ways in (*near, *common))])


def _shares(ways: Product, labels: Labels, count: int) -> NDArray[np.float64]:
    targets = labels.targets()
    seeds = seed_matrix(count, labels.known, targets)
    arrived = ways.times(seeds) - ways.diagonal()[:, None] * seeds
    mass = arrived[:, -1:]
    reached = mass > LEAST_MASS
    averages = arrived[:, :-1] / np.where(reached, mass, 1)
    return np.asarray(np.where(reached, averages, targets.mean(axis=0)))
