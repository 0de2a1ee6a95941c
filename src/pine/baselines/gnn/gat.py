"""GAT: x_v' = elu(sum of a_vu W x_u), a_vu = softmax over u of leaky_relu(a . [W x_v, W x_u]), u: v and its neighbors
(Veličković et al., 2018), on PyTorch Geometric's layers.

Several such heads stand side by side in the hidden layer; a last one, or the mean of several, gives the classes. Where
nodes have no features, x is the identity matrix and W a table with a row for each node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from pine._internal.settings import Chance, Count, NonNegative
from pine.baselines.gnn.inputs import Features, InputColumns
from pine.baselines.gnn.method import EarlyStoppedGNN
from pine.baselines.gnn.network import GraphNetwork
from pine.embedder import Seed
from pine.errors import InputError
from pine.graph import Graph
from pine.nn.functional import dropout
from pine.nn.training import Criterion

# PyTorch Geometric is optional, and slow to import: it is imported where a network is made.


class GATLayer(nn.Module):
    """Heads of attention side by side, plus a bias: the weights of PyG's layer, with dropout of the attention from a
    generator of ours. PyG's own draws from the global one.
    """

    def __init__(self, width: int, head_width: int, heads: int, dropout: float) -> None:
        from torch_geometric.nn import GATConv

        super().__init__()
        layer = GATConv(width, head_width, heads)
        self.lin, self.att_src, self.att_dst, self.bias = layer.lin, layer.att_src, layer.att_dst, layer.bias
        self.heads, self.dropout = heads, dropout

    def forward(self, x: Tensor, edges: Tensor, generator: torch.Generator | None) -> Tensor:
        """x (num_nodes, width), edges (2, num_edges) from source to target, to (num_nodes, heads * head_width)."""
        from torch_geometric.utils import scatter, softmax

        source, target = edges
        w = self.lin(x).view(len(x), self.heads, -1)
        as_source, as_target = (w * self.att_src).sum(-1), (w * self.att_dst).sum(-1)
        logits = functional.leaky_relu(as_source.index_select(0, source) + as_target.index_select(0, target), 0.2)
        attention = softmax(logits, target, num_nodes=len(x))
        if generator is not None:
            attention = dropout(attention, self.dropout, generator)
        messages = attention[..., None] * w.index_select(0, source)
        outputs: Tensor = scatter(messages, target, dim_size=len(x), reduce="sum").flatten(1) + self.bias
        return outputs


class GATNetwork(GraphNetwork):
    """Heads of attention side by side, elu, and the mean of heads of attention for the outputs."""

    def __init__(
        self,
        columns: Sequence[InputColumns],
        dim: int,
        heads: int,
        num_outputs: int,
        dropout: float,
        output_heads: int = 1,
    ) -> None:
        settings = {"heads": heads, "num_outputs": num_outputs, "dropout": dropout, "output_heads": output_heads}
        super().__init__(columns, dim, dim=dim, **settings)
        self.dropout, self.output_heads = dropout, output_heads
        self.hidden = GATLayer(dim, dim // heads, heads, dropout)
        self.hidden.lin = nn.Identity()  # it is given X W
        self.output = GATLayer(dim, num_outputs, output_heads, dropout)

    @staticmethod
    def adjacency(graph: Graph, device: torch.device, threads: int | None) -> Tensor:
        return edges_with_loops(graph).to(device)

    def forward(
        self, x: Features, adjacency: Tensor, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        chance = self.dropout if generator is not None else 0.0
        hidden = functional.elu(self.hidden(self.inputs(x, chance, generator), adjacency, generator))
        outputs = self.output(dropout(hidden, chance, generator), adjacency, generator)
        return hidden, outputs.view(len(outputs), self.output_heads, -1).mean(1)


def edges_with_loops(graph: Graph) -> Tensor:
    """(source, target): neighbors both ways, each once, and every node with itself: (2, num_edges)."""
    others, own = graph.links().distinct(drop_loops=True), np.arange(graph.num_nodes)
    pairs = np.stack([np.append(others.indices, own), np.append(others.rows(), own)])
    return torch.tensor(pairs.astype(np.int64))


@dataclass
class GAT(EarlyStoppedGNN):
    """embedding_ is the hidden layer. Types are not told apart, except that each has features of its own or none;
    weights of edges are not looked at, and edges go both ways. Where all types have features, transform and predict
    take other graphs too.

    Defaults: its authors' code for Cora and Citeseer, which is the PINE paper's setting too; for Pubmed they have
    output_heads=8, learning_rate=0.01, weight_decay=0.001. That code stops early on validation labels (see
    EarlyStoppedGNN). Dropout is the paper's, on what enters a layer and on attention; the authors' code also drops W x,
    and gives each head a mask of its own.

    The same seed and number of threads give the same bits on a CPU; a GPU sums in an order of its own.

    dim: the length of a vector, of all heads together.
    heads: of attention in the hidden layer.
    output_heads: of attention in the output.
    epochs: how long to train, at most.
    patience: epochs without the best held-out loss or score.
    learning_rate: Adam's.
    dropout: the chance that a unit is left out, in training.
    weight_decay: of everything that is learned.
    seed: a number of at least 0, a NumPy generator, or None for a new draw each time.
    device: "cpu", "cuda", or "auto", a GPU where there is one.
    threads: of the CPU; None: all cores.
    """

    name: ClassVar[str] = "gat"
    revision: ClassVar[int] = 1
    needs_pyg: ClassVar[bool] = True
    network_class: ClassVar[type[GraphNetwork]] = GATNetwork
    criterion: ClassVar[Criterion] = "both"

    dim: Count = 64
    heads: Count = 8
    output_heads: Count = 1
    epochs: Count = 1000
    patience: Count = 100
    learning_rate: NonNegative = 0.005
    dropout: Chance = 0.6
    weight_decay: NonNegative = 5e-4
    seed: Seed = 0
    device: str = "auto"
    threads: Count | None = None

    def _network_settings(self) -> dict[str, Any]:
        if self.dim % self.heads:
            raise InputError(f"dim must be a multiple of heads, got {self.dim} and {self.heads}")
        return {name: getattr(self, name) for name in ("dim", "heads", "output_heads", "dropout")}
