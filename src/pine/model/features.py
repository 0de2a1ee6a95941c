"""Vectors from node features: x_v = (c_v, o_v), a linear map of what neighbors' features and one's own features say.

    c = (1 + S + ... + S^HOPS) a A / (HOPS + 1),   o = a A',   S = D^-1/2 (A + I) D^-1/2 of the graph

a are the standardized features, A and A' one matrix for each node type that has them. A is applied before S: what
travels along edges has dim columns, however many features there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from pine.graph import CSR, Graph
from pine.nn import Neighbors
from pine.nn.functional import kept
from pine.propagation import FeaturePropagator

HOPS = 6
NODE_DROPOUT = 0.5  # the chance that what a node's own features say does not travel
SPARSE = 0.25  # features with a smaller share of entries that are not zero are kept as a sparse matrix


@dataclass(frozen=True, eq=False)
class Standardization:
    """How features of one type become a: (features - center) / scale by columns, then rows of unit length or not.

    What is mostly zero and never negative, words of documents or tags for example, keeps its zeros: columns are divided
    by their largest entry, rows have unit length, so that rare columns stay small and long documents are no louder than
    short ones. Anything else has columns of zero mean and of one variance, so that rows have unit length on average.
    """

    center: NDArray[np.float32]
    scale: NDArray[np.float32]
    unit_rows: bool

    @classmethod
    def of(cls, features: Any, known: NDArray[np.bool_]) -> Standardization:
        """For features (count, width) at the known rows."""
        width = features.shape[1]
        own = features[known] if not known.all() else features
        if sp.issparse(own) or ((own >= 0).all() and 2 * np.count_nonzero(own) <= own.size):
            largest = np.zeros(width, np.float32)
            if own.shape[0]:
                most: Any = abs(own).max(axis=0)
                largest = np.asarray(most.todense() if sp.issparse(most) else most, np.float32).ravel()
            return cls(np.zeros(width, np.float32), np.where(largest > 0, largest, 1), unit_rows=True)
        wide = own.astype(np.float64)
        center, deviation = wide.mean(axis=0), wide.std(axis=0)
        # What rounding leaves of a constant column is no variance.
        varies = deviation > 1e-6 * abs(center)
        scale = np.where(varies, deviation, 1) * np.sqrt(max(1, width))
        return cls(center.astype(np.float32), scale.astype(np.float32), unit_rows=False)

    def apply(self, features: Any, known: NDArray[np.bool_]) -> Any:
        """a (count, width), sparse where it is worth it; rows of unknown features are zero."""
        if sp.issparse(features):
            made = sp.csr_array(features @ sp.diags_array(1 / self.scale))
        else:
            made = np.where(known[:, None], (features - self.center) / self.scale, 0).astype(np.float32)
            if np.count_nonzero(made) < SPARSE * made.size:
                made = sp.csr_array(made)
        if self.unit_rows:
            squares = made.multiply(made).sum(axis=1) if sp.issparse(made) else np.square(made).sum(axis=1)
            length = np.sqrt(np.asarray(squares, np.float64))
            inverse = 1 / np.where(length > 0, length, 1)
            made = sp.csr_array(sp.diags_array(inverse) @ made) if sp.issparse(made) else made * inverse[:, None]
        return made.astype(np.float32)


@dataclass(frozen=True, eq=False)
class FeatureColumns:
    """The standardized features (count, width) of the nodes of one type, on a device, and where the nodes stand."""

    place: slice
    width: int
    values: Tensor | Neighbors
    standardization: Standardization

    def times(self, A: Tensor) -> Tensor:
        """The product with A (width, dim): (count, dim)."""
        return self.values @ A if isinstance(self.values, Tensor) else self.values.total(A, transposed=False)

    def transposed_times(self, rows: Tensor) -> Tensor:
        """The product of the transposed features with rows (count, dim): (width, dim)."""
        return self.values.mT @ rows if isinstance(self.values, Tensor) else self.values.total(rows, transposed=True)


def feature_columns(
    graph: Graph,
    types: Sequence[str],
    device: torch.device,
    threads: int | None,
    learned: Sequence[Standardization] | None = None,
) -> list[FeatureColumns]:
    """The features of some node types; learned: as those of an earlier graph were standardized."""
    made = []
    for number, type in enumerate(types):
        given, known = graph.features[type], known_features(graph, type)
        how = Standardization.of(given, known) if learned is None else learned[number]
        a = how.apply(given, known)
        values: Tensor | Neighbors
        if sp.issparse(a):
            # The product with A is a sum over the columns that a node has, as over neighbors, weighted by the entries.
            csr = CSR(a.indptr.astype(np.int64), a.indices.astype(np.int32), a.data, a.shape[1])
            values = Neighbors.of(csr, "sum", device, threads=threads)
        else:
            values = torch.tensor(a, device=device)
        made.append(FeatureColumns(graph.nodes.slice(type), given.shape[1], values, how))
    return made


def known_features(graph: Graph, type: str) -> NDArray[np.bool_]:
    """Which nodes of a type have features: (count,)."""
    if type not in graph.features:
        return np.zeros(graph.count(type), bool)
    mask = graph.feature_mask.get(type)
    return np.ones(graph.count(type), bool) if mask is None else mask


class FeatureVectors(nn.Module):
    """c (num_nodes, middle) and o (num_nodes, dim - middle) of all nodes; zeros where there is nothing to say."""

    def __init__(
        self,
        columns: Sequence[FeatureColumns],
        propagator: FeaturePropagator,
        num_nodes: int,
        dim: int,
        generator: torch.Generator,
        *,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.columns, self.propagator, self.num_nodes, self.dropout = columns, propagator, num_nodes, dropout
        self.middle: int = dim - dim // 2
        device = propagator.neighbors.device
        self.A = nn.ParameterList(
            [glorot((each.width, dim), each.width + self.middle, generator).to(device) for each in columns]
        )

    def forward(self) -> tuple[Tensor, Tensor]:
        """c (num_nodes, middle), o (num_nodes, dim - middle)."""
        return self.mapped(list(self.A), self.middle)

    def mapped(
        self, maps: Sequence[Tensor], middle: int, generator: torch.Generator | None = None, drops: int = 1
    ) -> tuple[Tensor, Tensor]:
        """c and o by maps (width, any) in the place of A, of which middle columns are c's.

        With a generator there is dropout of columns of features, and before they travel, of nodes: so often, each time
        of others, side by side in c (num_nodes, drops * middle).
        """
        columns: list[Tensor] | None = None
        nodes: list[Tensor] | None = None
        if generator is not None:
            # Whole columns, for all nodes at once: much cheaper than single entries.
            if self.dropout > 0:
                columns = [kept((len(each), 1), self.dropout, generator, each) for each in maps]
            nodes = [each[:, None] for each in kept((drops, self.num_nodes), NODE_DROPOUT, generator, maps[0])]
        return cast(tuple[Tensor, Tensor], _Mapped.apply(self, middle, columns, nodes, *maps))  # type: ignore[no-untyped-call]

    def product(self, maps: Sequence[Tensor]) -> Tensor:
        """a of all nodes times their maps: (num_nodes, any)."""
        parts = [each.times(of_type) for each, of_type in zip(self.columns, maps, strict=True)]
        if len(parts) == 1 and len(parts[0]) == self.num_nodes:
            return parts[0]
        total = parts[0].new_zeros(self.num_nodes, parts[0].shape[1])
        for each, part in zip(self.columns, parts, strict=True):
            total[each.place] = part
        return total


class _Mapped(torch.autograd.Function):
    """All of it is linear, and so is the way back: kept columns, a, kept nodes, hops, each transposed."""

    @staticmethod
    def forward(
        ctx: Any,
        vectors: FeatureVectors,
        middle: int,
        columns: Sequence[Tensor] | None,
        nodes: Sequence[Tensor] | None,
        *maps: Tensor,
    ) -> tuple[Tensor, Tensor]:
        ctx.vectors, ctx.columns, ctx.nodes = vectors, columns, nodes
        product = vectors.product(maps if columns is None else [a * b for a, b in zip(maps, columns, strict=True)])
        carried, own = product[:, :middle], product[:, middle:].contiguous()
        if nodes is not None:
            carried = torch.cat([carried * each for each in nodes], dim=1)
        return vectors.propagator.propagate(carried), own

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_carried: Tensor, d_own: Tensor) -> tuple[Tensor | None, ...]:
        slope = ctx.vectors.propagator.propagate(d_carried)
        if ctx.nodes is not None:
            slope = sum(a * b for a, b in zip(slope.chunk(len(ctx.nodes), dim=1), ctx.nodes, strict=True))
        slope = torch.cat([slope, d_own], dim=1)
        made = [columns.transposed_times(slope[columns.place]) for columns in ctx.vectors.columns]
        if ctx.columns is not None:
            made = [a * b for a, b in zip(made, ctx.columns, strict=True)]
        return None, None, None, None, *made


def glorot(shape: tuple[int, int], fans: int, generator: torch.Generator) -> Tensor:
    """Random weights; fans: how many numbers come in and go out (Glorot and Bengio, 2010)."""
    limit = (6 / fans) ** 0.5
    return torch.empty(shape, dtype=torch.float32).uniform_(-limit, limit, generator=generator)
