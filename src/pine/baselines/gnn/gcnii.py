"""GCNII: H_l = relu(P ((1 - b_l) I + b_l W_l)), P = (1 - alpha) S H_{l-1} + alpha H_0, b_l = log(lambda / l + 1)
(Chen et al., 2020), with H_0 = relu(X W + b) and S = D^-1/2 (A + I) D^-1/2.

The initial residual alpha H_0 and the identity in the weights let it have many layers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import torch
from torch import Tensor, nn

from pine._internal.settings import Chance, Count, NonNegative, Range
from pine.baselines.gnn.inputs import Features, InputColumns
from pine.baselines.gnn.method import EarlyStoppedGNN
from pine.baselines.gnn.network import ConvolutionNetwork, GraphNetwork
from pine.embedder import Seed
from pine.nn import Neighbors, neighbor_sum
from pine.nn.functional import dropout
from pine.nn.training import Criterion


class GCNIINetwork(ConvolutionNetwork):
    """A linear map, layers, and a linear map, with dropout on what enters each while training."""

    def __init__(
        self,
        columns: Sequence[InputColumns],
        dim: int,
        num_outputs: int,
        layers: int,
        alpha: float,
        lam: float,
        dropout: float,
    ) -> None:
        settings = {"num_outputs": num_outputs, "layers": layers, "alpha": alpha, "lam": lam, "dropout": dropout}
        super().__init__(columns, dim, dim=dim, **settings)
        self.dropout, self.alpha = dropout, alpha
        self.shares = [math.log(lam / (layer + 1) + 1) for layer in range(layers)]  # b_l
        for each in self.inputs.weights:  # as its authors' first map begins, smaller than others'
            nn.init.uniform_(each, -1 / math.sqrt(len(each)), 1 / math.sqrt(len(each)))
        self.bias = nn.Parameter(torch.zeros(dim))
        self.weights = nn.Parameter(torch.empty(layers, dim, dim).uniform_(-1, 1) / math.sqrt(dim))
        self.output = nn.Linear(dim, num_outputs)

    def forward(
        self, x: Features, adjacency: Neighbors, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        chance = self.dropout if generator is not None else 0.0
        hidden = first = (self.inputs(x, chance, generator) + self.bias).relu()
        for weight, share in zip(self.weights.unbind(), self.shares, strict=True):
            carried = neighbor_sum(dropout(hidden, chance, generator), adjacency)
            mixed = torch.lerp(carried, first, self.alpha)
            hidden = torch.lerp(mixed, mixed @ weight, share).relu()
        return hidden, self.output(dropout(hidden, chance, generator))


@dataclass
class GCNII(EarlyStoppedGNN):
    """embedding_ is the last hidden layer. Types are not told apart, except that each has features of its own or none.
    Where all have some, transform and predict take other graphs too.

    Defaults: its authors' code for Cora. For Citeseer they have dim=256, layers=32, lam=0.6, dropout=0.7, and for
    Pubmed dim=256, layers=16, lam=0.4, dropout=0.5, weight_decay=5e-4.

    dim: the length of a vector.
    layers: how many there are.
    alpha: the share of the first layer in each.
    lam: lambda in the formula.
    epochs: how long to train, at most.
    patience: epochs without the best held-out loss.
    learning_rate: Adam's.
    dropout: the chance that a unit is left out, in training.
    weight_decay: of the W_l.
    linear_decay: of the first and the last map.
    seed: a number of at least 0, a NumPy generator, or None for a new draw each time.
    device: "cpu", "cuda", or "auto", a GPU where there is one.
    threads: of the CPU; None: all cores.
    """

    name: ClassVar[str] = "gcnii"
    revision: ClassVar[int] = 2
    network_class: ClassVar[type[GraphNetwork]] = GCNIINetwork
    criterion: ClassVar[Criterion] = "loss alone"

    dim: Count = 64
    layers: Count = 64
    alpha: Annotated[float, Range(0, 1, with_high=True)] = 0.1
    lam: NonNegative = 0.5
    epochs: Count = 1500
    patience: Count = 100
    learning_rate: NonNegative = 0.01
    dropout: Chance = 0.6
    weight_decay: NonNegative = 0.01
    linear_decay: NonNegative = 5e-4
    seed: Seed = 0
    device: str = "auto"
    threads: Count | None = None

    def _network_settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("dim", "layers", "alpha", "lam", "dropout")}

    def _parameter_groups(self, network: GraphNetwork) -> list[dict[str, Any]]:
        return self._grouped(network, "weights", self.linear_decay)
