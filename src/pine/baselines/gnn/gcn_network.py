"""The network of GCN and its training, on torch and PyTorch Geometric."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from pine.baselines.gnn.inputs import Attributes, attributes_of, columns_of
from pine.baselines.gnn.network import BaseNetwork
from pine.baselines.gnn.neural import Goal
from pine.baselines.gnn.trained_network import Columns
from pine.baselines.gnn.training import fitted, step
from pine.embedder import Fitted
from pine.graph import Graph
from pine.graph.csr import CSR, build_csr
from pine.labels import Labels
from pine.nn import Neighbors, neighbor_sum
from pine.nn.functional import dropout, sparse_matrix
from pine.nn.training import device_of, seed_torch

if TYPE_CHECKING:
    from pine.baselines.gnn.gcn import GCN


def learn(model: GCN, graph: Graph, labels: Labels, rng: np.random.Generator) -> tuple[Fitted, Network]:
    """Train on the known labels, and read the hidden layer and the scores of all nodes."""
    device = device_of(model.device)
    generator = seed_torch(rng, device)
    goal = Goal.of(graph, labels, device)
    columns = columns_of(graph)
    network = Network(columns, model.dim, goal.num_outputs, model.dropout).to(device)
    links = network.links(graph, device, model.threads)
    forward = partial(network, attributes_of(graph, columns, device), links)
    first, rest = network.inputs.parameters(), [*network.hidden.parameters(), *network.output.parameters()]
    groups: list[dict[str, Any]] = [{"params": list(first), "weight_decay": model.weight_decay}, {"params": rest}]
    optimizer = torch.optim.Adam(groups, lr=model.learning_rate, fused=True)
    for _ in range(model.epochs):
        step(forward, goal, optimizer, generator)
    return fitted(forward, goal), network


class Links(NamedTuple):
    """S: as pine.nn sums over neighbors, and as PyG's layers take it."""

    neighbors: Neighbors
    matrix: Tensor


class Network(BaseNetwork):
    """hidden = relu(S X W_1 + b_1), outputs = S hidden W_2 + b_2, with dropout on X and on hidden while training."""

    def __init__(self, columns: Sequence[Columns], dim: int, num_outputs: int, dropout: float) -> None:
        super().__init__(columns, dim, num_outputs=num_outputs, dropout=dropout)
        self.dropout = dropout
        self.hidden = Layer(dim, dim)
        self.hidden.lin = nn.Identity()  # it is given X W_1
        self.output = Layer(dim, num_outputs)

    @staticmethod
    def links(graph: Graph, device: torch.device, threads: int | None) -> Links:
        adjacency = normalized(graph)
        return Links(Neighbors.of(adjacency, device=device, threads=threads), as_tensor(adjacency, device))

    def forward(self, x: Attributes, links: Links, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        share = self.dropout if generator is not None else 0.0
        hidden = self.hidden(self.inputs(x, share, generator), links).relu()
        seen = hidden if generator is None else dropout(hidden, share, generator)
        return hidden, self.output(seen, links)


class Layer(GCNConv):  # type: ignore[misc]
    """PyG's layer with the sum over neighbors of pine.nn, which has the same bits in every run, also on a GPU.

    PyG asks for the product with a sparse matrix here; torch's own gives other bits from run to run on a GPU, and its
    gradient sorts the matrix anew in every step.
    """

    def __init__(self, width: int, num_outputs: int) -> None:
        super().__init__(width, num_outputs, normalize=False)
        self.neighbors: Neighbors | None = None

    def forward(self, x: Tensor, links: Links) -> Tensor:
        self.neighbors = links.neighbors
        outputs: Tensor = super().forward(x, links.matrix)
        return outputs

    def message_and_aggregate(self, adj_t: Tensor, x: Tensor) -> Tensor:
        assert self.neighbors is not None
        return neighbor_sum(x, self.neighbors)


def normalized(graph: Graph) -> CSR:
    """S by PyG's own normalization; directed edges go both ways."""
    csr = graph.links()
    edges = torch.tensor(np.stack([csr.indices, csr.rows()]).astype(np.int64))
    weights = torch.ones(csr.nnz) if csr.weights is None else torch.tensor(csr.weights)
    (source, target), values = gcn_norm(edges, weights, graph.num_nodes)
    size = (graph.num_nodes, graph.num_nodes)
    return build_csr(target.numpy(), source.numpy(), values.numpy(), size, duplicates="sum")


def as_tensor(csr: CSR, device: torch.device) -> Tensor:
    """A sparse matrix of torch, as PyG's layers take it."""
    assert csr.weights is not None
    indptr, indices, weights = (torch.tensor(array, device=device) for array in (csr.indptr, csr.indices, csr.weights))
    return sparse_matrix(indptr, indices.to(indptr.dtype), weights, (csr.num_rows, csr.num_columns))
