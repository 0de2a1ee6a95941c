"""struc2vec: skip-gram over walks among nodes that are alike in structure, not near (Ribeiro, Saverese and Figueiredo,
2017).

Two nodes are alike if the degrees around them are: their rings (struc2vec_rings) are compared, for some pairs
(struc2vec_pairs), by dynamic time warping (struc2vec_distances), and walks go through a graph whose layer k knows the
surroundings within k steps (struc2vec_layers).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from pine._internal.memory import need_memory
from pine.baselines.skip_gram.walk_vectors import walk_vectors
from pine.baselines.struc2vec.distances import distances
from pine.baselines.struc2vec.multilayer_graph import Layers
from pine.baselines.struc2vec.pairs import all_pairs, pairs_per_node, similar_pairs
from pine.baselines.struc2vec.rings import RingSizes, find_rings
from pine.embedder import Embedder, Fitted, Seed
from pine.errors import InputError
from pine.graph import Graph
from pine.graph.csr import CSR
from pine.labels import Labels

MOST_FOR_ALL_PAIRS = 4_000  # nodes
WAY_OUT = "lower until_layer, compare similar pairs only, or take a smaller graph"


@dataclass
class Struc2Vec(Embedder):
    """Types are not told apart, edges go both ways and count as one each, whatever their weight.

    Defaults: the PINE paper's setting, Section 4.1, for walks, length, window and epochs. The chance to stay in a layer
    and the hierarchical softmax are those of struc2vec's own code, the last layer is that of its example. That code
    compares all pairs unless it is told otherwise, which takes time and memory with the square of the nodes.
    """

    name: ClassVar[str] = "struc2vec"
    revision: ClassVar[int] = 1
    supervised: ClassVar[bool] = False

    dim: int = 64
    walks: int = 10  # from each node
    length: int = 80  # nodes in a walk
    window: int = 10
    epochs: int = 5  # over the same walks
    until_layer: int | None = 6  # the farthest rings to compare; None: all
    pairs: Literal["auto", "similar", "all"] = "auto"  # "similar": in degree; "auto": all pairs up to 4,000 nodes
    stay: float = 0.3  # chance of a step within the layer
    seed: Seed = 0
    threads: int | None = None

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        self._check()
        walker = Staying(self._layers(graph.links().distinct()), self.stay)
        vectors = walk_vectors(
            walker,
            graph.num_nodes,
            walks=self.walks,
            length=self.length,
            dim=self.dim,
            window=self.window,
            output="hierarchical",
            epochs=self.epochs,
            rng=rng,
            threads=self.threads,
        )
        return Fitted(vectors)

    def _layers(self, neighbors: CSR) -> Layers:
        """The multilayer graph, if there is room for it."""
        count = neighbors.num_rows
        farthest = -1 if self.until_layer is None else self.until_layer
        every = self.pairs == "all" or (self.pairs == "auto" and count <= MOST_FOR_ALL_PAIRS)
        num_pairs = count * (count - 1) // 2 if every else count * pairs_per_node(count)
        # The first look for the rings takes long on a large graph; what fails for its pairs alone is refused before.
        need_memory(self.name, bytes_needed(count, num_pairs, 1, 0, self.dim), count * neighbors.nnz, WAY_OUT)
        sizes = RingSizes.of(neighbors, farthest, self.threads)
        num_layers = int(sizes.rings.max(initial=1))
        needed = bytes_needed(count, num_pairs, num_layers, sizes.nbytes, self.dim)
        entries = sizes.entries.sum() / sizes.rings.sum()  # of a ring: two are compared in the square of it
        need_memory(self.name, needed, num_pairs * num_layers * entries**2, WAY_OUT)
        pairs = all_pairs(count) if every else similar_pairs(neighbors.degrees())
        rings = find_rings(neighbors, sizes, farthest, self.threads)
        return Layers.of(count, pairs, distances(rings, pairs, num_layers, self.threads))

    def _check(self) -> None:
        if not 0 < self.stay <= 1:
            raise InputError(f"stay must be a chance above 0 and up to 1, got {self.stay}")
        if self.until_layer is not None and self.until_layer < 0:
            raise InputError(f"until_layer must be at least 0, or None for all layers, got {self.until_layer}")


@dataclass(frozen=True, eq=False)
class Staying:
    """Walks through layers, with a chance to stay in one."""

    layers: Layers
    stay: float

    def walks(
        self, starts: NDArray[Any], length: int, key: int, threads: int | None = None
    ) -> NDArray[np.integer[Any]]:
        """A walk from each start: (len(starts), length)."""
        return self.layers.walks(starts, length, self.stay, key, threads)


def bytes_needed(num_nodes: int, num_pairs: int, num_layers: int, ring_bytes: int, dim: int) -> int:
    """What the layers take while they are made, and the vectors: an upper bound.

    A pair is two links in each layer. A link holds its neighbor, distance and weight, twice while layers are joined,
    and its alias table; a pair holds its distance in each layer, and keys to sort it.
    """
    of_nodes = num_nodes * (20 * num_layers + 8 * dim)
    of_pairs = num_pairs * (64 + 4 * num_layers)
    of_links = 40 * 2 * num_pairs * num_layers
    return ring_bytes + of_nodes + of_pairs + of_links
