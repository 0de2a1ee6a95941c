"""Networks that are not trained, beside dense matrices by which their definitions can be written down."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from pine import Graph
from pine.baselines.gnn.inputs import columns_of, features_of, row_normalized
from pine.baselines.gnn.network import GraphNetwork

CPU = torch.device("cpu")
COUNTS = np.random.default_rng(0).poisson(0.7, (30, 6)).astype(np.float32)


def network_on(graph: Graph, kind: type[GraphNetwork], **settings: Any) -> tuple[Any, tuple[Any, Any]]:
    """A network with random weights and biases, and what it takes of the graph with sparse counts."""
    graph = graph.with_features({"node": sp.csr_array(COUNTS)})
    columns = columns_of(graph)
    network = kind(columns, **settings)
    generator = torch.Generator().manual_seed(1)
    for each in network.parameters():
        torch.nn.init.normal_(each, generator=generator)
    return network, (features_of(graph, columns, CPU), network.adjacency(graph, CPU, None))


def inputs_of(network: Any) -> NDArray[np.float32]:
    """X W of the counts."""
    w: NDArray[np.float32] = network.inputs.weights[0].detach().numpy()
    return row_normalized(COUNTS) @ w


def array(tensor: torch.Tensor) -> NDArray[np.float32]:
    made: NDArray[np.float32] = tensor.detach().numpy()
    return made


def dense_s(graph: Graph) -> NDArray[np.float64]:
    """S = D^-1/2 (A + I) D^-1/2, with loops that are there kept as they are."""
    a = graph.links().to_scipy().toarray().astype(np.float64)
    a[np.diag_indices_from(a)] += np.diag(a) == 0
    d = a.sum(axis=1)
    return a / np.sqrt(np.outer(d, d))
