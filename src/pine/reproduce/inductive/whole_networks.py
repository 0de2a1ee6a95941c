"""Three layers on all neighbors: attention, PINE, or both, in GAT's setting; and GraphSAGE in the same place.

gat             x' = sum over u of a_vu W x_u                      heads side by side, averaged in the last layer
pine            x' = h(sum over u of W g(x_u)) + R x_v             PINEConv in its place
pine-attention  x' = h(sum over u of a_vu W g(x_u)) + R x_v        each head weights its share of the L columns
gat+pine        the sum of the first two

u is v or a neighbor of it; a_vu is a softmax over u of leaky_relu(a . [y_v, y_u]), where y is what is summed.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from pine.nn.pyg_layers import PINEAggregation, PINEConv
from pine.reproduce.inductive.attention import SparseGATConv
from pine.reproduce.inductive.graphs import Graphs, collate
from pine.reproduce.inductive.graphsage import SAGELayer
from pine.reproduce.inductive.settings import WholeSettings
from pine.reproduce.inductive.training import Batches, InductiveNetwork


class WholeNetwork(InductiveNetwork):
    """Scores (n, num_outputs) of all nodes of a graph."""

    def __init__(self, setting: WholeSettings) -> None:
        super().__init__()
        self.setting = setting

    def outputs(self, graphs: Graphs, generator: torch.Generator, shuffled: bool = False) -> Batches:
        """Scores and labels of all targets, a batch of graphs at a time."""
        count = len(graphs.separate)
        order = list(range(count))
        if shuffled:
            order = torch.randperm(count, generator=generator, device=generator.device).tolist()
        for at in range(0, count, self.setting.batch):
            some = collate([graphs.separate[number] for number in order[at : at + self.setting.batch]])
            yield self(some.x, some.edges)[some.targets], some.labels


class WholeGraphGAT(WholeNetwork):
    """Three layers, elu after the first two, and a linear skip connection across the second, as in GAT's code."""

    def __init__(self, num_features: int, num_outputs: int, setting: WholeSettings) -> None:
        super().__init__(setting)
        wide = setting.heads * setting.width
        self.first = SummedLayers(num_features, wide, setting)
        self.second = SummedLayers(wide, wide, setting)
        self.skip = nn.Linear(wide, wide)
        self.third = SummedLayers(wide, num_outputs, setting, last=True)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        loops = torch.arange(len(x), device=x.device)
        edges = torch.cat([edges, torch.stack([loops, loops])], dim=1)
        x = functional.elu(self.first(x, edges))
        x = functional.elu(self.second(x, edges) + self.skip(x))
        scores: Tensor = self.third(x, edges)
        return scores


class SummedLayers(nn.Module):
    """The sum of one layer of each sort that the setting names."""

    def __init__(self, inputs: int, outputs: int, setting: WholeSettings, last: bool = False) -> None:
        super().__init__()
        made: list[nn.Module] = []
        heads = setting.last_heads if last else setting.heads
        if setting.layer in ("gat", "gat+pine"):
            width = outputs if last else outputs // heads
            made.append(SparseGATConv(inputs, width, heads, concat=not last, add_self_loops=False))
        sizes = (setting.hidden, setting.projections, setting.scales)
        if setting.layer in ("pine", "gat+pine"):
            made.append(PINEConv(inputs, outputs, 1, setting.root, *sizes))
        if setting.layer == "pine-attention":
            made.append(PINEAttention(inputs, outputs, heads, setting.root, *sizes))
        self.layers = nn.ModuleList(made)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        return torch.stack([layer(x, edges) for layer in self.layers]).sum(0)


class PINEAttention(nn.Module):
    """PINE's function with the coefficients of GATConv in the sum: W g(x) takes the place of GATConv's W x."""

    def __init__(
        self, inputs: int, outputs: int, heads: int, root: bool, hidden: int, projections: int, scales: int
    ) -> None:
        super().__init__()
        self.f = PINEAggregation(inputs, outputs, hidden, projections, scales).f
        self.attention = SparseGATConv(hidden, hidden // heads, heads, add_self_loops=False, bias=False)
        self.attention.lin = nn.Identity()  # it is given W g(x)
        self.root = nn.Linear(inputs, outputs, bias=False) if root else None

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        (messages,) = self.f.messages([x])
        out = self.f.finished(self.attention(messages, edges))
        return out if self.root is None else out + self.root(x)


class WholeGraphSAGE(WholeNetwork):
    """Layers of 512, 512 and 726 (6 x 121) columns, in the widths of the others; relu, unit length, a linear map."""

    def __init__(self, num_features: int, num_outputs: int, setting: WholeSettings) -> None:
        super().__init__(setting)
        wide, last = 2 * setting.width, setting.last_heads * num_outputs
        self.first = SAGELayer(num_features, wide, setting)
        self.second = SAGELayer(wide, wide, setting)
        self.third = SAGELayer(wide, last, setting)
        self.output = nn.Linear(last, num_outputs)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        x = self.first.over_edges(x, edges).relu()
        x = self.second.over_edges(x, edges).relu()
        scores: Tensor = self.output(functional.normalize(self.third.over_edges(x, edges)))
        return scores
