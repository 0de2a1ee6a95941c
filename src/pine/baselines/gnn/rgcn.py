"""R-GCN: x_v' = relu(W_0 x_v + b + sum over relations r of the mean of W_r x_u over the r-neighbors u of v), twice
(Schlichtkrull et al., 2018).

A relation counts once for each of its directions. W_r is a matrix for each relation, or, with fewer bases than
relations, a sum of V_1, ..., V_B with weights of its own. Where nodes have no features, x is the identity matrix, and
W_0, W_r and V_b of the first layer are tables with a row for each node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from pine._internal.settings import Chance, Count, NonNegative
from pine.baselines.gnn.inputs import Features, InputColumns, InputLayer
from pine.baselines.gnn.method import GNN
from pine.baselines.gnn.network import GraphNetwork
from pine.baselines.gnn.training import LabeledGraph
from pine.embedder import Fitted, Seed
from pine.errors import InputError, listed
from pine.graph import Graph
from pine.graph.groups import NeighborGroup
from pine.nn import Neighbors, neighbor_sum
from pine.nn.functional import dropout

Adjacency = Mapping[str, Neighbors]  # of each relation and direction, by name


def relation_groups(graph: Graph) -> tuple[NeighborGroup, ...]:
    """The neighbors of every node by relation and direction."""
    return graph.groups("relation", "split" if graph.directed else None)


class RelationMeans(nn.Module):
    """The sum over relations of the mean of W_r x_u over neighbors u."""

    def __init__(self, relations: Sequence[str], bases: int | None) -> None:
        super().__init__()
        self.relations = list(relations)
        self.num_bases = len(self.relations) if bases is None else bases
        if bases is not None:
            self.coefficients = nn.Parameter(nn.init.xavier_uniform_(torch.empty(len(self.relations), bases)))
        self.decomposed = bases is not None

    def forward(self, own: Tensor, rows: Sequence[Tensor], adjacency: Adjacency) -> Tensor:
        """Add it to own (num_nodes, width); rows: X V_b of each basis, or X W_r of each relation, of that shape."""
        for number, relation in enumerate(self.relations):
            if relation in adjacency:
                own = own + neighbor_sum(self._of(number, rows), adjacency[relation])
        return own

    def _of(self, relation: int, rows: Sequence[Tensor]) -> Tensor:
        if not self.decomposed:
            return rows[relation]
        total = rows[0] * self.coefficients[relation, 0]
        for basis in range(1, self.num_bases):
            total = total + rows[basis] * self.coefficients[relation, basis]
        return total


class RGCNNetwork(GraphNetwork):
    """hidden and outputs as above, outputs without relu; with dropout on X and on hidden while training."""

    def __init__(
        self,
        columns: Sequence[InputColumns],
        dim: int,
        num_outputs: int,
        dropout: float,
        relations: Sequence[str],
        bases: int | None = None,
    ) -> None:
        settings = {"num_outputs": num_outputs, "dropout": dropout, "relations": list(relations), "bases": bases}
        super().__init__(columns, dim, dim=dim, **settings)
        self.dropout = dropout
        self.hidden, self.output = (RelationMeans(relations, bases) for _ in range(2))
        self.inputs_by_basis = nn.ModuleList(InputLayer(columns, dim) for _ in range(self.hidden.num_bases))
        self.bias = nn.Parameter(torch.zeros(dim))
        self.root = nn.Linear(dim, num_outputs)
        by_basis = [nn.Linear(dim, num_outputs, bias=False) for _ in range(self.output.num_bases)]
        for layer in (self.root, *by_basis):
            nn.init.xavier_uniform_(layer.weight)
        nn.init.zeros_(self.root.bias)
        self.outputs_by_basis = nn.ModuleList(by_basis)

    @staticmethod
    def adjacency(graph: Graph, device: torch.device, threads: int | None) -> Adjacency:
        return {
            group.name: Neighbors.of(group.matrix, "mean", device, threads=threads) for group in relation_groups(graph)
        }

    def forward(
        self, x: Features, adjacency: Adjacency, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        chance = self.dropout if generator is not None else 0.0
        own = self.inputs(x, chance, generator) + self.bias
        hidden = self.hidden(own, [each(x, chance, generator) for each in self.inputs_by_basis], adjacency).relu()
        kept = dropout(hidden, chance, generator)
        return hidden, self.output(self.root(kept), [each(kept) for each in self.outputs_by_basis], adjacency)


@dataclass
class RGCN(GNN):
    """embedding_ is the hidden layer. Means over neighbors go by the weights of edges. Where all types have features,
    transform and predict take other graphs too.

    Defaults: its authors' code for AIFB, with 64 dimensions as the other networks have, in place of 16, and with W_0
    outside of the bases, as in their paper. For larger graphs they have weight_decay=0.0005 and 30 or 40 bases.

    dim: the length of a vector.
    bases: of which the matrices of relations are mixed; None: a matrix of its own for each relation and direction.
    epochs: how long to train.
    learning_rate: Adam's.
    dropout: the chance that a unit is left out, in training.
    weight_decay: of the first layer alone.
    seed: a number of at least 0, a NumPy generator, or None for a new draw each time.
    device: "cpu", "cuda", or "auto", a GPU where there is one.
    threads: of the CPU; None: all cores.
    """

    name: ClassVar[str] = "rgcn"
    revision: ClassVar[int] = 1
    network_class: ClassVar[type[GraphNetwork]] = RGCNNetwork

    dim: Count = 64
    bases: Count | None = None
    epochs: Count = 50
    learning_rate: NonNegative = 0.01
    dropout: Chance = 0.0
    weight_decay: NonNegative = 0.0
    seed: Seed = 0
    device: str = "auto"
    threads: Count | None = None

    def _network_settings(self) -> dict[str, Any]:
        return {"dim": self.dim, "dropout": self.dropout, "bases": self.bases}

    def _network(self, data: LabeledGraph, num_outputs: int) -> GraphNetwork:
        relations = list(data.adjacency)
        return RGCNNetwork(data.columns, num_outputs=num_outputs, relations=relations, **self._network_settings())

    def _parameter_groups(self, network: GraphNetwork) -> list[dict[str, Any]]:
        return self._grouped(network, "inputs")

    def _applied(self, graph: Graph) -> Fitted:
        if self.trained_ is not None:
            known = self.trained_.settings["relations"]
            unknown = [group.name for group in relation_groups(graph) if group.name not in known]
            if unknown:
                raise InputError(f"there are no weights for relation {unknown[0]!r}; those trained are {listed(known)}")
        return super()._applied(graph)
