"""Aggregators of GraphSAGE: U z_v, z_v made of what each neighbor says, beside R x_v.

pool  z_v = max of relu(P x_u + p)                       over neighbors u
mean  z_v = mean of x_u
pine  z_v = sum of W g(x_u) / sqrt(number of neighbors), and h in place of U: PINE's function of the set

A node without neighbors has z_v = 0. Neighbors are given as edges, or as samples: a sum is then estimated by its mean
over the samples times the number of neighbors.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.utils import scatter

from pine.nn.neighbor_sum import SCALINGS
from pine.nn.pyg_layers import PINEAggregation
from pine.reproduce.inductive.settings import Layered


class Pool(nn.Module):
    reduce: str = "max"

    def __init__(self, inputs: int, outputs: int, setting: Layered) -> None:
        super().__init__()
        self.P = nn.Linear(inputs, setting.pool)
        self.U = nn.Linear(setting.pool, outputs, bias=False)

    def said(self, x: Tensor) -> Tensor:
        """What nodes (n, inputs) say to those that they are neighbors of."""
        return functional.relu(self.P(x))

    def finished(self, z: Tensor) -> Tensor:
        """(n, outputs)."""
        out: Tensor = self.U(z)
        return out


class Mean(nn.Module):
    reduce: str = "mean"

    def __init__(self, inputs: int, outputs: int, setting: Layered) -> None:
        super().__init__()
        self.U = nn.Linear(inputs, outputs, bias=False)

    def said(self, x: Tensor) -> Tensor:
        return x

    def finished(self, z: Tensor) -> Tensor:
        out: Tensor = self.U(z)
        return out


class Pine(nn.Module):
    def __init__(self, inputs: int, outputs: int, setting: Layered) -> None:
        super().__init__()
        self.f = PINEAggregation(inputs, outputs, setting.hidden, setting.projections, setting.scales).f
        self.reduce: str = self.f.scaling

    def said(self, x: Tensor) -> Tensor:
        (messages,) = self.f.messages([x])
        return messages

    def finished(self, z: Tensor) -> Tensor:
        return self.f.finished(z)


class Layer(nn.Module):
    """R x beside the aggregate, half of the columns each."""

    KINDS: ClassVar[dict[str, type[Pool] | type[Mean] | type[Pine]]] = {"pool": Pool, "mean": Mean, "pine": Pine}

    def __init__(self, inputs: int, outputs: int, setting: Layered) -> None:
        super().__init__()
        self.R = nn.Linear(inputs, outputs - outputs // 2, bias=False)
        self.others = self.KINDS[setting.aggregator](inputs, outputs // 2, setting)

    def over_samples(self, own: Tensor, x: Tensor, samples: Tensor, degree: Tensor) -> Tensor:
        """Nodes (n, inputs), samples (n, size) of their neighbors, as rows of x, and how many they have, (n,)."""
        if samples.numel() < len(x):
            x, samples = x[samples.flatten()], torch.arange(samples.numel(), device=x.device).view_as(samples)
        # A node that is drawn many times speaks once.
        said = functional.embedding(samples, self.others.said(x))
        if self.others.reduce == "max":
            z = said.max(1).values
        else:
            z = said.mean(1) * degree.to(x.dtype)[:, None] ** (1 - SCALINGS[self.others.reduce])
        return torch.cat([self.R(own), self.others.finished(z.masked_fill((degree == 0)[:, None], 0))], dim=1)

    def over_edges(self, x: Tensor, edges: Tensor) -> Tensor:
        """All nodes (n, inputs), and edges (2, num_edges) from a neighbor to a node."""
        said = functional.embedding(edges[0], self.others.said(x))
        if self.others.reduce == "max":
            z = scatter(said, edges[1], dim_size=len(x), reduce="max")
        else:
            degree = torch.bincount(edges[1], minlength=len(x)).clamp(min=1).to(x.dtype)
            z = scatter(said, edges[1], dim_size=len(x), reduce="sum")
            z = z / degree[:, None] ** SCALINGS[self.others.reduce]
        return torch.cat([self.R(x), self.others.finished(z)], dim=1)
