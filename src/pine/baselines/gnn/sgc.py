"""SGC: Z = S^K X W + b with S = D^-1/2 (A + I) D^-1/2, a linear model (Wu et al., 2019).

S^K (X W) is what is computed: X may have many columns, X W has as many as there are classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from pine._internal.settings import Count, NonNegative, NonNegativeInt
from pine.baselines.gnn.inputs import Features, InputColumns
from pine.baselines.gnn.method import GNN
from pine.baselines.gnn.network import ConvolutionNetwork, GraphNetwork
from pine.embedder import Seed
from pine.nn import Neighbors, neighbor_sum


class SGCNetwork(ConvolutionNetwork):
    """One linear map for each node type, and sums over neighbors."""

    def __init__(self, columns: Sequence[InputColumns], num_outputs: int, hops: int) -> None:
        super().__init__(columns, num_outputs, num_outputs=num_outputs, hops=hops)
        self.bias = nn.Parameter(torch.zeros(num_outputs))
        self.hops = hops

    def forward(
        self, x: Features, adjacency: Neighbors, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        outputs = self.inputs(x, 0.0, None)
        for _ in range(self.hops):
            outputs = neighbor_sum(outputs, adjacency)
        outputs = outputs + self.bias
        return outputs, outputs


@dataclass
class SGC(GNN):
    """embedding_ is the scores of the classes, before softmax. Types are not told apart, except that each has features
    of its own or none. Where all have some, transform and predict take other graphs too.

    Defaults: its authors' code, whose weight decay is tuned on the validation labels of each data set: 1.3e-5 on Cora,
    2.4e-5 on Citeseer, 7.4e-5 on Pubmed.

    hops: steps along edges, K in the formula.
    epochs: how long to train.
    learning_rate: Adam's.
    weight_decay: of all weights.
    seed: a number of at least 0, a NumPy generator, or None for a new draw each time.
    device: "cpu", "cuda", or "auto", a GPU where there is one.
    threads: of the CPU; None: all cores.
    """

    name: ClassVar[str] = "sgc"
    revision: ClassVar[int] = 1
    network_class: ClassVar[type[GraphNetwork]] = SGCNetwork

    hops: NonNegativeInt = 2
    epochs: Count = 100
    learning_rate: NonNegative = 0.2
    weight_decay: NonNegative = 2e-5
    seed: Seed = 0
    device: str = "auto"
    threads: Count | None = None

    def _network_settings(self) -> dict[str, Any]:
        return {"hops": self.hops}
