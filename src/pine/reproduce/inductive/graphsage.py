"""GraphSAGE with a choice of aggregators: U z_v beside R x_v, where z_v aggregates messages of the neighbors.

pool  z_v = max of relu(P x_u + p)                       over neighbors u
mean  z_v = mean of x_u
pine  z_v = sum of W g(x_u) / sqrt(number of neighbors), and h in place of U: PINE's function of the set

A node without neighbors has z_v = 0. Neighbors are given as edges, or as samples: a sum is then estimated by its mean
over the samples times the number of neighbors.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.utils import scatter

from pine.nn.neighbor_sum import SCALINGS
from pine.nn.pyg_layers import PINEAggregation
from pine.reproduce.inductive.graphs import Graphs
from pine.reproduce.inductive.settings import LayerSettings, SampledSettings
from pine.reproduce.inductive.training import NodeNetwork


class PoolAggregator(nn.Module):
    reduce: str = "max"

    def __init__(self, inputs: int, outputs: int, setting: LayerSettings) -> None:
        super().__init__()
        self.P = nn.Linear(inputs, setting.pool)
        self.U = nn.Linear(setting.pool, outputs, bias=False)

    def messages(self, x: Tensor) -> Tensor:
        """Of nodes (n, inputs) to those that they are neighbors of."""
        return functional.relu(self.P(x))

    def output(self, z: Tensor) -> Tensor:
        """(n, outputs)."""
        out: Tensor = self.U(z)
        return out


class MeanAggregator(nn.Module):
    reduce: str = "mean"

    def __init__(self, inputs: int, outputs: int, setting: LayerSettings) -> None:
        super().__init__()
        self.U = nn.Linear(inputs, outputs, bias=False)

    def messages(self, x: Tensor) -> Tensor:
        return x

    def output(self, z: Tensor) -> Tensor:
        out: Tensor = self.U(z)
        return out


class PINEAggregator(nn.Module):
    def __init__(self, inputs: int, outputs: int, setting: LayerSettings) -> None:
        super().__init__()
        self.f = PINEAggregation(inputs, outputs, setting.hidden, setting.projections, setting.scales).f
        self.reduce: str = self.f.scaling

    def messages(self, x: Tensor) -> Tensor:
        (messages,) = self.f.messages([x])
        return messages

    def output(self, z: Tensor) -> Tensor:
        return self.f.finished(z)


AGGREGATORS: dict[str, type[PoolAggregator] | type[MeanAggregator] | type[PINEAggregator]] = {
    "pool": PoolAggregator,
    "mean": MeanAggregator,
    "pine": PINEAggregator,
}


class SAGELayer(nn.Module):
    """R x beside the aggregate, half of the columns each."""

    def __init__(self, inputs: int, outputs: int, setting: LayerSettings) -> None:
        super().__init__()
        self.R = nn.Linear(inputs, outputs - outputs // 2, bias=False)
        self.aggregator = AGGREGATORS[setting.aggregator](inputs, outputs // 2, setting)

    def over_samples(self, own: Tensor, x: Tensor, samples: Tensor, degree: Tensor) -> Tensor:
        """Nodes (n, inputs), samples (n, size) of their neighbors, as rows of x, and how many they have, (n,)."""
        if samples.numel() < len(x):
            x, samples = x[samples.flatten()], torch.arange(samples.numel(), device=x.device).view_as(samples)
        # The message of a node that is drawn many times is computed once.
        messages = functional.embedding(samples, self.aggregator.messages(x))
        if self.aggregator.reduce == "max":
            z = messages.max(1).values
        else:
            z = messages.mean(1) * degree.to(x.dtype)[:, None] ** (1 - SCALINGS[self.aggregator.reduce])
        return torch.cat([self.R(own), self.aggregator.output(z.masked_fill((degree == 0)[:, None], 0))], dim=1)

    def over_edges(self, x: Tensor, edges: Tensor) -> Tensor:
        """All nodes (n, inputs), and edges (2, num_edges) from a neighbor to a node."""
        messages = functional.embedding(edges[0], self.aggregator.messages(x))
        if self.aggregator.reduce == "max":
            z = scatter(messages, edges[1], dim_size=len(x), reduce="max")
        else:
            degree = torch.bincount(edges[1], minlength=len(x)).clamp(min=1).to(x.dtype)
            z = scatter(messages, edges[1], dim_size=len(x), reduce="sum")
            z = z / degree[:, None] ** SCALINGS[self.aggregator.reduce]
        return torch.cat([self.R(x), self.aggregator.output(z)], dim=1)


class SampledNetwork(NodeNetwork):
    """Two layers on samples of neighbors: relu after the first, the second at unit length, a linear map.

    Neighbors, and neighbors of neighbors, are sampled anew each time.
    """

    def __init__(self, num_features: int, num_outputs: int, setting: SampledSettings) -> None:
        super().__init__()
        self.setting, self.samples = setting, (setting.samples_1, setting.samples_2)
        self.first = SAGELayer(num_features, 2 * setting.width, setting)
        self.second = SAGELayer(2 * setting.width, 2 * setting.width, setting)
        self.output = nn.Linear(2 * setting.width, num_outputs)

    def forward(self, graphs: Graphs, nodes: Tensor, generator: torch.Generator) -> Tensor:
        near, degree = graphs.neighbors.draw(nodes, self.samples[1], generator)
        inner = torch.cat([nodes, near.flatten()])
        far, inner_degree = graphs.neighbors.draw(inner, self.samples[0], generator)
        x = self.first.over_samples(graphs.x[inner], graphs.x, far, inner_degree).relu()
        near = len(nodes) + torch.arange(near.numel(), device=x.device).view_as(near)  # where they are among inner
        x = self.second.over_samples(x[: len(nodes)], x, near, degree)
        scores: Tensor = self.output(functional.normalize(x))
        return scores
