"""GraphSAGE: x_v' = W x_v + U max over neighbors u of relu(P x_u + p), in two layers (Hamilton et al., 2017), on
PyTorch Geometric's layers; the aggregator "mean" takes the mean of x_u instead.

Where nodes have no features, x is learned: a table with a row for each node.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor, nn

from pine._internal.settings import Chance, Count, NonNegative
from pine.baselines.gnn.inputs import Features, InputColumns
from pine.baselines.gnn.method import GNN
from pine.baselines.gnn.network import GraphNetwork
from pine.baselines.gnn.training import LabeledGraph
from pine.embedder import Seed
from pine.graph import Graph
from pine.graph.sampling.neighbors import NeighborSampler
from pine.nn.functional import dropout

# PyTorch Geometric is optional, and slow to import: it is imported where a network is made.


class GraphSAGENetwork(GraphNetwork):
    """Two layers, relu between them, the second at unit length; dropout on what enters each and the classifier."""

    def __init__(
        self, columns: Sequence[InputColumns], dim: int, num_outputs: int, aggregator: str, dropout: float
    ) -> None:
        from torch_geometric.nn import SAGEConv

        super().__init__(columns, dim, dim=dim, num_outputs=num_outputs, aggregator=aggregator, dropout=dropout)
        self.dropout = dropout
        kind: dict[str, Any] = {"aggr": "max", "project": True} if aggregator == "pool" else {"aggr": "mean"}
        self.first = SAGEConv(dim, dim, **kind)
        self.second = SAGEConv(dim, dim, normalize=True, **kind)
        self.output = nn.Linear(dim, num_outputs)

    @staticmethod
    def adjacency(graph: Graph, device: torch.device, threads: int | None) -> list[Tensor]:
        neighbors = graph.links().distinct()
        edges = np.stack([neighbors.indices, neighbors.rows()]).astype(np.int64)
        return [torch.tensor(edges, device=device)] * 2

    def forward(
        self, x: Features, adjacency: Sequence[Tensor], generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        """adjacency: the edges (source, target) that each layer sees, (2, num_edges)."""
        chance = self.dropout if generator is not None else 0.0
        first = self.first(self.inputs(x, chance, generator), adjacency[0]).relu()
        second = self.second(dropout(first, chance, generator), adjacency[1])
        return second, self.output(dropout(second, chance, generator))


@dataclass
class GraphSAGE(GNN):
    """embedding_ is the second layer, at unit length; a linear classifier reads it. Types are not told apart, except
    that each has features of its own or none; weights of edges are not looked at, and edges go both ways. Where all
    types have features, transform and predict take other graphs too, with all neighbors.

    Rate, samples and the unit length of the last layer alone: its authors' code. Their ten epochs in batches are for
    large graphs; here every epoch is one step on all labels, and the number of epochs, dropout and weight decay were
    chosen on held-out training labels of Cora and Wikipedia (50 %) and Cora (10 %).

    What differs from that code: W x_v and U max are added, which is the paper's product with both joined, not set side
    by side; P keeps the width of x, 64, instead of 512; samples have no repeats; features pass a linear map to dim
    first, so that types with features of any width meet; gradients are not clipped.

    The same seed and number of threads give the same bits on a CPU; a GPU sums in an order of its own.

    dim: the length of a vector.
    aggregator: of neighbors: "pool", the maximum, or "mean".
    samples_1: neighbors that a node looks at in the first layer, drawn anew in every epoch.
    samples_2: the same in the second.
    epochs: how long to train.
    learning_rate: Adam's.
    dropout: the chance that a unit is left out, in training.
    weight_decay: of all weights.
    seed: a number of at least 0, a NumPy generator, or None for a new draw each time.
    device: "cpu", "cuda", or "auto", a GPU where there is one.
    threads: of the CPU; None: all cores.
    """

    name: ClassVar[str] = "graphsage"
    revision: ClassVar[int] = 1
    needs_pyg: ClassVar[bool] = True
    network_class: ClassVar[type[GraphNetwork]] = GraphSAGENetwork

    dim: Count = 64
    aggregator: Literal["pool", "mean"] = "pool"
    samples_1: Count = 25
    samples_2: Count = 10
    epochs: Count = 150
    learning_rate: NonNegative = 0.01
    dropout: Chance = 0.5
    weight_decay: NonNegative = 0.0
    seed: Seed = 0
    device: str = "auto"
    threads: Count | None = None

    def _network_settings(self) -> dict[str, Any]:
        return {"dim": self.dim, "aggregator": self.aggregator, "dropout": self.dropout}

    def _step_adjacencies(self, data: LabeledGraph, rng: np.random.Generator) -> Iterator[list[Tensor]]:
        """Some neighbors of every node, drawn anew for every step and layer."""
        neighbors = data.graph.links().distinct()
        samplers = [NeighborSampler.of(neighbors, size) for size in (self.samples_1, self.samples_2)]
        while True:
            keys = rng.integers(2**63, size=2).tolist()
            drawn = [each.draw(key, self.threads) for each, key in zip(samplers, keys, strict=True)]
            yield [torch.from_numpy(edges).to(data.device) for edges in drawn]
