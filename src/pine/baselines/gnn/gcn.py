"""GCN: Z = S relu(S X W_1) W_2 with S = D^-1/2 (A + I) D^-1/2 (Kipf and Welling, 2017), on PyTorch Geometric's layers.

Where nodes have no features, X is the identity matrix and W_1 a table with a row for each node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from pine._internal.settings import Chance, Count, NonNegative
from pine.baselines.gnn.inputs import Features, InputColumns
from pine.baselines.gnn.method import GNN
from pine.baselines.gnn.network import ConvolutionNetwork, GraphNetwork
from pine.embedder import Seed
from pine.nn import Neighbors, neighbor_sum
from pine.nn.functional import dropout

# PyTorch Geometric is optional, and slow to import: it is imported where a network is made.


class GCNLayer(nn.Module):
    """S X W + b: the weights of PyG's layer, and the sum over neighbors of pine.nn."""

    def __init__(self, width: int, num_outputs: int) -> None:
        from torch_geometric.nn import GCNConv

        super().__init__()
        layer = GCNConv(width, num_outputs)
        self.lin, self.bias = layer.lin, layer.bias

    def forward(self, x: Tensor, adjacency: Neighbors) -> Tensor:
        outputs: Tensor = neighbor_sum(self.lin(x), adjacency) + self.bias
        return outputs


class GCNNetwork(ConvolutionNetwork):
    """hidden = relu(S X W_1 + b_1), outputs = S hidden W_2 + b_2, with dropout on X and on hidden while training."""

    def __init__(self, columns: Sequence[InputColumns], dim: int, num_outputs: int, dropout: float) -> None:
        super().__init__(columns, dim, dim=dim, num_outputs=num_outputs, dropout=dropout)
        self.dropout = dropout
        self.hidden = GCNLayer(dim, dim)
        self.hidden.lin = nn.Identity()  # it is given X W_1
        self.output = GCNLayer(dim, num_outputs)

    def forward(
        self, x: Features, adjacency: Neighbors, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        chance = self.dropout if generator is not None else 0.0
        hidden = self.hidden(self.inputs(x, chance, generator), adjacency).relu()
        return hidden, self.output(dropout(hidden, chance, generator), adjacency)


@dataclass
class GCN(GNN):
    """embedding_ is the hidden layer. Types are not told apart, except that each has features of its own or none.
    Where all have some, transform and predict take other graphs too.

    Defaults: its authors' code, with the 64 dimensions of the PINE paper's comparison in place of 16. That code also
    stops early on validation labels; here all epochs are trained.

    dim: the length of a vector.
    epochs: how long to train.
    learning_rate: Adam's.
    dropout: the chance that a unit is left out, in training.
    weight_decay: of W_1 alone.
    seed: a number of at least 0, a NumPy generator, or None for a new draw each time.
    device: "cpu", "cuda", or "auto", a GPU where there is one.
    threads: of the CPU; None: all cores.
    """

    name: ClassVar[str] = "gcn"
    revision: ClassVar[int] = 1
    needs_pyg: ClassVar[bool] = True
    network_class: ClassVar[type[GraphNetwork]] = GCNNetwork

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
