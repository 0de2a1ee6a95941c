"""S = D^-1/2 (A + I) D^-1/2, with D the degrees of A + I: what GCN and its successors carry vectors along edges by."""

from __future__ import annotations

import numpy as np
import torch

from pine.baselines.gnn.network import GraphNetwork
from pine.graph import Graph
from pine.graph.csr import CSR, build_csr
from pine.nn import Neighbors


class ConvolutionNetwork(GraphNetwork):
    """A network that sums over neighbors with the weights in S.

    The sum is pine.nn's. It has the same bits in every run, also on a GPU; torch's own product with a sparse matrix has
    not, and its gradient sorts the matrix anew in every step.
    """

    @staticmethod
    def adjacency(graph: Graph, device: torch.device, threads: int | None) -> Neighbors:
        return Neighbors.of(gcn_normalized(graph), device=device, threads=threads)


def gcn_normalized(graph: Graph) -> CSR:
    """S; directed edges go both ways, and a loop that is there already keeps its weight."""
    links, count = graph.links(), graph.num_nodes
    rows = links.rows()
    alone = np.setdiff1d(np.arange(count), rows[rows == links.indices])
    targets, sources = np.append(rows, alone), np.append(links.indices, alone)
    weights = np.append(np.ones(links.nnz) if links.weights is None else links.weights, np.ones(len(alone)))
    degrees = np.bincount(targets, weights, count)
    scale = 1 / np.sqrt(np.where(degrees > 0, degrees, np.inf))
    values = (scale[targets] * weights * scale[sources]).astype(np.float32)
    return build_csr(targets, sources, values, (count, count), duplicates="sum")
