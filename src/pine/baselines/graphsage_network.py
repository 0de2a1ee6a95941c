"""The network of GraphSAGE and its training, on torch and PyTorch Geometric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import SAGEConv

from pine.baselines.full_batch import fitted, seeded, step
from pine.baselines.inputs import Inputs
from pine.baselines.neighbor_samples import NeighborSampler
from pine.baselines.neural import Goal
from pine.embedder import Fitted
from pine.graph import Graph
from pine.labels import Labels
from pine.nn.device import device_of
from pine.nn.dropout import dropped

if TYPE_CHECKING:
    from pine.baselines.graphsage import GraphSAGE


def learn(model: GraphSAGE, graph: Graph, labels: Labels, rng: np.random.Generator) -> Fitted:
    """Train on samples of neighbors; then read vectors and scores with all neighbors."""
    device = device_of(model.device)
    generator = seeded(rng, device)
    goal = Goal.of(graph, labels, device)
    network = Network(graph, model.dim, goal.num_outputs, model.aggregator, model.dropout).to(device)
    neighbors = graph.links().distinct()
    everyone = torch.tensor(np.stack([neighbors.indices, neighbors.rows()]).astype(np.int64), device=device)
    samplers = [NeighborSampler.of(neighbors, size) for size in (model.samples_1, model.samples_2)]

    def forward(generator: torch.Generator | None) -> tuple[Tensor, Tensor]:
        if generator is None:
            seen = [everyone, everyone]
        else:
            keys = rng.integers(2**63, size=2).tolist()
            drawn = [each.draw(key, model.threads) for each, key in zip(samplers, keys, strict=True)]
            seen = [torch.from_numpy(pairs).to(device) for pairs in drawn]
        outputs: tuple[Tensor, Tensor] = network(seen, generator)
        return outputs

    rate, decay = model.learning_rate, model.weight_decay
    optimizer = torch.optim.Adam(network.parameters(), lr=rate, weight_decay=decay, fused=True)
    for _ in range(model.epochs):
        step(forward, goal, optimizer, generator)
    return fitted(forward, goal)


class Network(nn.Module):
    """Two layers, relu between them, the second at unit length; dropout on what enters each and the classifier."""

    def __init__(self, graph: Graph, dim: int, num_outputs: int, aggregator: str, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.inputs = Inputs(graph, dim)
        kind: dict[str, Any] = {"aggr": "max", "project": True} if aggregator == "pool" else {"aggr": "mean"}
        self.first = SAGEConv(dim, dim, **kind)
        self.second = SAGEConv(dim, dim, normalize=True, **kind)
        self.output = nn.Linear(dim, num_outputs)

    def forward(self, pairs: Sequence[Tensor], generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """(num_nodes, dim) and (num_nodes, num_outputs), by the neighbors and nodes of each layer: (2, num_pairs).

        With a generator, entries are dropped.
        """
        share = self.dropout if generator is not None else 0.0
        first = self.first(self.inputs(share, generator), pairs[0]).relu()
        second = self.second(dropped(first, share, generator), pairs[1])
        return second, self.output(dropped(second, share, generator))
