"""B networks of one class and settings as one: an axis of replicas beside the nodes, weights of their own.

Sums over neighbors take the replicas as columns, (num_nodes, B * dim), and read the graph once for all of them;
attention takes them as heads. The networks of gcn.py, gat.py and rgcn.py are the reference.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from pine.baselines.gnn.gat import GAT
from pine.baselines.gnn.gcn import GCN
from pine.baselines.gnn.inputs import DenseFeatures, FeatureBlock, Features, IdentityFeatures
from pine.baselines.gnn.method import GNN
from pine.baselines.gnn.network import GraphNetwork
from pine.baselines.gnn.rgcn import RGCN, Adjacency
from pine.nn import Neighbors, neighbor_sum
from pine.nn.functional import dropout


class ReplicaNetwork(ABC):
    """weights: of all replicas, by the names that they have in one network.

    Inputs have shape (width, B, dim): the columns of a sum over neighbors need no copy. Weights of outputs have shape
    (B, heads, num_outputs, width or 1), all others (B, ...).
    """

    output_prefixes: ClassVar[tuple[str, ...]] = ("output.",)  # of names of weights with a row for each output

    def __init__(self, settings: Mapping[str, Any], weights: dict[str, Tensor]) -> None:
        self.settings, self.weights = settings, weights
        self.dropout: float = settings["dropout"]

    @classmethod
    def stacked(
        cls,
        networks: Iterable[tuple[GraphNetwork, NDArray[np.int64]]],
        count: int,
        num_outputs: int,
        device: torch.device,
    ) -> ReplicaNetwork:
        """So many networks, each with the numbers of the outputs that it has; weights of all others are 0."""
        weights: dict[str, Tensor] = {}
        settings: Mapping[str, Any] = {}
        for i, (network, outputs) in enumerate(networks):
            settings = network.settings
            for name, each in network.named_parameters():
                own = cls._wide(name, each.detach(), outputs, num_outputs, settings)
                if name not in weights:
                    shape = list(own.shape)
                    shape.insert(replica_axis(name), count)
                    weights[name] = torch.zeros(shape, device=device)
                weights[name].select(replica_axis(name), i).copy_(own)
        return cls(settings, {name: each.requires_grad_() for name, each in weights.items()})

    @classmethod
    def _wide(
        cls, name: str, weight: Tensor, outputs: NDArray[np.int64], num_outputs: int, settings: Mapping[str, Any]
    ) -> Tensor:
        """A weight of one network, with zeros for the outputs that it lacks: (heads, num_outputs, width or 1)."""
        if not name.startswith(cls.output_prefixes) or name.endswith("coefficients"):
            return weight
        own = weight.reshape(settings.get("output_heads", 1), len(outputs), -1)
        wide = own.new_zeros(own.shape[0], num_outputs, own.shape[2])
        wide[:, torch.from_numpy(outputs)] = own
        return wide

    def some(self, which: Tensor) -> ReplicaNetwork:
        """Some of the replicas, with weights of their own."""
        kept = {
            name: each.detach().index_select(replica_axis(name), which).requires_grad_()
            for name, each in self.weights.items()
        }
        return type(self)(self.settings, kept)

    @classmethod
    @abstractmethod
    def floats(cls, settings: Mapping[str, Any], columns: int, num_outputs: int, sizes: tuple[int, int]) -> int:
        """Numbers of the largest array of one replica; columns: of given features. sizes: of nodes and edges."""

    @abstractmethod
    def outputs(self, x: Features, adjacency: Any, generator: torch.Generator | None = None) -> Tensor:
        """(num_nodes, B, num_outputs); with dropout where there is a generator, from which all replicas draw."""

    def _inputs(self, x: Features, prefix: str, chance: float, generator: torch.Generator | None) -> Tensor:
        """X W: (num_nodes, B, dim)."""
        made = [
            times(block, self.weights[f"{prefix}.weights.{i}"], chance, generator) for i, block in enumerate(x.values())
        ]
        return made[0] if len(made) == 1 else torch.cat(made)


def replica_axis(name: str) -> int:
    """Which axis of a weight is that of the replicas."""
    return 1 if name.startswith("inputs") else 0


def times(block: FeatureBlock, weight: Tensor, chance: float, generator: torch.Generator | None) -> Tensor:
    """Features of nodes, the same for all replicas, times weights (width, B, dim), with dropout of each one's own."""
    dropping = chance > 0 and generator is not None
    if isinstance(block, IdentityFeatures):
        return block.times(weight, chance, generator if dropping else None)
    assert isinstance(block, DenseFeatures)
    if not dropping:
        return (block.features @ weight.flatten(1)).view(-1, *weight.shape[1:])
    wide = block.features[:, None].expand(-1, weight.shape[1], -1)
    return _by_replica(dropout(wide, chance, generator), weight.transpose(0, 1))


def _by_replica(x: Tensor, weight: Tensor) -> Tensor:
    """Each replica's rows (num_nodes, B, width) times its matrix (B, width, any): (num_nodes, B, any)."""
    return torch.bmm(x.transpose(0, 1), weight).transpose(0, 1)


def _neighbor_sums(x: Tensor, adjacency: Neighbors) -> Tensor:
    """The sum over neighbors of (num_nodes, B, width), in the same shape."""
    return neighbor_sum(x.flatten(1), adjacency).view(len(x), *x.shape[1:])


class GCNReplicas(ReplicaNetwork):
    """Z = S relu(S X W_1 + b_1) W_2 + b_2."""

    @classmethod
    def floats(cls, settings: Mapping[str, Any], columns: int, num_outputs: int, sizes: tuple[int, int]) -> int:
        return int(sizes[0] * max(settings["dim"], columns, num_outputs))

    def outputs(self, x: Features, adjacency: Neighbors, generator: torch.Generator | None = None) -> Tensor:
        chance = self.dropout if generator is not None else 0.0
        w = self.weights
        hidden = (_neighbor_sums(self._inputs(x, "inputs", chance, generator), adjacency) + w["hidden.bias"]).relu()
        rows = _by_replica(dropout(hidden, chance, generator), w["output.lin.weight"][:, 0].mT)
        return _neighbor_sums(rows, adjacency) + w["output.bias"][:, 0, :, 0]


class GATReplicas(ReplicaNetwork):
    """Two layers of attention, with elu between them."""

    @classmethod
    def floats(cls, settings: Mapping[str, Any], columns: int, num_outputs: int, sizes: tuple[int, int]) -> int:
        num_nodes, num_edges = sizes
        widest = max(settings["dim"], settings["output_heads"] * num_outputs)
        return int(max(num_edges * widest, num_nodes * columns))

    def outputs(self, x: Features, adjacency: Tensor, generator: torch.Generator | None = None) -> Tensor:
        chance = self.dropout if generator is not None else 0.0
        w, heads = self.weights, self.settings["heads"]
        rows = self._inputs(x, "inputs", chance, generator)
        of_heads = rows.view(*rows.shape[:2], heads, -1)
        vectors = (w["hidden.att_src"][:, 0], w["hidden.att_dst"][:, 0])
        before = attended(of_heads, *vectors, adjacency, chance, generator).flatten(2)
        hidden = functional.elu(before + w["hidden.bias"])
        weight = w["output.lin.weight"]  # (B, heads, num_outputs, dim)
        rows = _by_replica(dropout(hidden, chance, generator), weight.flatten(1, 2).mT)
        of_heads = rows.reshape(*rows.shape[:2], *weight.shape[1:3])
        vectors = (w["output.att_src"][..., 0], w["output.att_dst"][..., 0])
        return (attended(of_heads, *vectors, adjacency, chance, generator) + w["output.bias"][..., 0]).mean(2)


def attended(
    w: Tensor, att_src: Tensor, att_dst: Tensor, edges: Tensor, chance: float, generator: torch.Generator | None
) -> Tensor:
    """Heads of attention of all replicas over edges (2, num_edges): (num_nodes, B, heads, width) to the same.

    att_src, att_dst: (B, heads, width).
    """
    from torch_geometric.utils import softmax

    source, target = edges
    as_source, as_target = (w * att_src).sum(-1), (w * att_dst).sum(-1)
    logits = functional.leaky_relu(as_source.index_select(0, source) + as_target.index_select(0, target), 0.2)
    attention = dropout(softmax(logits, target, num_nodes=len(w)), chance, generator)
    messages = attention[..., None] * w.index_select(0, source)
    return torch.zeros_like(w).index_add(0, target, messages)


class RGCNReplicas(ReplicaNetwork):
    """Own rows and the sum over relations of means over neighbors, twice, with relu between them."""

    output_prefixes: ClassVar[tuple[str, ...]] = ("root.", "outputs_by_basis.")

    @classmethod
    def floats(cls, settings: Mapping[str, Any], columns: int, num_outputs: int, sizes: tuple[int, int]) -> int:
        tables = 1 + (settings["bases"] or len(settings["relations"]))
        return int(tables * sizes[0] * max(settings["dim"], columns, num_outputs))

    def outputs(self, x: Features, adjacency: Adjacency, generator: torch.Generator | None = None) -> Tensor:
        chance = self.dropout if generator is not None else 0.0
        w, bases = self.weights, range(self.settings["bases"] or len(self.settings["relations"]))
        own = self._inputs(x, "inputs", chance, generator) + w["bias"]
        rows = [self._inputs(x, f"inputs_by_basis.{j}", chance, generator) for j in bases]
        kept = dropout(self._with_means("hidden", own, rows, adjacency).relu(), chance, generator)
        own = _by_replica(kept, w["root.weight"][:, 0].mT) + w["root.bias"][:, 0, :, 0]
        rows = [_by_replica(kept, w[f"outputs_by_basis.{j}.weight"][:, 0].mT) for j in bases]
        return self._with_means("output", own, rows, adjacency)

    def _with_means(self, layer: str, own: Tensor, rows: Sequence[Tensor], adjacency: Adjacency) -> Tensor:
        coefficients = self.weights.get(f"{layer}.coefficients")  # (B, relations, bases)
        for number, relation in enumerate(self.settings["relations"]):
            if coefficients is None:
                mixed = rows[number]
            else:
                shares = coefficients[:, number, :, None].unbind(1)  # (B, 1) of each basis
                mixed = torch.stack([each * share for each, share in zip(rows, shares, strict=True)]).sum(0)
            own = own + _neighbor_sums(mixed, adjacency[relation])
        return own


REPLICA_NETWORKS: dict[type[GNN], type[ReplicaNetwork]] = {GCN: GCNReplicas, GAT: GATReplicas, RGCN: RGCNReplicas}
