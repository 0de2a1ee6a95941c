"""The network of GAT and its training, on torch and PyTorch Geometric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import GATConv

from pine.baselines.gnn.inputs import Attributes, attributes_of, columns_of
from pine.baselines.gnn.network import BaseNetwork
from pine.baselines.gnn.neural import Goal
from pine.baselines.gnn.trained_network import Columns
from pine.baselines.gnn.training import Forward, fitted, step
from pine.embedder import Fitted
from pine.graph import Graph
from pine.labels import Labels
from pine.metrics import held_out_score
from pine.nn.functional import dropout
from pine.nn.training import EarlyStopping, device_of, seed_torch

if TYPE_CHECKING:
    from pine.baselines.gnn.gat import GAT

HELD_OUT = 0.2  # of the known labels
# Fewer labels cannot spare any; training then takes as many epochs as GCN's authors have.
FEWEST, FIXED_EPOCHS = 10, 200


def learn(model: GAT, graph: Graph, labels: Labels, rng: np.random.Generator) -> tuple[Fitted, Network]:
    """Find the number of epochs on held-out labels, then train anew on all of them."""
    goal = Goal.of(graph, labels, device_of(model.device))
    seen = Seen.of(graph, goal.positions.device)
    if len(labels.known) < FEWEST:
        epochs = min(FIXED_EPOCHS, model.epochs)
    else:
        epochs = number_of_epochs(model, seen, labels, goal, rng)
    training = Training(model, seen, goal, rng)
    for _ in range(epochs):
        training.step()
    return fitted(training.forward, goal), training.network


class Seen(NamedTuple):
    """What a training sees of a graph."""

    columns: Sequence[Columns]
    x: Attributes
    edges: Tensor

    @classmethod
    def of(cls, graph: Graph, device: torch.device) -> Seen:
        columns = columns_of(graph)
        return cls(columns, attributes_of(graph, columns, device), with_loops(graph).to(device))


def number_of_epochs(model: GAT, seen: Seen, labels: Labels, goal: Goal, rng: np.random.Generator) -> int:
    """How long to train: until patience with a part of the labels ends."""
    held = rng.permutation(len(labels.known)) < HELD_OUT * len(labels.known)
    shown, hidden = part(goal, ~held), part(goal, held)
    training, patience = Training(model, seen, shown, rng), EarlyStopping(model.patience)
    for epoch in range(1, model.epochs + 1):
        training.step()
        with torch.no_grad():
            outputs = training.forward(None)[1]
        score = held_out_score(labels, held, goal.scores(outputs)[labels.known])
        if patience.ends(epoch, float(hidden.loss(outputs)), score):
            break
    return patience.best_epoch


def part(goal: Goal, kept: NDArray[np.bool_]) -> Goal:
    """Some of the known labels; numbers keep the center and scale of all."""
    mask = torch.tensor(kept, device=goal.positions.device)
    return replace(goal, positions=goal.positions[mask], values=goal.values[mask])


class Training:
    """A network with its optimizer, from a fresh start."""

    def __init__(self, model: GAT, seen: Seen, goal: Goal, rng: np.random.Generator) -> None:
        device = seen.edges.device
        self.generator, self.goal = seed_torch(rng, device), goal
        self.network = Network(seen.columns, model.dim, model.heads, goal.num_outputs, model.dropout).to(device)
        self.forward: Forward = partial(self.network, seen.x, seen.edges)
        rate, decay = model.learning_rate, model.weight_decay
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=rate, weight_decay=decay, fused=True)

    def step(self) -> None:
        step(self.forward, self.goal, self.optimizer, self.generator)


class Network(BaseNetwork):
    """Heads of attention side by side, elu, and one head of attention for the outputs."""

    def __init__(self, columns: Sequence[Columns], dim: int, heads: int, num_outputs: int, dropout: float) -> None:
        super().__init__(columns, dim, heads=heads, num_outputs=num_outputs, dropout=dropout)
        self.dropout = dropout
        self.hidden = Layer(dim, dim // heads, heads, dropout)
        self.hidden.lin = nn.Identity()  # it is given X W
        self.output = Layer(dim, num_outputs, 1, dropout)

    @staticmethod
    def links(graph: Graph, device: torch.device, threads: int | None) -> Tensor:
        return with_loops(graph).to(device)

    def forward(self, x: Attributes, links: Tensor, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        share = self.dropout if generator is not None else 0.0
        hidden = functional.elu(self.hidden(self.inputs(x, share, generator), links, generator))
        return hidden, self.output(dropout(hidden, share, generator), links, generator)


class Layer(GATConv):  # type: ignore[misc]
    """PyG's layer, whose attention is dropped by a generator of ours: PyG's own dropout draws from the global one."""

    def __init__(self, width: int, num_outputs: int, heads: int, dropout: float) -> None:
        super().__init__(width, num_outputs, heads, add_self_loops=False)
        self.share = dropout
        self.generator: torch.Generator | None = None

    def forward(self, x: Tensor, edges: Tensor, generator: torch.Generator | None) -> Tensor:
        self.generator = generator
        outputs: Tensor = super().forward(x, edges)
        return outputs

    def message(self, x_j: Tensor, alpha: Tensor) -> Tensor:
        kept = alpha if self.generator is None else dropout(alpha, self.share, self.generator)
        return kept[..., None] * x_j


def with_loops(graph: Graph) -> Tensor:
    """Who speaks to whom, by its number: neighbors both ways, each once, and every node to itself: (2, num_pairs)."""
    others, own = graph.links().distinct(drop_loops=True), np.arange(graph.num_nodes)
    pairs = np.stack([np.append(others.indices, own), np.append(others.rows(), own)])
    return torch.tensor(pairs.astype(np.int64))
