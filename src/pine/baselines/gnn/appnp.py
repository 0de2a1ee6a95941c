"""APPNP: Z_0 = H, Z_k = (1 - alpha) S Z_{k-1} + alpha H, with H the outputs of an MLP (Klicpera et al., 2019).

This is personalized PageRank by power iteration, with S = D^-1/2 (A + I) D^-1/2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import torch
from torch import Tensor

from pine._internal.settings import Chance, Count, NonNegative, Range
from pine.baselines.gnn.inputs import Features, InputColumns, SparseFeatures
from pine.baselines.gnn.method import EarlyStoppedGNN
from pine.baselines.gnn.mlp import MLPNetwork
from pine.baselines.gnn.network import GraphNetwork
from pine.embedder import Seed
from pine.graph import Graph
from pine.propagation import looped_adjacency


class APPNPNetwork(MLPNetwork):
    """An MLP whose outputs are carried along edges; while training, each step drops entries of S anew."""

    def __init__(
        self, columns: Sequence[InputColumns], dim: int, num_outputs: int, dropout: float, hops: int, alpha: float
    ) -> None:
        super().__init__(columns, dim, num_outputs, dropout, hops=hops, alpha=alpha)
        self.hops, self.alpha = hops, alpha

    @staticmethod
    def adjacency(graph: Graph, device: torch.device, threads: int | None) -> SparseFeatures:
        """S as a matrix whose entries can be dropped."""
        return SparseFeatures(looped_adjacency(graph).to_scipy(), device)

    def forward(
        self, x: Features, adjacency: SparseFeatures, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        hidden, local = super().forward(x, None, generator)
        outputs = local
        for _ in range(self.hops):
            outputs = (1 - self.alpha) * adjacency.times(outputs, self.dropout, generator) + self.alpha * local
        return hidden, outputs


@dataclass
class APPNP(EarlyStoppedGNN):
    """embedding_ is the hidden layer of the MLP. Types are not told apart, except that each has features of its own or
    none. Where all have some, transform and predict take other graphs too.

    Defaults: its authors' code for citation graphs. Theirs has no biases.

    dim: the length of a vector.
    hops: steps along edges, K in the formula.
    alpha: the chance to return to the node.
    epochs: how long to train, at most.
    patience: epochs without the best held-out loss or score.
    learning_rate: Adam's.
    dropout: of X, of the hidden layer and of S.
    weight_decay: of W_1 alone.
    seed: a number of at least 0, a NumPy generator, or None for a new draw each time.
    device: "cpu", "cuda", or "auto", a GPU where there is one.
    threads: of the CPU; None: all cores.
    """

    name: ClassVar[str] = "appnp"
    revision: ClassVar[int] = 1
    network_class: ClassVar[type[GraphNetwork]] = APPNPNetwork

    dim: Count = 64
    hops: Count = 10
    alpha: Annotated[float, Range(0, 1, with_high=True)] = 0.1
    epochs: Count = 10_000
    patience: Count = 100
    learning_rate: NonNegative = 0.01
    dropout: Chance = 0.5
    weight_decay: NonNegative = 5e-3
    seed: Seed = 0
    device: str = "auto"
    threads: Count | None = None

    def _network_settings(self) -> dict[str, Any]:
        return {"dim": self.dim, "dropout": self.dropout, "hops": self.hops, "alpha": self.alpha}

    def _parameter_groups(self, network: GraphNetwork) -> list[dict[str, Any]]:
        return self._grouped(network, "inputs.")
