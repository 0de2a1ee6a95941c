"""MLP on a node's own features, without edges: Z = relu(X W_1 + b_1) W_2 + b_2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from pine._internal.settings import Chance, Count, NonNegative
from pine.baselines.gnn.inputs import Features, InputColumns
from pine.baselines.gnn.method import GNN
from pine.baselines.gnn.network import GraphNetwork
from pine.embedder import Seed
from pine.graph import Graph
from pine.nn.functional import dropout


class MLPNetwork(GraphNetwork):
    """hidden = relu(X W_1 + b_1), outputs = hidden W_2 + b_2, with dropout on X and on hidden while training."""

    def __init__(
        self, columns: Sequence[InputColumns], dim: int, num_outputs: int, dropout: float, **settings: Any
    ) -> None:
        super().__init__(columns, dim, dim=dim, num_outputs=num_outputs, dropout=dropout, **settings)
        self.dropout = dropout
        self.bias = nn.Parameter(torch.zeros(dim))
        self.output = nn.Linear(dim, num_outputs)

    @staticmethod
    def adjacency(graph: Graph, device: torch.device, threads: int | None) -> Any:
        """It looks at none."""

    def forward(self, x: Features, adjacency: Any, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        chance = self.dropout if generator is not None else 0.0
        hidden = (self.inputs(x, chance, generator) + self.bias).relu()
        return hidden, self.output(dropout(hidden, chance, generator))


@dataclass
class MLP(GNN):
    """embedding_ is the hidden layer. Nodes with labels must have features. Where all types have some, transform and
    predict take other graphs too.

    Defaults: those of GCN, which GCN's authors give their MLP too; theirs has no biases.

    dim: the length of a vector.
    epochs: how long to train.
    learning_rate: Adam's.
    dropout: the chance that a unit is left out, in training.
    weight_decay: of W_1 alone.
    seed: a number of at least 0, a NumPy generator, or None for a new draw each time.
    device: "cpu", "cuda", or "auto", a GPU where there is one.
    threads: of the CPU; None: all cores.
    """

    name: ClassVar[str] = "mlp"
    revision: ClassVar[int] = 1
    needs_features: ClassVar[bool] = True
    network_class: ClassVar[type[GraphNetwork]] = MLPNetwork

    dim: Count = 64
    epochs: Count = 200
    learning_rate: NonNegative = 0.01
    dropout: Chance = 0.5
    weight_decay: NonNegative = 5e-4
    seed: Seed = 0
    device: str = "auto"
    threads: Count | None = None

    def _network_settings(self) -> dict[str, Any]:
        return {"dim": self.dim, "dropout": self.dropout}

    def _parameter_groups(self, network: GraphNetwork) -> list[dict[str, Any]]:
        return self._grouped(network, "inputs.")
