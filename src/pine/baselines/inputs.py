"""What graph networks start from: X W, with the attributes of nodes for X, and the identity for nodes without.

The identity is never written down: its product with W is W, a table with a row for each node.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn import functional

from pine.graph import Graph
from pine.nn.dropout import dropped


class Inputs(nn.Module):
    """X W: (num_nodes, dim). X has a block for each node type: its attributes, or the identity if it has none."""

    def __init__(self, graph: Graph, dim: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList()
        for type in graph.node_types:
            if type not in graph.features:
                self.blocks.append(Identity(graph.count(type), dim))
                continue
            features = shares(graph.features[type])
            self.blocks.append(Sparse(features, dim) if sp.issparse(features) else Dense(features, dim))

    def forward(self, share: float, generator: torch.Generator | None) -> Tensor:
        return torch.cat([block(share, generator) for block in self.blocks])


class Block(nn.Module):
    """A block of X times its rows of W, with a share of the entries of X dropped."""

    def __init__(self, width: int, dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(width, dim)))


class Identity(Block):
    """Dropping entries of the identity drops rows of W."""

    def forward(self, share: float, generator: torch.Generator | None) -> Tensor:
        if generator is None:
            return self.weight
        ones = self.weight.new_ones(len(self.weight), 1)
        return self.weight * dropped(ones, share, generator)


class Dense(Block):
    features: Tensor

    def __init__(self, features: Any, dim: int) -> None:
        super().__init__(features.shape[1], dim)
        self.register_buffer("features", torch.tensor(features))

    def forward(self, share: float, generator: torch.Generator | None) -> Tensor:
        features = self.features if generator is None else dropped(self.features, share, generator)
        return features @ self.weight


class Sparse(Block):
    """A row of X W is the sum of the rows of W that X names, weighted: a bag. Zeros need no dropping."""

    indptr: Tensor
    indices: Tensor
    data: Tensor

    def __init__(self, features: Any, dim: int) -> None:
        super().__init__(features.shape[1], dim)
        for name in ("indptr", "indices", "data"):
            array = getattr(features, name)
            self.register_buffer(name, torch.tensor(array if name == "data" else array.astype(np.int64)))

    def forward(self, share: float, generator: torch.Generator | None) -> Tensor:
        data = self.data if generator is None else dropped(self.data, share, generator)
        return functional.embedding_bag(
            self.indices, self.weight, self.indptr, mode="sum", per_sample_weights=data, include_last_offset=True
        )


def shares(features: Any) -> Any:
    """Rows that sum to 1, as its authors' code makes them of counts of words; other features stay as they are."""
    entries = features.data if sp.issparse(features) else features
    if (entries < 0).any():
        return features
    total = np.asarray(features.sum(axis=1, dtype=np.float64)).ravel()
    scale = (1 / np.where(total > 0, total, 1)).astype(np.float32)
    return sp.csr_array(sp.diags_array(scale) @ features) if sp.issparse(features) else features * scale[:, None]
