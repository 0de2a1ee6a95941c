"""GRAND: an MLP on P M X, P = mean of S^k over k = 0 .. K, where M drops nodes (Feng et al., 2020), with
S = D^-1/2 (A + I) D^-1/2.

A step draws M several times. Beside the loss at the known labels, all nodes' predictions are drawn to their sharpened
mean over the draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from pine._internal.memory import format_bytes
from pine._internal.settings import Chance, Count, FinitePositive, NonNegative, NonNegativeInt
from pine.baselines.gnn.inputs import FeatureBlock, Features, GivenFeatures, InputColumns
from pine.baselines.gnn.method import EarlyStoppedGNN
from pine.baselines.gnn.network import ConvolutionNetwork, GraphNetwork
from pine.embedder import FitOptions, Fitted, Seed
from pine.errors import InputError
from pine.graph import Graph
from pine.labels import Labels
from pine.nn import Neighbors, neighbor_sum
from pine.nn.functional import dropout, probabilities, sharpened
from pine.nn.targets import Targets
from pine.nn.training import Criterion

MAX_FEATURE_BYTES = 8 * 2**30  # of P M X, which is dense, in all draws of a step


class GRANDNetwork(ConvolutionNetwork):
    """hidden = relu(P M X W_1 + b_1), outputs = hidden W_2 + b_2, with dropout on P M X and on hidden while training.

    batch_norm: of the columns of P M X and of hidden, before dropout. Where X is the identity, P M X would be as large
    as P: P (M W_1) is computed instead, with dropout on the rows of W_1 and batch norm of the product's columns.
    """

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
        num_features = sum(each.width for each in columns if each.kind != "identity")
        self.has_features, self.has_table = num_features > 0, any(each.kind == "identity" for each in columns)
        self.bias = nn.Parameter(torch.zeros(dim))
        self.feature_norm, self.table_norm, self.norm = (
            nn.BatchNorm1d(width) if batch_norm and width else nn.Identity()
            for width in (num_features, dim * self.has_table, dim)
        )
        self.output = nn.Linear(dim, num_outputs)
        self._kept: tuple[Features, Neighbors, Tensor] | None = None  # P M X of evaluations

    def forward(
        self, x: Features, adjacency: Neighbors, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        count = adjacency.num_rows
        self.train(generator is not None and count > 1)  # of a single node there is no variance to normalize by
        input_chance, node_chance, chance = (
            (self.input_dropout, self.node_dropout, self.dropout) if generator is not None else (0.0, 0.0, 0.0)
        )
        # As the authors have it: nodes that are kept do not grow, and without dropout all nodes shrink.
        m = dropout(self.bias.new_ones(count, 1), node_chance, generator) * (1 - self.node_dropout)
        hidden: Tensor = self.bias
        if self.has_features:
            propagated = self._propagated_features(x, adjacency, m, generator is None)
            hidden = hidden + dropout(self.feature_norm(propagated), input_chance, generator) @ self._feature_weights()
        if self.has_table:
            propagated = self._propagated(m * self._table(x, input_chance, generator), adjacency)
            hidden = hidden + self.table_norm(propagated)
        hidden = self.norm(hidden.relu())
        return hidden, self.output(dropout(hidden, chance, generator))

    @torch.no_grad()
    def _propagated_features(self, x: Features, adjacency: Neighbors, m: Tensor, again: bool) -> Tensor:
        """P M X: (num_nodes, num_features); again: the same M comes again, as in every evaluation."""
        if again and self._kept is not None and self._kept[0] is x and self._kept[1] is adjacency:
            return self._kept[2]
        propagated = self._propagated(m * self._features(x), adjacency)
        if again:
            self._kept = (x, adjacency, propagated)
        return propagated

    def _propagated(self, carried: Tensor, adjacency: Neighbors) -> Tensor:
        """P times (num_nodes, width), which is overwritten."""
        total = carried
        for _ in range(self.hops):
            carried = neighbor_sum(carried, adjacency)
            total.add_(carried)
        return total.div_(self.hops + 1)

    def _features(self, x: Features) -> Tensor:
        """X without the identity: (num_nodes, num_features), with zeros for the features of other types."""
        blocks = {type: _dense(x[type], self.inputs.by_type[type]) for type in self.inputs.types}
        if len(blocks) == 1:
            return next(iter(blocks.values()))
        diagonal: Tensor = torch.block_diag(*blocks.values())  # type: ignore[no-untyped-call]
        rows = torch.split_with_sizes(diagonal, [len(block) for block in blocks.values()])
        by_type = dict(zip(blocks, rows, strict=True))
        return torch.cat([by_type[type] for type in x])

    def _feature_weights(self) -> Tensor:
        """The rows of W_1 for what _features has: (num_features, dim)."""
        return torch.cat([self.inputs.by_type[type] for type, _, kind in self.columns if kind != "identity"])

    def _table(self, x: Features, chance: float, generator: torch.Generator | None) -> Tensor:
        """X W_1 of the identity: (num_nodes, dim), with zeros for nodes that have features."""
        return torch.cat(
            [
                self.bias.new_zeros(len(block.dense), len(self.bias))
                if isinstance(block, GivenFeatures)
                else block.times(self.inputs.by_type[type], chance, generator)
                for type, block in x.items()
            ]
        )

    def loss(self, x: Features, adjacency: Neighbors, targets: Targets, generator: torch.Generator) -> Tensor:
        """The mean over draws of the loss at the known labels, plus lam times the distance of all predictions to their
        sharpened mean.
        """
        drawn = [self(x, adjacency, generator)[1] for _ in range(self.samples)]
        known = torch.stack([targets.loss(outputs) for outputs in drawn]).mean()
        p = torch.stack([probabilities(targets.task, outputs) for outputs in drawn])
        center = sharpened(targets.task, p.mean(0), 1 / self.temperature).detach()
        return known + self.lam * (p - center).square().sum(-1).mean()


def _dense(block: FeatureBlock, weight: Tensor) -> Tensor:
    """The features of one type, none of nodes that have a row of W_1 each."""
    return block.dense if isinstance(block, GivenFeatures) else weight.new_empty(len(weight), 0)


@dataclass
class GRAND(EarlyStoppedGNN):
    """embedding_ is the hidden layer. Types are not told apart, except that each has features of its own or none.
    Where all have some, transform and predict take other graphs too.

    Defaults: its authors' code for Cora. For Citeseer they have hops=2, samples=2, input_dropout=0, dropout=0.2,
    lam=0.7, temperature=0.3, and for Pubmed hops=5, input_dropout=0.6, dropout=0.8, temperature=0.2,
    learning_rate=0.2, patience=100, batch_norm=true.

    dim: the length of a vector.
    hops: steps along edges, K in the formula.
    samples: draws of M in a step.
    lam: weight of the distance to the sharpened mean.
    temperature: of the sharpening; lower is sharper.
    epochs: how long to train, at most.
    patience: epochs without the best held-out loss or score.
    learning_rate: Adam's.
    node_dropout: the chance that the features of a node are left out.
    input_dropout: the chance that an entry of the MLP's input is left out.
    dropout: of the hidden layer.
    batch_norm: whether layers are batch-normalized.
    weight_decay: of all weights.
    seed: a number of at least 0, a NumPy generator, or None for a new draw each time.
    device: "cpu", "cuda", or "auto", a GPU where there is one.
    threads: of the CPU; None: all cores.
    """

    name: ClassVar[str] = "grand"
    revision: ClassVar[int] = 2
    network_class: ClassVar[type[GraphNetwork]] = GRANDNetwork
    criterion: ClassVar[Criterion] = "loss"

    dim: Count = 32
    hops: NonNegativeInt = 8
    samples: Count = 4
    lam: NonNegative = 1.0
    temperature: FinitePositive = 0.5
    epochs: Count = 5000
    patience: Count = 200
    learning_rate: NonNegative = 0.01
    node_dropout: Chance = 0.5
    input_dropout: Chance = 0.5
    dropout: Chance = 0.5
    batch_norm: bool = False
    weight_decay: NonNegative = 5e-4
    seed: Seed = 0
    device: str = "auto"
    threads: Count | None = None

    def _network_settings(self) -> dict[str, Any]:
        names = ("dim", "hops", "node_dropout", "input_dropout", "dropout", "batch_norm")
        return {name: getattr(self, name) for name in (*names, "samples", "lam", "temperature")}

    def _fit_with(self, graph: Graph, labels: Labels | None, rng: np.random.Generator, options: FitOptions) -> Fitted:
        self._check_size(graph, self.samples)
        return super()._fit_with(graph, labels, rng, options)

    def _applied(self, graph: Graph) -> Fitted:
        self._check_size(graph, 1)
        return super()._applied(graph)

    def _check_size(self, graph: Graph, samples: int) -> None:
        """Refuse features that are too many to be propagated."""
        num_columns = sum(features.shape[1] for features in graph.features.values())
        needed = 4 * graph.num_nodes * num_columns * samples
        if needed > MAX_FEATURE_BYTES:
            raise InputError(
                f"grand propagates dense features, and {num_columns} columns for {graph.num_nodes} nodes need "
                f"{format_bytes(needed)}, more than {format_bytes(MAX_FEATURE_BYTES)}; give it fewer columns, for "
                "example by a truncated SVD" + (f", or lower samples={samples}" if samples > 1 else "")
            )
