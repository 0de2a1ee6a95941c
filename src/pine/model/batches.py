"""The nodes of a graph in batches, for graphs whose activations do not fit into memory at once.

Gradients are summed over the batches of an epoch, so that a step of Adam is that of the whole graph.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from pine.graph import CSR
from pine.graph.sampling.neighbors import NeighborSampler
from pine.model.neighborhoods import Neighborhoods
from pine.nn import Neighbors


def batch_neighborhoods(whole: Neighborhoods, types: Sequence[slice], size: int) -> list[Neighborhoods]:
    """Blocks of at most size nodes of one type each: g then runs on the neighbors of a batch alone."""
    return [
        _cut(whole, slice(start, min(start + size, type.stop)))
        for type in types
        for start in range(type.start, type.stop, size)
    ]


def sample_neighborhoods(block: Neighborhoods, most: int, generator: torch.Generator) -> Neighborhoods:
    """The same with at most so many neighbors of each node in each group, weighted so that sums keep their mean."""
    keys = torch.randint(2**62, (len(block.neighbors),), generator=generator, device=generator.device).tolist()
    drawn = [
        _narrowed(columns, _drawn(neighbors.csr, most, key, neighbors.threads), neighbors)
        for columns, neighbors, key in zip(block.columns, block.neighbors, keys, strict=True)
    ]
    return _of(block.rows, drawn)


def _cut(whole: Neighborhoods, rows: slice) -> Neighborhoods:
    """Of all nodes, the neighborhoods of some."""
    cut = [
        _narrowed(columns, neighbors.csr.some_rows(rows), neighbors)
        for columns, neighbors in zip(whole.columns, whole.neighbors, strict=True)
    ]
    return _of(rows, cut)


def _of(rows: slice, groups: Sequence[tuple[torch.Tensor, Neighbors]]) -> Neighborhoods:
    columns, neighbors = zip(*groups, strict=True)
    return Neighborhoods(rows, columns, neighbors)


def _narrowed(columns: slice | torch.Tensor, matrix: CSR, like: Neighbors) -> tuple[torch.Tensor, Neighbors]:
    """The columns that a matrix has entries in, as positions of nodes, and the matrix over these alone."""
    used, local = np.unique(matrix.indices, return_inverse=True)
    narrow = CSR(matrix.indptr, local.astype(matrix.indices.dtype), matrix.weights, len(used))
    at = torch.as_tensor(used.astype(np.int64), device=like.device)
    places = at + columns.start if isinstance(columns, slice) else columns[at]
    return places, Neighbors.of(narrow, like.scaling, like.device, threads=like.threads)


def _drawn(matrix: CSR, most: int, key: int, threads: int | None) -> CSR:
    """At most so many entries of each row, drawn anew; what is left weighs more by the share that is not."""
    sampler = NeighborSampler.of(CSR(matrix.indptr, np.arange(matrix.nnz), None, matrix.nnz), most)
    entries, rows = sampler.draw(key, threads)
    left = np.diff(sampler.indptr)
    weights = (matrix.degrees() / np.maximum(left, 1))[rows]
    if matrix.weights is not None:
        weights *= matrix.weights[entries]
    return CSR(sampler.indptr, matrix.indices[entries], weights.astype(np.float32), matrix.num_columns)
