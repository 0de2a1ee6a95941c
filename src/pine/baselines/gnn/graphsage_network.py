"""The network of GraphSAGE and its training, on torch and PyTorch Geometric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import SAGEConv

from pine.baselines.gnn.inputs import Attributes, attributes_of, columns_of
from pine.baselines.gnn.network import BaseNetwork
from pine.baselines.gnn.neural import Goal
from pine.baselines.gnn.trained_network import Columns
from pine.baselines.gnn.training import fitted, step
from pine.embedder import Fitted
from pine.graph import CSR, Graph
from pine.graph.sampling.neighbors import NeighborSampler
from pine.labels import Labels
from pine.nn.functional import dropout
from pine.nn.training import device_of, seed_torch

if TYPE_CHECKING:
    from pine.baselines.gnn.graphsage import GraphSAGE


def learn(model: GraphSAGE, graph: Graph, labels: Labels, rng: np.random.Generator) -> tuple[Fitted, Network]:
    """Train on samples of neighbors; then read vectors and scores with all neighbors."""
    device = device_of(model.device)
    generator = seed_torch(rng, device)
    goal = Goal.of(graph, labels, device)
    columns = columns_of(graph)
    network = Network(columns, model.dim, goal.num_outputs, model.aggregator, model.dropout).to(device)
    x, neighbors = attributes_of(graph, columns, device), graph.links().distinct()
    everyone = all_pairs(neighbors, device)
    samplers = [NeighborSampler.of(neighbors, size) for size in (model.samples_1, model.samples_2)]

    def forward(generator: torch.Generator | None) -> tuple[Tensor, Tensor]:
        if generator is None:
            seen = everyone
        else:
            keys = rng.integers(2**63, size=2).tolist()
            drawn = [each.draw(key, model.threads) for each, key in zip(samplers, keys, strict=True)]
            seen = [torch.from_numpy(pairs).to(device) for pairs in drawn]
        outputs: tuple[Tensor, Tensor] = network(x, seen, generator)
        return outputs

    rate, decay = model.learning_rate, model.weight_decay
    optimizer = torch.optim.Adam(network.parameters(), lr=rate, weight_decay=decay, fused=True)
    for _ in range(model.epochs):
        step(forward, goal, optimizer, generator)
    return fitted(forward, goal), network


class Network(BaseNetwork):
    """Two layers, relu between them, the second at unit length; dropout on what enters each and the classifier."""

    def __init__(self, columns: Sequence[Columns], dim: int, num_outputs: int, aggregator: str, dropout: float) -> None:
        super().__init__(columns, dim, num_outputs=num_outputs, aggregator=aggregator, dropout=dropout)
        self.dropout = dropout
        kind: dict[str, Any] = {"aggr": "max", "project": True} if aggregator == "pool" else {"aggr": "mean"}
        self.first = SAGEConv(dim, dim, **kind)
        self.second = SAGEConv(dim, dim, normalize=True, **kind)
        self.output = nn.Linear(dim, num_outputs)

    @staticmethod
    def links(graph: Graph, device: torch.device, threads: int | None) -> list[Tensor]:
        return all_pairs(graph.links().distinct(), device)

    def forward(
        self, x: Attributes, links: Sequence[Tensor], generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        """links: the neighbors and nodes of each layer, (2, num_pairs)."""
        share = self.dropout if generator is not None else 0.0
        first = self.first(self.inputs(x, share, generator), links[0]).relu()
        second = self.second(dropout(first, share, generator), links[1])
        return second, self.output(dropout(second, share, generator))


def all_pairs(neighbors: CSR, device: torch.device) -> list[Tensor]:
    """All neighbors with their nodes, for each of the two layers: (2, num_pairs)."""
    pairs = np.stack([neighbors.indices, neighbors.rows()]).astype(np.int64)
    return [torch.tensor(pairs, device=device)] * 2
