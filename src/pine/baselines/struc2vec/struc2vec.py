"""struc2vec: skip-gram on walks among nodes that are structurally similar, near or not (Ribeiro, Saverese and
Figueiredo, 2017).

Two nodes are similar if the degrees around them are: rings of degrees (rings) are compared by dynamic time warping
(distances), and walks go through a graph whose layer k links nodes by similarity within k steps (multilayer_graph).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from pine._internal.memory import require_memory
from pine._internal.settings import Count, NonNegativeInt, Range
from pine.baselines.skip_gram.skip_gram import embed_walks
from pine.baselines.struc2vec.distances import all_pairs, pairs_per_node, similar_pairs, structural_distances
from pine.baselines.struc2vec.multilayer_graph import MultilayerGraph
from pine.baselines.struc2vec.rings import RingSizes, find_rings
from pine.embedder import Embedder, Fitted, Seed
from pine.graph import Graph
from pine.graph.csr import CSR
from pine.labels import Labels

ALL_PAIRS_MAX_NODES = 4_000  # of pairs="auto"
WAY_OUT = "lower until_layer, compare similar pairs only, or take a smaller graph"


@dataclass
class Struc2Vec(Embedder):
    """Node types and edge weights are ignored, and edges go both ways.

    Defaults: the PINE paper's setting, Section 4.1, for walks, length, window and epochs; stay and the hierarchical
    softmax are those of struc2vec's own code, the last layer is that of its example. That code compares all pairs by
    default, which takes time and memory quadratic in the number of nodes.

    dim: the length of a vector.
    walks: how many from each node.
    length: how many nodes a walk has.
    window: how far apart in a walk two nodes may be to be each other's context.
    epochs: how many over the same walks.
    until_layer: the farthest rings to compare; None: all.
    pairs: which nodes are compared: "similar" in degree, "all", or "auto", all pairs up to 4,000 nodes.
    stay: probability of a step within the layer.
    seed: a number of at least 0, a NumPy generator, or None for a new draw each time.
    threads: of the CPU; None: all cores.
    """

    name: ClassVar[str] = "struc2vec"
    revision: ClassVar[int] = 1
    supervised: ClassVar[bool] = False

    dim: Count = 64
    walks: Count = 10
    length: Count = 80
    window: Count = 10
    epochs: Count = 5
    until_layer: NonNegativeInt | None = 6
    pairs: Literal["auto", "similar", "all"] = "auto"
    stay: Annotated[float, Range(0, 1, with_low=False, with_high=True)] = 0.3
    seed: Seed = 0
    threads: Count | None = None

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        vectors = embed_walks(
            self._multilayer_graph(graph.links().distinct()),
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

    def _multilayer_graph(self, neighbors: CSR) -> MultilayerGraph:
        """Build it, if there is memory for it."""
        count = neighbors.num_rows
        farthest = -1 if self.until_layer is None else self.until_layer
        every = compares_all_pairs(self.pairs, count)
        num_pairs = count * (count - 1) // 2 if every else count * pairs_per_node(count)
        # The search for rings takes long on a large graph: what fails for its pairs alone is refused before.
        require_memory(self.name, bytes_needed(count, num_pairs, 1, 0, self.dim), count * neighbors.nnz, WAY_OUT)
        sizes = RingSizes.of(neighbors, farthest, self.threads)
        num_layers = int(sizes.rings.max(initial=1))
        needed = bytes_needed(count, num_pairs, num_layers, sizes.nbytes, self.dim)
        entries_per_ring = sizes.entries.sum() / sizes.rings.sum()  # warping is quadratic in it
        require_memory(self.name, needed, num_pairs * num_layers * entries_per_ring**2, WAY_OUT)
        pairs = all_pairs(count) if every else similar_pairs(neighbors.degrees())
        rings = find_rings(neighbors, sizes, farthest, self.threads)
        distances = structural_distances(rings, pairs, num_layers, self.threads)
        return MultilayerGraph.of(count, pairs, distances, self.stay)


def compares_all_pairs(pairs: str, num_nodes: int) -> bool:
    """Whether all pairs are compared under a setting, or those that are similar in degree."""
    return pairs == "all" or (pairs == "auto" and num_nodes <= ALL_PAIRS_MAX_NODES)


def bytes_needed(num_nodes: int, num_pairs: int, num_layers: int, ring_bytes: int, dim: int) -> int:
    """What the multilayer graph takes while it is built, and the vectors: an upper bound.

    A pair is two links in each layer. A link holds its neighbor, distance and weight, twice while layers are joined,
    and its alias table; a pair holds its distance in each layer, and keys to sort it.
    """
    of_nodes = num_nodes * (20 * num_layers + 8 * dim)
    of_pairs = num_pairs * (64 + 4 * num_layers)
    of_links = 40 * 2 * num_pairs * num_layers
    return ring_bytes + of_nodes + of_pairs + of_links
