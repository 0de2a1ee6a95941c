"""The multilayer graph of struc2vec: in layer k the nodes u and v are linked with weight exp(-f_k(u, v)).

A walk stays in its layer with a fixed probability and goes to a neighbor there by weight. Otherwise it changes the
layer at its node: up with weight log(Gamma_k(u) + e), down with weight 1. Gamma_k(u) counts the links of u in layer k
that are heavier than the layer's mean: a node with many similar ones needs a larger context to tell them apart.

All layers are one CSR matrix: row k * num_nodes + u is the node u in layer k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pine._internal.parallel import compiled, over_parts
from pine.graph.csr import CSR, build_csr
from pine.graph.sampling.streams import advanced, alias_rows, chosen, mixed, stream, unit

WALKS_PER_RANGE = 1024  # that a thread takes at a time


@dataclass(frozen=True, eq=False)
class MultilayerGraph:
    """Links of each layer with alias tables to draw them by (graph/sampling/streams), and how walks change layers.

    stay: the probability of a step within the layer. up (num_layers * num_nodes,): of going up where it does not stay.
    """

    num_nodes: int
    indptr: NDArray[np.int64]
    indices: NDArray[Any]
    keep: NDArray[np.float32]
    other: NDArray[np.int32]
    up: NDArray[np.float32]
    stay: float

    @classmethod
    def of(
        cls, num_nodes: int, pairs: NDArray[np.int64], distances: NDArray[np.float32], stay: float
    ) -> MultilayerGraph:
        """Build it from the f_k of pairs: (num_pairs, 2) and (num_pairs, num_layers), infinite where not linked."""
        layers = [_layer(num_nodes, pairs, column) for column in distances.T]
        ends = np.cumsum([0, *(layer.nnz for layer in layers)])
        starts = [end + layer.indptr[:-1] for end, layer in zip(ends, layers, strict=False)]
        indptr = np.concatenate([*starts, ends[-1:]])
        up = np.concatenate([_up_probability(layer) for layer in layers])
        indices = np.concatenate([layer.indices for layer in layers])
        keep, other = alias_rows(indptr, np.concatenate([link_weights(layer) for layer in layers]))
        return cls(num_nodes, indptr, indices, keep, other, up, stay)

    def walks(
        self, starts: NDArray[Any], length: int, key: int, threads: int | None = None
    ) -> NDArray[np.integer[Any]]:
        """A walk from each start in layer 0: (len(starts), length) node numbers, the start first.

        The same key gives the same walks for any number of threads.
        """
        out = np.empty((len(starts), length), self.indices.dtype)
        given = (self.num_nodes, self.indptr, self.indices, self.keep, self.other, self.up)
        over_parts(_walk, len(starts), WALKS_PER_RANGE, threads, np.uint64(key), starts, self.stay, *given, out)
        return out


def _layer(num_nodes: int, pairs: NDArray[np.int64], distances: NDArray[np.float32]) -> CSR:
    """One layer's links with their distances for weights."""
    linked = np.isfinite(distances)
    shape = (num_nodes, num_nodes)
    return build_csr(pairs[linked, 0], pairs[linked, 1], distances[linked], shape, mirror=True, duplicates="keep")


def link_weights(layer: CSR) -> NDArray[np.float32]:
    """exp(-f), each row divided by its largest: the same probabilities, also where all of exp(-f) underflow."""
    assert layer.weights is not None
    filled = layer.degrees() > 0
    nearest = np.zeros(layer.num_rows, np.float32)
    nearest[filled] = np.minimum.reduceat(layer.weights, layer.indptr[:-1][filled]) if filled.any() else 0
    return np.asarray(np.exp(np.repeat(nearest, layer.degrees()) - layer.weights))


def _up_probability(layer: CSR) -> NDArray[np.float32]:
    """The probability of going up at each node: (num_nodes,)."""
    assert layer.weights is not None
    weights = np.exp(-layer.weights.astype(np.float64))
    heavy = weights > weights.mean() if len(weights) else np.zeros(0, bool)
    gamma = np.bincount(layer.rows()[heavy], minlength=layer.num_rows)
    weight = np.log(gamma + np.e)
    return np.asarray(weight / (weight + 1), np.float32)


@compiled
def _walk(
    lo: int,
    hi: int,
    key: Any,
    starts: NDArray[Any],
    stay: float,
    num_nodes: int,
    indptr: NDArray[Any],
    indices: NDArray[Any],
    keep: NDArray[Any],
    other: NDArray[Any],
    up: NDArray[Any],
    out: NDArray[Any],
) -> None:
    num_rows = len(indptr) - 1
    for number in range(lo, hi):
        state, row = stream(key, number), np.int64(starts[number])
        out[number, 0] = row
        step = 1
        while step < out.shape[1]:
            state = advanced(state)
            stays = unit(mixed(state)) < stay
            state = advanced(state)
            bits = mixed(state)
            if stays:
                first, degree = indptr[row], indptr[row + 1] - indptr[row]
                node = row % num_nodes
                if degree > 0:  # else the walk stays: the only node of a graph
                    row += np.int64(indices[chosen(bits, first, degree, keep, other)]) - node
                out[number, step] = row % num_nodes
                step += 1
            elif unit(bits) >= up[row]:
                row -= num_nodes if row >= num_nodes else 0
            elif row + num_nodes < num_rows and indptr[row + num_nodes] < indptr[row + num_nodes + 1]:
                row += num_nodes
