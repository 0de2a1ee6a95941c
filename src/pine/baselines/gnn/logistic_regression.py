"""Logistic regression on a node's own features, without edges: Z = X W + b."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from pine._internal.settings import Count, NonNegative
from pine.baselines.gnn.inputs import Features, InputColumns
from pine.baselines.gnn.method import GNN
from pine.baselines.gnn.network import GraphNetwork
from pine.embedder import Seed
from pine.graph import Graph


class LogisticRegressionNetwork(GraphNetwork):
    """One linear map for each node type, to as many outputs as there are classes."""

    def __init__(self, columns: Sequence[InputColumns], num_outputs: int) -> None:
        super().__init__(columns, num_outputs, num_outputs=num_outputs)
        self.bias = nn.Parameter(torch.zeros(num_outputs))

    @staticmethod
    def adjacency(graph: Graph, device: torch.device, threads: int | None) -> None:
        """It looks at none."""

    def forward(self, x: Features, adjacency: None, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        outputs = self.inputs(x, 0.0, None) + self.bias
        return outputs, outputs


@dataclass
class LogisticRegression(GNN):
    """embedding_ is the scores of the classes, before softmax. Numbers are learned by linear regression. Nodes with
    labels must have features. Where all types have some, transform and predict take other graphs too.

    Rate and epochs: those of SGC, which is the same on features carried along edges.

    epochs: how long to train.
    learning_rate: Adam's.
    weight_decay: of all weights.
    seed: a number of at least 0, a NumPy generator, or None for a new draw each time.
    device: "cpu", "cuda", or "auto", a GPU where there is one.
    threads: of the CPU; None: all cores.
    """

    name: ClassVar[str] = "logistic-regression"
    revision: ClassVar[int] = 1
    needs_features: ClassVar[bool] = True
    network_class: ClassVar[type[GraphNetwork]] = LogisticRegressionNetwork

    epochs: Count = 100
    learning_rate: NonNegative = 0.2
    weight_decay: NonNegative = 2e-5
    seed: Seed = 0
    device: str = "auto"
    threads: Count | None = None

    def _network_settings(self) -> dict[str, Any]:
        return {}
