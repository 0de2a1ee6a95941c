"""Node features: x_v = e_v + A_k a_v, with a free e_v and one projection A_k for each node type that has them.

It is e_v that agrees with f of the neighbors, so that a node that comes later is f(N_v) + A_k a_v.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pine.graph import CSR, Graph
from pine.nn import Neighbors, neighbor_sum
from pine.nn.functional import dropout


@dataclass(frozen=True, eq=False)
class FeatureColumns:
    """The features (count, width) of the nodes of one type, on a device, dense or sparse, and where the nodes stand.

    center (width,) and scale are what they are standardized with: see FeatureProjection.
    """

    place: slice
    width: int
    values: Tensor | Neighbors
    center: NDArray[np.float32]
    scale: float

    @classmethod
    def of(cls, place: slice, given: Any, device: torch.device, threads: int | None) -> FeatureColumns:
        """Move a dense array or a sparse matrix to a device."""
        count, width = given.shape
        entries = given.data[:, None] if sp.issparse(given) else given
        center = np.asarray(given.sum(axis=0, dtype=np.float64)).ravel() / max(1, count)
        level = float(np.square(center).sum())
        variance = float(np.einsum("ij,ij->", entries, entries, dtype=np.float64)) / max(1, count) - level
        # What rounding leaves of columns that are all constant is no variance.
        scale = float(np.sqrt(variance)) if variance > 1e-12 * level else 1.0
        values: Tensor | Neighbors
        if sp.issparse(given):
            # The product with A is a sum over the columns that a node has, as over neighbors, weighted by the entries.
            kind = np.int32 if width <= np.iinfo(np.int32).max else np.int64
            csr = CSR(given.indptr.astype(np.int64), given.indices.astype(kind), given.data, width)
            values = Neighbors.of(csr, "sum", device, threads=threads)
        else:
            values = torch.tensor(given, device=device)
        return cls(place, width, values, center.astype(np.float32), scale)

    def times(self, A: Tensor) -> Tensor:
        """The product with A (width, dim): (count, dim)."""
        return self.values @ A if isinstance(self.values, Tensor) else neighbor_sum(A, self.values)


def feature_columns(
    graph: Graph, types: Sequence[str], device: torch.device, threads: int | None
) -> list[FeatureColumns]:
    """The features of some node types, each on the device once."""
    return [FeatureColumns.of(graph.nodes.slice(type), graph.features[type], device, threads) for type in types]


class FeatureProjection(nn.Module):
    """A_k (a_v - center_k) / scale_k for every node, zero where a type has none: (num_nodes, dim).

    Columns are centered, so that what is common to all nodes says nothing. All columns of a type are divided by one
    number, the root of the sum of their variances: rows have a root mean square length of 1 and A is of order 1, rare
    columns stay small (dividing each by its own deviation would blow up a word that two documents have), and zeros stay
    zeros: the center is taken off the product, not off the features.
    """

    def __init__(
        self,
        columns: Sequence[FeatureColumns],
        num_nodes: int,
        dim: int,
        device: torch.device,
        *,
        dropout: float,
    ) -> None:
        super().__init__()
        self.columns, self.num_nodes, self.dropout = columns, num_nodes, dropout
        self.A = nn.ParameterList([torch.zeros(each.width, dim, device=device) for each in columns])
        # Learned with the features of one graph and used on others: kept with A.
        self.center = _kept([torch.tensor(each.center[None], device=device) for each in columns])
        self.scale = _kept([torch.full((1, 1), each.scale, device=device) for each in columns])

    def forward(self, generator: torch.Generator | None = None) -> Tensor:
        own: Tensor = self.A[0].new_zeros(self.num_nodes, self.A[0].shape[1])
        for each, A, center, scale in zip(self.columns, self.A, self.center, self.scale, strict=True):
            A = A / scale
            if self.training:
                # Whole columns, for all nodes at once: on held-out labels of cora and citeseer as good as leaving out
                # single entries, and much cheaper; a penalty on A was worse.
                A = dropout(A, self.dropout, generator, (len(A), 1))
            own[each.place] = each.times(A) - center @ A
        return own


def _kept(values: list[Tensor]) -> nn.ParameterList:
    return nn.ParameterList([nn.Parameter(value.clone(), requires_grad=False) for value in values])
