"""GAE: Z = S relu(S X W_1) W_2 with S = D^-1/2 (A + I) D^-1/2, so that sigma(z_u . z_v) tells links from other pairs.

The graph autoencoder of Kipf and Welling (2016), "Variational Graph Auto-Encoders", not variational. Their loss weighs
all links as much as all other pairs. Here every step draws as many pairs as there are links: the same in expectation,
at a cost that is linear in edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from pine._internal.settings import Count, NonNegative
from pine.baselines.gnn.inputs import Features, InputColumns, InputLayer, columns_of, features_of
from pine.embedder import Embedder, Fitted, Seed
from pine.errors import InputError
from pine.graph import Graph
from pine.labels import Labels
from pine.nn import Neighbors, neighbor_sum
from pine.nn.training import device_of, seed_torch, torch_left_alone, torch_threads
from pine.propagation import looped_adjacency


class GAEEncoder(nn.Module):
    """Two layers without a bias, as in its authors' code."""

    def __init__(self, columns: list[InputColumns], hidden: int, dim: int) -> None:
        super().__init__()
        self.inputs = InputLayer(columns, hidden)
        self.output = nn.Parameter(nn.init.xavier_uniform_(torch.empty(hidden, dim)))

    def forward(self, x: Features, adjacency: Neighbors) -> Tensor:
        hidden = neighbor_sum(self.inputs(x, 0.0, None), adjacency).relu()
        return neighbor_sum(hidden @ self.output, adjacency)


@dataclass
class GAE(Embedder):
    """The dot product of two vectors says how likely a link is. Node types are told apart by their features alone.

    Defaults: its authors' code.

    dim: the length of a vector.
    hidden: the width of the first layer.
    epochs: how long to train.
    learning_rate: Adam's.
    seed: a number of at least 0, a NumPy generator, or None for a new draw each time.
    device: "cpu", "cuda", or "auto", a GPU where there is one.
    threads: of the CPU; None: all cores.
    """

    name: ClassVar[str] = "gae"
    revision: ClassVar[int] = 1
    supervised: ClassVar[bool] = False

    dim: Count = 16
    hidden: Count = 32
    epochs: Count = 200
    learning_rate: NonNegative = 0.01
    seed: Seed = 0
    device: str = "auto"
    threads: Count | None = None

    def _fit(self, graph: Graph, labels: Labels | None, rng: np.random.Generator) -> Fitted:
        with torch_left_alone(None), torch_threads(self.threads):
            device = device_of(self.device)
            generator = seed_torch(rng, device)
            columns = columns_of(graph)
            x, encoder = features_of(graph, columns, device), GAEEncoder(columns, self.hidden, self.dim).to(device)
            looped = looped_adjacency(graph)
            adjacency = Neighbors.of(looped, "sum", device, threads=self.threads)
            # A + I, as in the authors' code: a node is a neighbor of itself.
            links = torch.tensor(np.stack([looped.rows(), looped.indices]), dtype=torch.int64, device=device)
            optimizer = torch.optim.Adam(encoder.parameters(), lr=self.learning_rate)
            for _ in range(self.epochs):
                others = torch.randint(graph.num_nodes, links.shape, generator=generator, device=device)
                optimizer.zero_grad()
                z = encoder(x, adjacency)
                loss = functional.softplus(-_dots(z, links)).mean() + functional.softplus(_dots(z, others)).mean()
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
            with torch.no_grad():
                vectors = encoder(x, adjacency).cpu().numpy()
        if not np.isfinite(vectors).all():
            raise InputError("training diverged; lower learning_rate, or scale the features down")
        return Fitted(vectors)


def _dots(z: Tensor, pairs: Tensor) -> Tensor:
    return (z.index_select(0, pairs[0]) * z.index_select(0, pairs[1])).sum(dim=1)
