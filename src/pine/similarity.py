"""The nearest of many vectors by cosine: exact, in blocks, on the CPU or a GPU; or by an index, nearly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pine.errors import InputError, quoted

Array = NDArray[np.float32]
Positions = NDArray[np.int64]
IndexKind = Literal["usearch"]

BLOCK_ROWS = 65_536  # vectors that are scaled at a time
BLOCK_QUERIES = 256  # queries at a time
MANY = 1_000  # candidates of a query in a block, of which the nearest are taken before they are sorted
BLOCK_COSINES = 1 << 20  # of a block of both: 4 MB, which a cache holds


def unit_rows(vectors: NDArray[Any]) -> Array:
    """Rows of length 1, (n, dim); a row that is zero, or has a NaN or infinity in it, becomes zero: cosine 0."""
    unit = np.empty(vectors.shape, np.float32)
    for lo in range(0, len(vectors), BLOCK_ROWS):
        rows = np.asarray(vectors[lo : lo + BLOCK_ROWS], np.float32)
        largest = np.abs(rows).max(axis=1, keepdims=True, initial=0)
        usable = np.isfinite(largest) & (largest > 0)
        # By the largest entry first, so that no square is too large or too small for a float32.
        scaled = np.divide(rows, largest, out=np.zeros_like(rows), where=usable)
        unit[lo : lo + BLOCK_ROWS] = scaled / np.maximum(np.linalg.norm(scaled, axis=1, keepdims=True), 1)
    return unit


class ExactNeighbors:
    """Compares with every vector; of equal cosines, the one that comes first is nearer."""

    def __init__(self, unit: Array, device: torch.device) -> None:
        self.unit = torch.from_numpy(unit).to(device)

    def __len__(self) -> int:
        return len(self.unit)

    @torch.no_grad()
    def nearest(self, queries: Array, k: int) -> tuple[Positions, Array]:
        """Positions and cosines of the k nearest of each query of length 1: (num_queries, k) each, nearest first."""
        found = [
            self._nearest(torch.from_numpy(queries[lo : lo + BLOCK_QUERIES]).to(self.unit.device), min(k, len(self)))
            for lo in range(0, len(queries), BLOCK_QUERIES)
        ]
        positions, cosines = zip(*found, strict=True)
        return np.concatenate(positions), np.concatenate(cosines)

    def _nearest(self, queries: Tensor, k: int) -> tuple[Positions, Array]:
        count = len(queries)
        best = np.empty((count, 0), np.int64), np.empty((count, 0), np.float32)
        least = torch.full((count, 1), -torch.inf, device=queries.device, dtype=queries.dtype)
        size = BLOCK_COSINES // count
        for lo in range(0, len(self), size):
            cosines = queries @ self.unit[lo : lo + size].T
            at = (cosines > least).nonzero(as_tuple=True)
            if len(at[0]) > MANY * count:  # only the k nearest of the block can matter, and what is as near
                bar = least.maximum(cosines.topk(min(k, cosines.shape[1])).values[:, -1:])
                at = (cosines >= bar).nonzero(as_tuple=True)
            if len(at[0]):
                rows, columns, values = (each.cpu().numpy() for each in (*at, cosines[at]))
                best = _merged(best, rows, columns + lo, values, k)
            if best[0].shape[1] == k:
                least = torch.from_numpy(best[1][:, -1:]).to(queries.device)
        return best


def _merged(
    best: tuple[Positions, Array], rows: Positions, positions: Positions, cosines: Array, k: int
) -> tuple[Positions, Array]:
    """The k nearest of those that were the nearest so far, (num_queries, any), and of pairs of a query and a vector."""
    count, kept = best[0].shape
    rows = np.concatenate([np.repeat(np.arange(count), kept), rows])
    positions = np.concatenate([best[0].ravel(), positions])
    cosines = np.concatenate([best[1].ravel(), cosines])
    order = np.lexsort((positions, -cosines, rows))
    starts = np.searchsorted(rows[order], np.arange(count))
    width = min(k, int(np.bincount(rows, minlength=count).min()))
    chosen = order[starts[:, None] + np.arange(width)]
    return positions[chosen], cosines[chosen]


class UsearchIndex:
    """A graph over the vectors (HNSW) that is walked towards a query: above a million vectors, faster and not exact."""

    def __init__(self, unit: Array) -> None:
        try:
            from usearch.index import Index
        except ImportError:
            raise InputError("index='usearch' needs usearch: pip install 'pine-embedding[index]'") from None
        self.index = Index(ndim=unit.shape[1], metric="ip", dtype="f32")
        self.index.add(np.arange(len(unit), dtype=np.uint64), unit)

    def __len__(self) -> int:
        return len(self.index)

    def nearest(self, queries: Array, k: int) -> tuple[Positions, Array]:
        """As ExactNeighbors has it."""
        found = self.index.search(queries, min(k, len(self)))
        width = min(k, len(self))
        positions = np.asarray(found.keys).reshape(len(queries), width).astype(np.int64)
        return positions, 1 - np.asarray(found.distances, np.float32).reshape(len(queries), width)


NearestVectors = ExactNeighbors | UsearchIndex
INDEXES: dict[str, Callable[[Array], NearestVectors]] = {"usearch": UsearchIndex}


def nearest_without(
    neighbors: NearestVectors, queries: Array, k: int, own: Positions | None
) -> list[tuple[Positions, Array]]:
    """The k nearest of each query that are not the query itself, own (num_queries,), where that is given."""
    if len(queries) == 0:
        return []
    positions, cosines = neighbors.nearest(queries, k if own is None else k + 1)
    if own is None:
        return list(zip(positions, cosines, strict=True))
    others = positions != own[:, None]
    return [(p[at][:k], c[at][:k]) for p, c, at in zip(positions, cosines, others, strict=True)]


def check_k(k: Any) -> int:
    """How many are wanted, at least 1."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InputError(f"k must be a whole number of at least 1, got {quoted(k)}")
    return int(k)


def check_queries(vector: Any, dim: int) -> tuple[Array, bool]:
    """Vectors that a user gives as queries, (num_queries, dim) of length 1, and whether it is one vector alone."""
    try:
        given = np.asarray(vector, np.float32)
    except (TypeError, ValueError):
        raise InputError(f"vector must be numbers of shape ({dim},), or (n, {dim}) for several") from None
    if given.ndim not in (1, 2) or given.shape[-1] != dim:
        raise InputError(f"vector must have the shape ({dim},), or (n, {dim}) for several, got {given.shape}")
    if not np.isfinite(given).all():
        raise InputError("vector must be finite, and has a NaN or an infinity in it")
    return unit_rows(given.reshape(-1, dim)), given.ndim == 1
