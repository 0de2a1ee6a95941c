"""GraphSAGE on samples of neighbors, in two layers: relu after the first, the second at unit length, a linear map."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from pine.reproduce.inductive.aggregators import Layer
from pine.reproduce.inductive.graphs import Graphs
from pine.reproduce.inductive.network import NodeNetwork
from pine.reproduce.inductive.settings import Sampled


class SampledNetwork(NodeNetwork):
    """Scores (n, num_outputs) of nodes, by new samples of their neighbors and of those of their neighbors."""

    def __init__(self, num_features: int, num_outputs: int, setting: Sampled) -> None:
        super().__init__()
        self.setting, self.samples = setting, (setting.samples_1, setting.samples_2)
        self.first = Layer(num_features, 2 * setting.width, setting)
        self.second = Layer(2 * setting.width, 2 * setting.width, setting)
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
