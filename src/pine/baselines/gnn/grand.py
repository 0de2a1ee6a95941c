"""GRAND: an MLP on P (M X), P = mean of S^k over k = 0 .. K, where M drops nodes (Feng et al., 2020), with
S = D^-1/2 (A + I) D^-1/2.

A step draws M several times. Beside the loss at the known labels, all nodes' predictions are drawn to their sharpened
mean over the draws. P (M (X W)) is what is computed: X may have many columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from pine._internal.settings import Chance, Count, FinitePositive, NonNegative, NonNegativeInt
from pine.baselines.gnn.inputs import Features, InputColumns
from pine.baselines.gnn.method import EarlyStoppedGNN
from pine.baselines.gnn.network import GraphNetwork
from pine.baselines.gnn.normalization import ConvolutionNetwork
from pine.embedder import Seed
from pine.nn import Neighbors, neighbor_sum
from pine.nn.functional import dropout, probabilities
from pine.nn.targets import Targets
from pine.nn.training import Criterion


class GRANDNetwork(ConvolutionNetwork):
    """hidden = relu(P M X W_1 + b_1), outputs = hidden W_2 + b_2, with dropout on X and on hidden while training."""

    def __init__(
        self,
        columns: Sequence[InputColumns],
        dim: int,
        num_outputs: int,
        hops: int,
        node_dropout: float,
        input_dropout: float,
        dropout: float,
        batch_norm: bool,
        samples: int,
        lam: float,
        temperature: float,
    ) -> None:
        settings = {name: value for name, value in locals().items() if name not in ("self", "columns", "__class__")}
        super().__init__(columns, dim, **settings)
        self.hops, self.node_dropout, self.input_dropout, self.dropout = hops, node_dropout, input_dropout, dropout
        self.samples, self.lam, self.temperature = samples, lam, temperature
        self.bias = nn.Parameter(torch.zeros(dim))
        self.input_norm, self.norm = (nn.BatchNorm1d(dim) if batch_norm else nn.Identity() for _ in range(2))
        self.output = nn.Linear(dim, num_outputs)

    def forward(
        self, x: Features, adjacency: Neighbors, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        self.train(generator is not None)
        input_chance, node_chance, chance = (
            (self.input_dropout, self.node_dropout, self.dropout) if generator is not None else (0.0, 0.0, 0.0)
        )
        carried = self.inputs(x, input_chance, generator)
        # As the authors have it: nodes that are kept do not grow, and without dropout all nodes shrink.
        carried = dropout(carried, node_chance, generator, (len(carried), 1)) * (1 - self.node_dropout)
        total = carried
        for _ in range(self.hops):
            carried = neighbor_sum(carried, adjacency)
            total = total + carried
        hidden = self.norm((self.input_norm(total / (self.hops + 1)) + self.bias).relu())
        return hidden, self.output(dropout(hidden, chance, generator))

    def loss(self, x: Features, adjacency: Neighbors, targets: Targets, generator: torch.Generator) -> Tensor:
        """The mean over draws of the loss at the known labels, plus lam times the distance of all predictions to their
        sharpened mean.
        """
        drawn = [self(x, adjacency, generator)[1] for _ in range(self.samples)]
        known = torch.stack([targets.loss(outputs) for outputs in drawn]).mean()
        p = torch.stack([probabilities(targets.task, outputs) for outputs in drawn])
        center = sharpened(targets.task, p.mean(0), self.temperature).detach()
        return known + self.lam * (p - center).square().sum(-1).mean()


def sharpened(task: str, p: Tensor, temperature: float) -> Tensor:
    """p^(1 / temperature), normalized: over classes, or over a label and its absence; numbers stay."""
    if task == "numbers":
        return p
    powers = p.pow(1 / temperature)
    return powers / (powers.sum(-1, keepdim=True) if task == "classes" else powers + (1 - p).pow(1 / temperature))


@dataclass
class GRAND(EarlyStoppedGNN):
    """embedding_ is the hidden layer. Types are not told apart, except that each has features of its own or none.
    Where all have some, transform and predict take other graphs too.

    Defaults: its authors' code for Cora. For Citeseer they have hops=2, samples=2, input_dropout=0, dropout=0.2,
    lam=0.7, temperature=0.3, and for Pubmed hops=5, input_dropout=0.6, dropout=0.8, temperature=0.2,
    learning_rate=0.2, patience=100, batch_norm=true. Theirs drops entries of P M X and normalizes its columns; here
    entries of X are dropped, and the columns of P M X W_1 normalized.
    """

    name: ClassVar[str] = "grand"
    revision: ClassVar[int] = 1
    network_class: ClassVar[type[GraphNetwork]] = GRANDNetwork
    criterion: ClassVar[Criterion] = "loss"

    dim: Count = 32
    hops: NonNegativeInt = 8  # K
    samples: Count = 4  # draws of M in a step
    lam: NonNegative = 1.0  # weight of the distance to the sharpened mean
    temperature: FinitePositive = 0.5  # lower: sharper
    epochs: Count = 5000  # at most
    patience: Count = 200  # epochs without the best held-out loss or score
    learning_rate: NonNegative = 0.01
    node_dropout: Chance = 0.5
    input_dropout: Chance = 0.5
    dropout: Chance = 0.5  # of the hidden layer
    batch_norm: bool = False
    weight_decay: NonNegative = 5e-4
    seed: Seed = 0
    device: str = "auto"
    threads: Count | None = None

    def _network_settings(self) -> dict[str, Any]:
        names = ("dim", "hops", "node_dropout", "input_dropout", "dropout", "batch_norm")
        return {name: getattr(self, name) for name in (*names, "samples", "lam", "temperature")}
