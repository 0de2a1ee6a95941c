"""What graph networks start from: X W, with the features of nodes for X, and the identity for nodes without.

The identity is never written down: its product with W is W, a table with a row for each node. X is of a graph, W of a
network: where no block of X is the identity, W serves other graphs too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, cast

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from pine.errors import InputError, listed
from pine.graph import Graph
from pine.nn.functional import dropout


class InputColumns(NamedTuple):
    """The columns of X for one node type: features that are counts or any numbers, or the identity."""

    type: str
    width: int
    kind: Literal["counts", "numbers", "identity"]


class InputLayer(nn.Module):
    """W: rows for each node type, as many as there are columns of X for it."""

    def __init__(self, columns: Sequence[InputColumns], dim: int) -> None:
        super().__init__()
        self.types = [each.type for each in columns]
        self.weights = nn.ParameterList(nn.init.xavier_uniform_(torch.empty(each.width, dim)) for each in columns)

    def forward(self, x: Features, chance: float, generator: torch.Generator | None) -> Tensor:
        """X W: (num_nodes, dim), with dropout on the entries of X where there is a generator."""
        weights = self.by_type
        return torch.cat([block.times(weights[type], chance, generator) for type, block in x.items()])

    @property
    def by_type(self) -> dict[str, Tensor]:
        """The rows of W for each node type."""
        return dict(zip(self.types, self.weights, strict=True))


class FeatureBlock(ABC):
    """The rows of X for the nodes of one type."""

    @abstractmethod
    def times(self, weight: Tensor, chance: float, generator: torch.Generator | None) -> Tensor:
        """The product with its rows of W, with dropout on its entries where there is a generator."""


Features = Mapping[str, FeatureBlock]  # X: the blocks of all node types, in the order of the graph's nodes


class IdentityFeatures(FeatureBlock):
    """Dropping entries of the identity drops rows of W."""

    def times(self, weight: Tensor, chance: float, generator: torch.Generator | None) -> Tensor:
        if generator is None:
            return weight
        ones = weight.new_ones(*weight.shape[:-1], 1)  # between rows and columns there may be replicas
        return weight * dropout(ones, chance, generator)


class GivenFeatures(FeatureBlock):
    """Features that a graph has, rather than the identity."""

    @property
    @abstractmethod
    def dense(self) -> Tensor:
        """(count, width)"""


class DenseFeatures(GivenFeatures):
    def __init__(self, features: Any, device: torch.device) -> None:
        self.features = torch.tensor(features, device=device)

    @property
    def dense(self) -> Tensor:
        return self.features

    def times(self, weight: Tensor, chance: float, generator: torch.Generator | None) -> Tensor:
        features = self.features if generator is None else dropout(self.features, chance, generator)
        return features @ weight


class SparseFeatures(GivenFeatures):
    """A row of X W is the weighted sum of the rows of W that X names: a bag. Zeros need no dropout."""

    def __init__(self, features: Any, device: torch.device) -> None:
        order = sp.csr_array((np.arange(features.nnz), features.indices, features.indptr), features.shape).tocsc()
        self.data = torch.tensor(features.data, device=device)
        self.rows, self.columns = (
            (torch.tensor(each.indices, device=device).long(), torch.tensor(each.indptr, device=device).long())
            for each in (features, order)
        )
        self.order = torch.tensor(order.data, device=device)  # of the entries, column by column

    @cached_property
    def dense(self) -> Tensor:
        columns, starts = self.rows
        rows = torch.arange(len(starts) - 1, device=starts.device).repeat_interleave(starts.diff())
        made = self.data.new_zeros(len(starts) - 1, len(self.columns[1]) - 1)
        return made.index_put_((rows, columns), self.data, accumulate=True)  # an entry may come in parts

    def times(self, weight: Tensor, chance: float, generator: torch.Generator | None) -> Tensor:
        data = self.data if generator is None else dropout(self.data, chance, generator)
        return cast(Tensor, _Bags.apply(weight, data, self))  # type: ignore[no-untyped-call]


class _Bags(torch.autograd.Function):
    """The gradient is a product with the transpose: bags again. Torch's own scatters, or sorts in every step."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, data: Tensor, x: SparseFeatures) -> Tensor:
        ctx.x = x
        ctx.save_for_backward(data)
        return _bags(weight, *x.rows, data)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        (data,) = ctx.saved_tensors
        x: SparseFeatures = ctx.x
        return _bags(grad.contiguous(), *x.columns, data[x.order]), None, None


def _bags(rows: Tensor, indices: Tensor, indptr: Tensor, data: Tensor) -> Tensor:
    return functional.embedding_bag(
        indices, rows, indptr, mode="sum", per_sample_weights=data.to(rows.dtype), include_last_offset=True
    )


def columns_of(graph: Graph) -> list[InputColumns]:
    """What X has for each node type of a graph."""
    return [
        InputColumns(type, features.shape[1], "counts" if are_counts(features) else "numbers")
        if (features := graph.features.get(type)) is not None
        else InputColumns(type, graph.count(type), "identity")
        for type in graph.node_types
    ]


def features_of(graph: Graph, columns: Sequence[InputColumns], device: torch.device) -> Features:
    """X of a graph whose types have such columns; rows of counts are divided by their sums."""
    kinds = {each.type: each.kind for each in columns}
    return {type: _block(graph.features.get(type), kinds[type], device) for type in graph.node_types}


def _block(features: Any, kind: str, device: torch.device) -> FeatureBlock:
    if kind == "identity":
        return IdentityFeatures()
    made = row_normalized(features) if kind == "counts" else features
    return SparseFeatures(made, device) if sp.issparse(made) else DenseFeatures(made, device)


def check_columns(graph: Graph, columns: Sequence[InputColumns]) -> None:
    """A graph must have the node types that a network was trained on, with features alike."""
    if set(graph.node_types) != {each.type for each in columns}:
        raise InputError(
            f"the graph must have the node types {listed(each.type for each in columns)} of the training graph, "
            f"got {graph}"
        )
    graph.check_feature_widths({each.type: each.width for each in columns})
    for type, _, kind in columns:
        if kind == "counts" and not are_counts(graph.features[type]):
            raise InputError(
                f"no feature of nodes of type {type!r} was negative in training, where each row was divided by its "
                "sum; this graph has negative ones: give it features made in the same way, or fit again"
            )


def are_counts(features: Any) -> bool:
    """Whether features can be counts, of words for example: none is negative."""
    return not ((features.data if sp.issparse(features) else features) < 0).any()


def row_normalized(counts: Any) -> Any:
    """Rows that sum to 1, as the code of GCN's authors makes them of counts of words."""
    total = np.asarray(counts.sum(axis=1, dtype=np.float64)).ravel()
    scale = (1 / np.where(total > 0, total, 1)).astype(np.float32)
    return sp.csr_array(sp.diags_array(scale) @ counts) if sp.issparse(counts) else counts * scale[:, None]
